/** Finds traces, and stores sums that a read has computed. */

import type { TraceStore } from '../../domain/store.ts';
import type { QueryRunner, Transact } from '../queries.ts';
import type { KeepSums } from './complete-sums.ts';
import type { TraceQueries } from './trace-reads.ts';

/** A range of ids in their stored form. */
export type IdRange = { readonly first: string | Buffer; readonly last: string | Buffer };

const LAST_CHARACTER = '\u{10ffff}';

/** `rangesOf`: the ranges of ids with a prefix. Each stored form of ids has an order of its own. */
export function createTraceFinder(
  { queries, runQuery }: QueryRunner<TraceQueries>,
  rangesOf: (prefix: string) => readonly IdRange[],
): Pick<TraceStore, 'find' | 'findByPrefix'> {
  return {
    find: async (projectNumber, traceId) => (await runQuery(queries.findTrace, { projectNumber, traceId }))[0] ?? null,
    async findByPrefix(projectNumber, prefix, sinceMs, limit) {
      const found = rangesOf(prefix).map((range) =>
        runQuery(queries.listTraceIds, { projectNumber, ...range, sinceMs, limit }),
      );
      const ids = (await Promise.all(found)).flat().map(({ traceId }) => traceId);
      // By their bytes, the order within each range.
      return ids.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))).slice(0, limit);
    },
  };
}

/** The range of text ids with a prefix. */
export function textRange(prefix: string): IdRange {
  return { first: prefix, last: prefix + LAST_CHARACTER };
}

export function createKeepSums(transact: Transact): KeepSums {
  return async ({ projectNumber, traceId, sequence, aggregatesJson: foundJson }, { totals, aggregatesJson }) => {
    const { startedAtMs, finishedAtMs } = totals;
    const durationMs = startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs;
    const place = { projectNumber, traceId, sequence };
    await transact(async ({ change, queries: { traces, searchIndex } }) => {
      await change(traces.keepSums, { ...totals, ...place, durationMs, aggregatesJson, foundJson });
      await change(searchIndex.markStored, { projectNumber, sequences: [sequence] });
    });
  };
}
