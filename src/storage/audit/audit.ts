/** Who did what, and what was refused. */

import type { AuditRecord, ManagementStore } from '../../domain/management.ts';
import type { Managing } from '../management.ts';
import type { Asking, Changing } from '../questions.ts';

const LAST_MS = Number.MAX_SAFE_INTEGER;
/** Refusals that are the same within it are one entry. */
const REPEATED_MS = 60_000;

/** See ManagementStore.audit. */
export function createAuditList({ questions: { audit }, ask }: Asking): ManagementStore['audit'] {
  return async (organizationId, { fromMs, toMs, after, ...filters }) => {
    const question =
      (filters.targetId !== null && audit.listEntriesOfTarget) ||
      (filters.actorKeyId !== null && audit.listEntriesOfKey) ||
      (filters.actorUserId !== null && audit.listEntriesOfUser) ||
      audit.listEntries;
    const { createdAtMs, id } = after ?? { createdAtMs: LAST_MS, id: '' };
    // Where in the index to begin.
    const untilMs = Math.min(toMs ?? LAST_MS, createdAtMs);
    const rows = await ask(question, { organizationId, fromMs: fromMs ?? 0, untilMs, ...filters, createdAtMs, id });
    return rows.map(toRecord);
  };
}

/** See ManagementStore.noteRefusal. */
export function createNoteRefusal({ transact }: Managing): ManagementStore['noteRefusal'] {
  return (refusal) =>
    transact(async (tx) => {
      const { audit } = tx.questions;
      const { organizationId, count, createdAtMs } = refusal;
      const [first] = await tx.ask(audit.findSame, { ...refusal, sinceMs: createdAtMs - REPEATED_MS });
      if (first === undefined) await insertEntry(tx, refusal);
      else await tx.change(audit.addToCount, { organizationId, id: first.id, count });
    });
}

export async function insertEntry(tx: Changing, entry: AuditRecord): Promise<void> {
  const { fields, ...row } = entry;
  await tx.change(tx.questions.audit.insertEntry, { ...row, fieldsJson: JSON.stringify(fields) });
}

// Only insertEntry writes the fields.
function toRecord<Row extends { readonly fieldsJson: string }>({ fieldsJson, ...row }: Row) {
  return { ...row, fields: JSON.parse(fieldsJson) as readonly string[] };
}
