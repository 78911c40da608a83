import { defineEntity } from '@mikro-orm/core';
import type { Binding } from '../../domain/permissions.ts';
import { id, json, whole, word } from './kinds.ts';

/** The grants of keys. */
export const ApiKeyBinding = defineEntity({
  name: 'ApiKeyBinding',
  tableName: 'api_key_bindings',
  properties: {
    apiKeyId: id().primary(),
    // The order in which the grants were given.
    position: whole().primary(),
    id: id(),
    role: word<Binding['role']>(),
    scopeType: word<Binding['scopeType']>(),
    scopeId: id(),
    permissionsJson: json('permissions'),
  },
});
