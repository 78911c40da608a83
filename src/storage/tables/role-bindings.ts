import { defineEntity } from '@mikro-orm/core';
import type { Binding } from '../../domain/permissions.ts';
import { id, instant, json, word } from './kinds.ts';

/** The grants of members. */
export const RoleBinding = defineEntity({
  name: 'RoleBinding',
  tableName: 'role_bindings',
  properties: {
    organizationId: id().primary(),
    userId: id().primary(),
    id: id().primary(),
    role: word<Binding['role']>(),
    scopeType: word<Binding['scopeType']>(),
    scopeId: id(),
    permissionsJson: json('permissions'),
    createdAtMs: instant('created_at'),
  },
});
