/** What retention removes in the same way on every store: a part of what is stored after the other, in steps. */

import type { RetentionCuts } from '../../domain/store.ts';
import { type RetentionQuestions, removeExpiredTraces } from './expired-traces.ts';
import type { Pace, TaskEnd } from './walk.ts';

/** `after`: up to there nothing more is to be removed. */
export type PartTask<Part = SharedPart> = { readonly part: Part; readonly after: number };
export type SharedPart = (typeof SHARED_PARTS)[number];

export const SHARED_PARTS = ['governance', 'spend', 'traces', 'audit'] as const;

type Step = Pace & {
  readonly cuts: RetentionCuts;
  /** Traces of this sequence and above came in at an instant or later; null: none say by their sequence when. */
  readonly sequenceAt: ((instantMs: number) => number) | null;
};

export async function removePart(
  questions: RetentionQuestions,
  { part, after }: PartTask,
  { cuts, sequenceAt, ...pace }: Step,
): Promise<TaskEnd<PartTask>> {
  if (part === 'governance') {
    const isMore = await removeOldGovernance(questions, cuts.eventsBeforeMs, pace);
    return { next: isMore ? [{ part, after }] : [] };
  }
  if (part === 'spend') {
    const isMore = await removeOldSpend(questions, cuts.eventsBeforeMs, pace);
    return { next: isMore ? [{ part, after }] : [] };
  }
  if (part === 'traces') {
    const latestCutMs = Math.max(0, ...cuts.traces.map(({ goneBeforeMs }) => goneBeforeMs));
    const before = sequenceAt?.(latestCutMs) ?? Number.MAX_SAFE_INTEGER;
    const { removed, next } = await removeExpiredTraces(questions, { ...pace, after, before, cuts: cuts.traces });
    return { removed: { traces: removed }, next: goOn(part, next) };
  }
  const { removed, next } = await removeExpiredAudit(questions, cuts.auditBeforeMs, { ...pace, after });
  return { removed: { auditEntries: removed }, next: goOn(part, next) };
}

export function goOn<Part>(part: Part, after: number | null): readonly PartTask<Part>[] {
  return after === null ? [] : [{ part, after }];
}

/** Frees the ids of events that are not of requests. Whether there may be more. */
async function removeOldGovernance(
  questions: RetentionQuestions,
  beforeMs: number,
  { change, rowsMax, rowsAtOnce, isOver }: Pace,
): Promise<boolean> {
  for (let removed = 0; removed === 0 || (removed < rowsMax && !isOver()); ) {
    const limit = Math.min(rowsAtOnce, rowsMax - removed);
    const count = await change(questions.removeOldGovernance, { beforeMs, limit });
    if (count < limit) return false;
    removed += count;
  }
  return true;
}

/** Blocks of the log all of whose events are past their term. Whether there may be more. */
async function removeOldSpend(
  questions: RetentionQuestions,
  beforeMs: number,
  { ask, change, rowsMax, isOver }: Pace,
): Promise<boolean> {
  for (let removed = 0; removed === 0 || (removed < rowsMax && !isOver()); ) {
    const [block] = await ask(questions.listOldBlocks, { beforeMs, limit: 1 });
    if (block === undefined) return false;
    removed += (await change(questions.removeParts, block)) + (await change(questions.removeBlock, block));
  }
  return true;
}

type StepOfAudit = Pace & {
  /** Organizations up to this number have nothing more to remove. */
  readonly after: number;
};

/**
 * Removes entries of the audit log that are past their term, from organization to organization, oldest first. `beforeMs`
 * is null where they are kept for ever. `next` is where the following step begins; null when nothing is left.
 */
async function removeExpiredAudit(
  questions: RetentionQuestions,
  beforeMs: number | null,
  { ask, change, after, rowsMax, rowsAtOnce, isOver }: StepOfAudit,
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
