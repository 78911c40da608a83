/** Who did what, and what was refused. */

import {
  defineEntity,
  type EntityManager,
  type FilterQuery,
  type InferEntity,
  p,
  type RawQueryFragment,
  raw,
} from '@mikro-orm/core';
import type { AuditListing, AuditRecord } from '../../domain/management.ts';

export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    organizationId: p.text().primary(),
    id: p.text().primary(),
    createdAt: p.bigint('number'),
    actorKind: p.text().$type<AuditRecord['actorKind']>(),
    actorUserId: p.text().nullable(),
    actorKeyId: p.text().nullable(),
    action: p.text(),
    targetType: p.text(),
    targetId: p.text().nullable(),
    outcome: p.text().$type<AuditRecord['outcome']>(),
    status: p.integer(),
    code: p.text().nullable(),
    fields: p.text(),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    requestId: p.text().nullable(),
    traceId: p.text().nullable(),
    count: p.integer(),
  },
});

type AuditRow = InferEntity<typeof AuditEntry>;

const EXACT_FIELDS = ['action', 'actorUserId', 'actorKeyId', 'targetId', 'outcome'] as const;
const NEWEST_FIRST = { createdAt: 'desc', id: 'desc' } as const;
/** Refusals that are the same within it are one entry. */
const REPEATED_MS = 60_000;

/** See ManagementStore.audit. */
export async function listAudit(
  em: EntityManager,
  organizationId: string,
  listing: AuditListing,
): Promise<readonly AuditRecord[]> {
  const conditions: FilterQuery<AuditRow>[] = [{ organizationId }];
  const { fromMs, toMs, after, limit } = listing;
  for (const field of EXACT_FIELDS) if (listing[field] !== null) conditions.push({ [field]: listing[field] });
  if (fromMs !== null) conditions.push({ createdAt: { $gte: fromMs } });
  if (toMs !== null) conditions.push({ createdAt: { $lte: toMs } });
  if (after !== null) {
    // The first condition alone says where in the index to begin.
    conditions.push({ createdAt: { $lte: after.createdAtMs } });
    conditions.push({ $or: [{ createdAt: { $lt: after.createdAtMs } }, { id: { $lt: after.id } }] });
  }
  const rows = await em.find(AuditEntry, { $and: conditions }, { orderBy: NEWEST_FIRST, limit });
  return rows.map(toRecord);
}

export async function insertAudit(tx: EntityManager, entries: readonly AuditRecord[]): Promise<void> {
  if (entries.length > 0) await tx.insertMany(AuditEntry, entries.map(toRow));
}

/** See ManagementStore.noteRefusal. */
export async function noteRefusal(em: EntityManager, refusal: AuditRecord): Promise<void> {
  const { organizationId, actorKind, actorKeyId, action, targetType, targetId, outcome, code } = refusal;
  const since = { createdAt: { $gte: refusal.createdAtMs - REPEATED_MS } };
  await em.transactional(async (tx) => {
    const first = await tx.findOne(
      AuditEntry,
      { organizationId, actorKind, actorKeyId, action, targetType, targetId, outcome, code, ...since },
      { orderBy: NEWEST_FIRST },
    );
    if (first === null) return await insertAudit(tx, [refusal]);
    const count = raw<RawQueryFragment>('count + ?', [refusal.count]);
    await tx.nativeUpdate(AuditEntry, { organizationId, id: first.id }, { count });
  });
}

function toRecord({ createdAt, fields, ...row }: AuditRow): AuditRecord {
  return {
    organizationId: row.organizationId,
    id: row.id,
    createdAtMs: createdAt,
    actorKind: row.actorKind,
    actorUserId: row.actorUserId ?? null,
    actorKeyId: row.actorKeyId ?? null,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId ?? null,
    outcome: row.outcome,
    status: row.status,
    code: row.code ?? null,
    // Only this file writes the column.
    fields: JSON.parse(fields) as readonly string[],
    ip: row.ip ?? null,
    userAgent: row.userAgent ?? null,
    requestId: row.requestId ?? null,
    traceId: row.traceId ?? null,
    count: row.count,
  };
}

function toRow({ createdAtMs, fields, ...entry }: AuditRecord) {
  return { ...entry, createdAt: createdAtMs, fields: JSON.stringify(fields) };
}
