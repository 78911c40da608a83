/** Totals and aggregates that were computed by a read. */

import type { KeepSums } from '../reading/complete-sums.ts';

/** What the question keepSums is given. */
export function sumsToKeep(...[trace, { totals, aggregatesJson }]: Parameters<KeepSums>) {
  const { startedAtMs, finishedAtMs } = totals;
  const durationMs = startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs;
  const { projectNumber, traceId, sequence, aggregatesJson: foundJson } = trace;
  return { ...totals, projectNumber, traceId, sequence, durationMs, aggregatesJson, foundJson };
}
