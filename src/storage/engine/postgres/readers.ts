/** Reads of traces, searches and sums on PostgreSQL. */

import * as queries from '../../../../gen/storage/postgres/all.ts';
import { findEventPosition, findRequest } from '../../../../gen/storage/postgres/append.ts';
import type { TraceStore } from '../../../domain/store.ts';
import { createTraceLimit } from '../../long-reads.ts';
import type { Transact } from '../../queries.ts';
import { createSumReads, limitSumReads, type SumReads } from '../../reads.ts';
import { completeSums, createKeepSums, createTraceFinder, textRange } from '../../traces/trace-finder.ts';
import { createTraceReads, isLarge, takeInTurns } from '../../traces/trace-reads.ts';
import type { Pool } from './pool.ts';
import { createQueryRunner, queryInPages } from './run-query.ts';

const WHOLE_TRACES_AT_ONCE = 2;

/** `transact` stores sums that a read has computed. */
export function createTraceReader(pool: Pool, transact: Transact): Omit<TraceStore, 'append' | 'appendBatch'> {
  const limit = createTraceLimit(WHOLE_TRACES_AT_ONCE);
  const runner = createQueryRunner(pool, queries.traces);
  const reads = createTraceReads(
    { ...runner, queryForEach: (query, params, take) => queryInPages(pool, { query, params, take }) },
    takeInTurns,
  );
  const finder = createTraceFinder(runner, (prefix) => [textRange(prefix)]);
  return {
    ...reads,
    ...finder,
    find: completeSums({
      find: finder.find,
      sums: (trace) => limit(() => reads.sums(trace)),
      keep: createKeepSums(transact),
    }),
    outline: (trace) => (isLarge(trace) ? limit(() => reads.outline(trace)) : reads.outline(trace)),
    digest: (trace) => (isLarge(trace) ? limit(() => reads.digest(trace)) : reads.digest(trace)),
  };
}

export function createReads(pool: Pool): SumReads {
  const runnerOf = <Of>(some: Of) => createQueryRunner(pool, some);
  const { runQuery } = runnerOf(null);
  return limitSumReads(
    createSumReads(runnerOf, queries, {
      findRequests: (keys) => runQuery(findRequest, keys),
      findPositions: (keys) => runQuery(findEventPosition, keys),
    }),
  );
}
