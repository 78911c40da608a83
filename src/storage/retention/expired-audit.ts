/** Removes entries of the audit log that are past their term, from organization to organization, oldest first. */

import type { RetentionQuestions } from './expired-traces.ts';
import type { Pace } from './walk.ts';

export type StepOfAudit = Pace & {
  /** Organizations up to this number have nothing more to remove. */
  readonly after: number;
  /** Null: entries are kept for ever. */
  readonly beforeMs: number | null;
};

/** `next` is where the following step begins; null when nothing is left. */
export async function removeExpiredAudit(
  questions: RetentionQuestions,
  { ask, change, after, beforeMs, rowsMax, rowsAtOnce, isOver }: StepOfAudit,
): Promise<{ readonly removed: number; readonly next: number | null }> {
  let next = after;
  let removed = 0;
  if (beforeMs === null) return { removed, next: null };
  // An organization without anything to remove costs about as much as a removal.
  for (let rows = 0; rows === 0 || (rows < rowsMax && !isOver()); rows += rowsAtOnce) {
    const limit = Math.min(rowsAtOnce, rowsMax - rows);
    const count = await change(questions.removeOldAudit, { after: next, beforeMs, limit });
    removed += count;
    // When there were as many as may go at once, there may be more of them.
    if (count === limit) continue;
    const [last] = await ask(questions.findLastOrganization, { after: next, skipped: limit - 1 });
    if (last === undefined) return { removed, next: null };
    next = last.number;
  }
  return { removed, next };
}
