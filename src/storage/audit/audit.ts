/** The audit log: actions and refusals. */

import type { ManagementStore } from '../../domain/management/management.ts';
import type { QueryRunner, Transact } from '../queries.ts';

const LAST_MS = Number.MAX_SAFE_INTEGER;
/** Equal refusals within this time become one entry with a count. */
const REPEATED_MS = 60_000;

/** See ManagementStore.audit. */
export function createAuditList({ queries: { audit }, runQuery }: QueryRunner): ManagementStore['audit'] {
  return async (organizationId, { fromMs, toMs, after, ...filters }) => {
    const query =
      (filters.targetId !== null && audit.listEntriesOfTarget) ||
      (filters.actorKeyId !== null && audit.listEntriesOfKey) ||
      (filters.actorUserId !== null && audit.listEntriesOfUser) ||
      audit.listEntries;
    const { createdAtMs, id } = after ?? { createdAtMs: LAST_MS, id: '' };
    // Where the index scan begins.
    const untilMs = Math.min(toMs ?? LAST_MS, createdAtMs);
    return await runQuery(query, { organizationId, fromMs: fromMs ?? 0, untilMs, ...filters, createdAtMs, id });
  };
}

/** See ManagementStore.recordRefusal. */
export function createNoteRefusal(transact: Transact): ManagementStore['recordRefusal'] {
  return (refusal) =>
    transact(async (tx) => {
      const { audit } = tx.queries;
      const { organizationId, count, createdAtMs } = refusal;
      const [first] = await tx.runQuery(audit.findSame, { ...refusal, sinceMs: createdAtMs - REPEATED_MS });
      if (first === undefined) await tx.change(audit.insertEntry, refusal);
      else await tx.change(audit.addToCount, { organizationId, id: first.id, count });
    });
}
