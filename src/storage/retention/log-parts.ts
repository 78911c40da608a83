/** What retention removes of the log, but for events with their requests: those differ between stores. */

import type { LogCuts } from '../../domain/events/log-port.ts';
import { endOf, type PartEnd, type PartStep, type Parts, type RemovePart, type RetentionQueries } from './parts.ts';

export const LOG_PARTS = {
  /** Frees the ids of events that belong to no request. */
  governance: removeOldRows('removeOldGovernance'),
  /** What was spent in periods that ended so long ago. */
  buckets: removeOldRows('removeOldBuckets'),
  spend: removeOldSpend,
  answers: removeExpiredAnswers,
} satisfies Parts<LogCuts>;

function removeOldRows(name: 'removeOldGovernance' | 'removeOldBuckets'): RemovePart<LogCuts> {
  return async (queries, { cuts: { eventsBeforeMs: beforeMs }, change, rowsMax, rowsAtOnce, isOver }) => {
    for (let removed = 0; removed === 0 || (removed < rowsMax && !isOver()); ) {
      const limit = Math.min(rowsAtOnce, rowsMax - removed);
      const count = await change(queries[name], { beforeMs, limit });
      if (count < limit) return endOf(false);
      removed += count;
    }
    return endOf(true);
  };
}

/** Removes blocks of spend whose events are all past their term. */
async function removeOldSpend(
  queries: RetentionQueries,
  { cuts: { eventsBeforeMs: beforeMs }, runQuery, change, rowsMax, isOver }: PartStep<LogCuts>,
): Promise<PartEnd> {
  for (let removed = 0; removed === 0 || (removed < rowsMax && !isOver()); ) {
    const [block] = await runQuery(queries.listOldBlocks, { beforeMs, limit: 1 });
    if (block === undefined) return endOf(false);
    removed += (await change(queries.removeParts, block)) + (await change(queries.removeBlock, block));
  }
  return endOf(true);
}

async function removeExpiredAnswers(
  queries: RetentionQueries,
  { cuts: { answersBeforeMs: beforeMs }, runQuery, change, rowsMax, heavyRowsAtOnce, isOver }: PartStep<LogCuts>,
): Promise<PartEnd> {
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
    if (expired.length < limit) return endOf(false);
    removed += limit;
  }
  return endOf(true);
}
