import { defineEntity } from '@mikro-orm/core';
import type { VirtualKeyConfig, VirtualKeyStatus } from '../../domain/virtual-keys/virtual-key.ts';
import { bigInteger, bytes, enumText, id, instant, json, parsed, text, times } from './kinds.ts';

export const VirtualKeyRow = defineEntity({
  name: 'VirtualKey',
  tableName: 'virtual_keys',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    name: text(),
    description: text().strictNullable(),
    status: enumText<VirtualKeyStatus>(),
    displayPrefix: text(),
    secretHash: bytes(),
    previousSecretHash: bytes().strictNullable(),
    previousSecretUntilMs: instant('previous_secret_until').strictNullable(),
    principalUserId: id().strictNullable(),
    traceProjectId: id(),
    externalId: id().strictNullable(),
    metadataJson: json('metadata'),
    labels: parsed<readonly string[]>('labels'),
    config: parsed<VirtualKeyConfig>('config'),
    revision: bigInteger(),
    lastUsedAtMs: instant('last_used_at').strictNullable(),
    expiresAtMs: instant('expires_at').strictNullable(),
    revokedAtMs: instant('revoked_at').strictNullable(),
    ...times(),
  },
  indexes: [
    { name: 'virtual_keys_by_creation', properties: ['organizationId', 'createdAtMs', 'id'] },
    {
      name: 'virtual_keys_by_previous_secret',
      properties: ['previousSecretHash'],
      where: 'previous_secret_hash is not null',
    },
  ],
  uniques: [
    { name: 'virtual_keys_by_external_id', properties: ['organizationId', 'externalId'] },
    { name: 'virtual_keys_by_secret', properties: ['secretHash'] },
  ],
});
