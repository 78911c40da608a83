/** The parts of retention that are the same for every store: each is removed in steps. */

import type { RetentionCuts } from '../../domain/management/retention-store.ts';
import { type RetentionQueries, removeExpiredTraces } from './expired-traces.ts';
import type { StepBudget, TaskEnd } from './walk.ts';

/** `after`: everything up to this number is done. */
export type RemovalTask<Part = SharedPart> = { readonly part: Part; readonly after: number };
export type SharedPart = (typeof SHARED_PARTS)[number];

export const SHARED_PARTS = [
  'governance',
  'buckets',
  'spend',
  'log records',
  'feedback',
  'answers',
  'traces',
  'audit',
] as const;

type Step = StepBudget & {
  readonly cuts: RetentionCuts;
  /**
   * Traces with this sequence or above were received at an instant or later; null: sequences say nothing about time.
   */
  readonly sequenceAt: ((instantMs: number) => number) | null;
};

export async function removePart(
  queries: RetentionQueries,
  { part, after }: RemovalTask,
  { cuts, sequenceAt, ...pace }: Step,
): Promise<TaskEnd<RemovalTask>> {
  if (part === 'governance' || part === 'buckets' || part === 'spend') {
    const isMore = await REMOVE_OLD[part](queries, cuts.eventsBeforeMs, pace);
    return { next: isMore ? [{ part, after }] : [] };
  }
  if (part === 'log records') {
    const { unjoined, isMore } = await dropOldRecords(queries, cuts.logRecordsBeforeMs, pace);
    return { removed: { logRecords: unjoined }, next: isMore ? [{ part, after }] : [] };
  }
  if (part === 'feedback') {
    const isMore = await endWaits(queries, cuts.feedbackBeforeMs, pace);
    return { next: isMore ? [{ part, after }] : [] };
  }
  if (part === 'answers') {
    const isMore = await removeExpiredAnswers(queries, cuts.answersBeforeMs, pace);
    return { next: isMore ? [{ part, after }] : [] };
  }
  if (part === 'traces') {
    const latestCutMs = Math.max(0, ...cuts.traces.map(({ expiredBeforeMs }) => expiredBeforeMs));
    const before = sequenceAt?.(latestCutMs) ?? Number.MAX_SAFE_INTEGER;
    const { removed, next } = await removeExpiredTraces(queries, { ...pace, after, before, cuts: cuts.traces });
    return { removed: { traces: removed }, next: continueAfter(part, next) };
  }
  const { removed, next } = await removeExpiredAudit(queries, cuts.auditBeforeMs, { ...pace, after });
  return { removed: { auditEntries: removed }, next: continueAfter(part, next) };
}

export function continueAfter<Part>(part: Part, after: number | null): readonly RemovalTask<Part>[] {
  return after === null ? [] : [{ part, after }];
}

/** Each returns whether there may be more. */
const REMOVE_OLD = {
  /** Frees the ids of events that belong to no request. */
  governance: removeOldRows('removeOldGovernance'),
  /** What was spent in periods that ended so long ago. */
  buckets: removeOldRows('removeOldBuckets'),
  spend: removeOldSpend,
};

function removeOldRows(name: 'removeOldGovernance' | 'removeOldBuckets') {
  return async (
    queries: RetentionQueries,
    beforeMs: number,
    { change, rowsMax, rowsAtOnce, isOver }: StepBudget,
  ): Promise<boolean> => {
    for (let removed = 0; removed === 0 || (removed < rowsMax && !isOver()); ) {
      const limit = Math.min(rowsAtOnce, rowsMax - removed);
      const count = await change(queries[name], { beforeMs, limit });
      if (count < limit) return false;
      removed += count;
    }
    return true;
  };
}

/** Removes blocks of spend whose events are all past their term. Returns whether there may be more. */
async function removeOldSpend(
  queries: RetentionQueries,
  beforeMs: number,
  { runQuery, change, rowsMax, isOver }: StepBudget,
): Promise<boolean> {
  for (let removed = 0; removed === 0 || (removed < rowsMax && !isOver()); ) {
    const [block] = await runQuery(queries.listOldBlocks, { beforeMs, limit: 1 });
    if (block === undefined) return false;
    removed += (await change(queries.removeParts, block)) + (await change(queries.removeBlock, block));
  }
  return true;
}

/** Returns how many of the records no span had, and whether there may be more. */
async function dropOldRecords(
  queries: RetentionQueries,
  beforeMs: number,
  { change, rowsMax, rowsAtOnce }: StepBudget,
): Promise<{ readonly unjoined: number; readonly isMore: boolean }> {
  const limit = Math.min(rowsAtOnce, rowsMax);
  const unjoined = await change(queries.dropOldWaiting, { beforeMs, limit });
  if (unjoined === limit) return { unjoined, isMore: true };
  const joined = await change(queries.dropOldJoined, { beforeMs, limit });
  return { unjoined, isMore: joined === limit };
}

/** Drops events whose trace never came. Returns whether there may be more. */
async function endWaits(
  queries: RetentionQueries,
  beforeMs: number,
  { change, rowsMax, rowsAtOnce }: StepBudget,
): Promise<boolean> {
  const limit = Math.min(rowsAtOnce, rowsMax);
  if ((await change(queries.dropOrphans, { beforeMs, limit })) === limit) return true;
  return (await change(queries.endWaiting, { beforeMs, limit })) === limit;
}

/** Returns whether there may be more. */
async function removeExpiredAnswers(
  queries: RetentionQueries,
  beforeMs: number,
  { runQuery, change, rowsMax, heavyRowsAtOnce, isOver }: StepBudget,
): Promise<boolean> {
  for (let removed = 0; removed === 0 || (removed < rowsMax && !isOver()); ) {
    const limit = Math.min(heavyRowsAtOnce, rowsMax - removed);
    const expired = await runQuery(queries.listExpiredAnswers, { beforeMs, limit });
    for (const [projectNumber, answers] of Map.groupBy(expired, (answer) => answer.projectNumber)) {
      await runQuery(queries.lockBytes, { projectNumber });
      let freed = 0;
      for (const { hash, weight } of answers) {
        // One that was replaced meanwhile stays.
        freed += weight * (await change(queries.removeAnswer, { projectNumber, hash, beforeMs }));
      }
      await change(queries.addBytes, { projectNumber, weight: -freed });
    }
    if (expired.length < limit) return false;
    removed += limit;
  }
  return true;
}

type StepOfAudit = StepBudget & {
  /** Organizations up to this number are done. */
  readonly after: number;
};

/**
 * Removes expired entries of the audit log, organization by organization, oldest first. A `beforeMs` of null keeps them
 * for ever. `next` is where the next step begins; null at the end.
 */
async function removeExpiredAudit(
  queries: RetentionQueries,
  beforeMs: number | null,
  { runQuery, change, after, rowsMax, rowsAtOnce, isOver }: StepOfAudit,
): Promise<{ readonly removed: number; readonly next: number | null }> {
  let next = after;
  let removed = 0;
  if (beforeMs === null) return { removed, next: null };
  // Visiting an organization costs about as much as a removal.
  for (let rows = 0; rows === 0 || (rows < rowsMax && !isOver()); rows += rowsAtOnce) {
    const limit = Math.min(rowsAtOnce, rowsMax - rows);
    const count = await change(queries.removeOldAudit, { after: next, beforeMs, limit });
    removed += count;
    // A full batch may have more behind it.
    if (count === limit) continue;
    const [last] = await runQuery(queries.findLastOrganization, { after: next, skipped: limit - 1 });
    if (last === undefined) return { removed, next: null };
    next = last.number;
  }
  return { removed, next };
}
