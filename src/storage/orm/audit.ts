/** Who did what, and what was refused. */

import { type EntityManager, type FilterQuery, type InferEntity, type RawQueryFragment, raw } from '@mikro-orm/core';
import type { AuditListing, AuditRecord } from '../../domain/management.ts';
import { AuditEntry } from '../tables/audit.ts';

type AuditRow = InferEntity<typeof AuditEntry>;

const EXACT_FIELDS = ['action', 'actorUserId', 'actorKeyId', 'targetId', 'outcome'] as const;
const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;
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
  if (fromMs !== null) conditions.push({ createdAtMs: { $gte: fromMs } });
  if (toMs !== null) conditions.push({ createdAtMs: { $lte: toMs } });
  if (after !== null) {
    // The first condition alone says where in the index to begin.
    conditions.push({ createdAtMs: { $lte: after.createdAtMs } });
    conditions.push({ $or: [{ createdAtMs: { $lt: after.createdAtMs } }, { id: { $lt: after.id } }] });
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
  const since = { createdAtMs: { $gte: refusal.createdAtMs - REPEATED_MS } };
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

// Only toRow writes the fields.
function toRecord({ fieldsJson, ...row }: AuditRow): AuditRecord {
  return { ...row, fields: JSON.parse(fieldsJson) as readonly string[] };
}

function toRow({ fields, ...entry }: AuditRecord) {
  return { ...entry, fieldsJson: JSON.stringify(fields) };
}
