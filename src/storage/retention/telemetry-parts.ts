/** What retention removes of telemetry: what waited for its trace in vain, and traces with all that belongs to them. */

import type { TelemetryCuts } from '../../domain/traces/telemetry-port.ts';
import { removeExpiredTraces } from './expired-traces.ts';
import { endOf, type PartEnd, type PartStep, type Parts, type RetentionQueries } from './parts.ts';

/** Before these nothing was stored. */
export const NO_CUTS: TelemetryCuts = { traces: [], logRecordsBeforeMs: 0, feedbackBeforeMs: 0 };

export const TELEMETRY_PARTS = {
  logRecords: dropOldRecords,
  feedback: endWaits,
  traces: removeTraces,
} satisfies Parts<TelemetryCuts>;

async function dropOldRecords(
  queries: RetentionQueries,
  { cuts: { logRecordsBeforeMs: beforeMs }, change, rowsMax, rowsAtOnce }: PartStep<TelemetryCuts>,
): Promise<PartEnd> {
  const limit = Math.min(rowsAtOnce, rowsMax);
  const unjoined = await change(queries.dropOldWaiting, { beforeMs, limit });
  const isMore = unjoined === limit || (await change(queries.dropOldJoined, { beforeMs, limit })) === limit;
  return { ...endOf(isMore), removed: { logRecords: unjoined } };
}

/** Drops feedback whose trace never came. */
async function endWaits(
  queries: RetentionQueries,
  { cuts: { feedbackBeforeMs: beforeMs }, change, rowsMax, rowsAtOnce }: PartStep<TelemetryCuts>,
): Promise<PartEnd> {
  const limit = Math.min(rowsAtOnce, rowsMax);
  if ((await change(queries.dropOrphans, { beforeMs, limit })) === limit) return endOf(true);
  return endOf((await change(queries.endWaiting, { beforeMs, limit })) === limit);
}

async function removeTraces(
  queries: RetentionQueries,
  { cuts: { traces: cuts }, sequenceAt, ...step }: PartStep<TelemetryCuts>,
): Promise<PartEnd> {
  const latestCutMs = Math.max(0, ...cuts.map(({ expiredBeforeMs }) => expiredBeforeMs));
  const before = sequenceAt?.(latestCutMs) ?? Number.MAX_SAFE_INTEGER;
  const { removed, next } = await removeExpiredTraces(queries, { ...step, before, cuts });
  return { removed: { traces: removed }, next };
}
