import { defineEntity } from '@mikro-orm/core';
import type { AuditRecord } from '../../domain/management.ts';
import { bytes, id, instant, json, text, whole, word } from './kinds.ts';

/** Who did what, and what was refused. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    createdAtMs: instant('created_at'),
    actorKind: word<AuditRecord['actorKind']>(),
    actorUserId: id().strictNullable(),
    actorKeyId: id().strictNullable(),
    action: text(),
    targetType: text(),
    targetId: id().strictNullable(),
    outcome: word<AuditRecord['outcome']>(),
    status: whole(),
    code: text().strictNullable(),
    fieldsJson: json('fields'),
    ip: text().strictNullable(),
    userAgent: text().strictNullable(),
    requestId: text().strictNullable(),
    traceId: text().strictNullable(),
    // How many refusals that are the same it stands for.
    count: whole(),
  },
  indexes: [
    { name: 'audit_log_by_time', properties: ['organizationId', 'createdAtMs', 'id'] },
    { name: 'audit_log_by_target', properties: ['organizationId', 'targetId', 'createdAtMs', 'id'] },
    { name: 'audit_log_by_user', properties: ['organizationId', 'actorUserId', 'createdAtMs', 'id'] },
    { name: 'audit_log_by_key', properties: ['organizationId', 'actorKeyId', 'createdAtMs', 'id'] },
  ],
});

/** Idempotency keys, and what was answered to them. */
export const IdempotencyReceipt = defineEntity({
  name: 'IdempotencyReceipt',
  tableName: 'idempotency_receipts',
  properties: {
    organizationId: id().primary(),
    keyId: id().primary(),
    operation: id().primary(),
    value: id().primary(),
    fingerprint: bytes(),
    claimedAtMs: instant('claimed_at'),
    // Null as long as the effect is on its way: then it is a claim.
    answer: bytes().strictNullable(),
  },
  indexes: [{ name: 'idempotency_receipts_by_time', properties: ['claimedAtMs'] }],
});
