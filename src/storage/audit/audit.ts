/** Who did what, and what was refused. */

import type { AuditRecord, ManagementStore } from '../../domain/management.ts';
import type { Managing } from '../management.ts';
import type { Asking, CompiledOf, Transaction } from '../questions.ts';
import type * as source from './questions.ts';

type AuditQuestions = CompiledOf<typeof source>;

const LAST_MS = Number.MAX_SAFE_INTEGER;
/** Refusals that are the same within it are one entry. */
const REPEATED_MS = 60_000;

/** See ManagementStore.audit. */
export function createAuditList({ questions, ask }: Asking<AuditQuestions>): ManagementStore['audit'] {
  return async (organizationId, { fromMs, toMs, after, ...filters }) => {
    const question =
      (filters.targetId !== null && questions.listEntriesOfTarget) ||
      (filters.actorKeyId !== null && questions.listEntriesOfKey) ||
      (filters.actorUserId !== null && questions.listEntriesOfUser) ||
      questions.listEntries;
    const { createdAtMs, id } = after ?? { createdAtMs: LAST_MS, id: '' };
    // Where in the index to begin.
    const untilMs = Math.min(toMs ?? LAST_MS, createdAtMs);
    const rows = await ask(question, { organizationId, fromMs: fromMs ?? 0, untilMs, ...filters, createdAtMs, id });
    return rows.map(toRecord);
  };
}

/** See ManagementStore.noteRefusal. */
export function createNoteRefusal({ questions: { audit }, transact }: Managing): ManagementStore['noteRefusal'] {
  return (refusal) =>
    transact(async (tx) => {
      const { organizationId, count, createdAtMs } = refusal;
      const [first] = await tx.ask(audit.findSame, { ...refusal, sinceMs: createdAtMs - REPEATED_MS });
      if (first === undefined) await insertEntry(tx, audit, refusal);
      else await tx.change(audit.addToCount, { organizationId, id: first.id, count });
    });
}

export async function insertEntry(tx: Transaction, { insertEntry }: AuditQuestions, entry: AuditRecord): Promise<void> {
  const { fields, ...row } = entry;
  await tx.change(insertEntry, { ...row, fieldsJson: JSON.stringify(fields) });
}

// Only insertEntry writes the fields.
function toRecord<Row extends { readonly fieldsJson: string }>({ fieldsJson, ...row }: Row) {
  return { ...row, fields: JSON.parse(fieldsJson) as readonly string[] };
}
