/** Reads of traces, searches and sums on SQLite. */

import type { RunCooperatively } from '../../../domain/steps.ts';
import type { StoredTrace } from '../../../domain/traces/telemetry-port.ts';
import { createSumReads, type IndexReads, type SumReads } from '../../reads.ts';
import { createTraceFinder, type TraceFinder, textRange } from '../../traces/trace-finder.ts';
import { createTraceReads, isLarge, type TraceReads, type WholeTraceReads } from '../../traces/trace-reads.ts';
import { packPrefixRange } from './compact-ids.ts';
import type { Database, RunRead } from './connection.ts';
import type { SqliteQueries } from './queries.ts';
import { createQueryRunner, prepareQuery } from './run-query.ts';

type TraceReader = TraceReads &
  WholeTraceReads & {
    /** Whether the trace has so many evaluations that reading them all takes long. */
    hasManyEvaluations(trace: StoredTrace): Promise<boolean>;
  };

const EVALUATIONS_SOON_READ_MAX = 200;

/** A handle that reads, and what is read with it. */
export type Reading = { readonly db: Database; readonly runRead: RunRead; readonly queries: SqliteQueries };

export function createFinder({ db, runRead, queries }: Reading): TraceFinder {
  return createTraceFinder(createQueryRunner(db, runRead, queries.traces), (prefix) =>
    [textRange(prefix), packPrefixRange(prefix)].filter((range) => range !== null),
  );
}

export function createTraceReader({ db, runRead, queries }: Reading, runCooperatively: RunCooperatively): TraceReader {
  const runner = createQueryRunner(db, runRead, queries.traces);
  return {
    ...createTraceReads(
      {
        ...runner,
        queryForEach: (query, params, take) =>
          runRead(() => {
            for (const row of prepareQuery(db, query).iterate(params)) take(row);
          }),
      },
      runCooperatively,
    ),
    hasManyEvaluations: async ({ projectNumber, sequence }) => {
      const params = { projectNumber, sequence, count: EVALUATIONS_SOON_READ_MAX };
      return (await runner.runQuery(queries.traces.findEvaluationBeyond, params)).length > 0;
    },
  };
}

export function createReads({ db, runRead, queries }: Reading, index: IndexReads): SumReads {
  const { findRequest, findEventPosition } = queries.append;
  const runnerOf = <Of>(some: Of) => createQueryRunner(db, runRead, some);
  const { runQuery } = runnerOf(null);
  return createSumReads(runnerOf, queries, {
    ...index,
    findRequests: async (keys) => (await Promise.all(keys.map((key) => runQuery(findRequest, key)))).flat(),
    findPositions: async (keys) => (await Promise.all(keys.map((key) => runQuery(findEventPosition, key)))).flat(),
  });
}

/** Routes each read of a trace: short reads run at once, all others in the reader thread. */
export function routeReads(short: TraceReader, long: WholeTraceReads): TraceReads & Pick<WholeTraceReads, 'sums'> {
  const readsOf = (trace: StoredTrace): WholeTraceReads => (isLarge(trace) ? long : short);
  return {
    outline: (trace) => readsOf(trace).outline(keyOf(trace)),
    // Even a few spans may have large texts, which a digest has to parse.
    digest: (trace) => long.digest(keyOf(trace)),
    sums: long.sums,
    calls: (trace) => readsOf(trace).calls(keyOf(trace)),
    spanOrder: (trace, range) => readsOf(trace).spanOrder(keyOf(trace), range),
    spanIdsOfType: (trace, query) => readsOf(trace).spanIdsOfType(keyOf(trace), query),
    evaluationOrder: async (trace, range) =>
      await ((await short.hasManyEvaluations(trace)) ? long : short).evaluationOrder(keyOf(trace), range),
    // A few rows by their keys: passing them between threads takes longer than reading them.
    rows: short.rows,
    spans: short.spans,
    versionedSpan: short.versionedSpan,
    evaluations: short.evaluations,
  };
}

/** Other members of the trace may be large and are not passed to the thread. */
function keyOf({ projectNumber, sequence, spanCount, aggregatesJson }: StoredTrace): StoredTrace {
  return { projectNumber, sequence, spanCount, aggregatesJson };
}
