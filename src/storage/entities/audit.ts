import { defineEntity } from '@mikro-orm/core';
import type { AuditRecord } from '../../domain/management/management.ts';
import { enumText, id, instant, integer, parsed, text } from './kinds.ts';

/** Actions and refusals. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    createdAtMs: instant('created_at'),
    actorKind: enumText<AuditRecord['actorKind']>(),
    actorUserId: id().strictNullable(),
    actorKeyId: id().strictNullable(),
    action: text(),
    targetType: text(),
    targetId: id().strictNullable(),
    outcome: enumText<AuditRecord['outcome']>(),
    status: integer(),
    code: text().strictNullable(),
    fields: parsed<readonly string[]>('fields'),
    ip: text().strictNullable(),
    userAgent: text().strictNullable(),
    requestId: text().strictNullable(),
    traceId: text().strictNullable(),
    // The number of equal refusals that this entry stands for.
    count: integer(),
  },
  indexes: [
    { name: 'audit_log_by_time', properties: ['organizationId', 'createdAtMs', 'id'] },
    { name: 'audit_log_by_target', properties: ['organizationId', 'targetId', 'createdAtMs', 'id'] },
    { name: 'audit_log_by_user', properties: ['organizationId', 'actorUserId', 'createdAtMs', 'id'] },
    { name: 'audit_log_by_key', properties: ['organizationId', 'actorKeyId', 'createdAtMs', 'id'] },
  ],
});
