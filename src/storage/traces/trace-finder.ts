/** Finds traces, and completes the sums of large traces that an append had to leave out. */

import type { StoredTrace, TraceStore } from '../../domain/store.ts';
import type { TraceRecord } from '../../domain/traces/trace.ts';
import { isOutdated } from '../../domain/traces/trace-aggregates.ts';
import type { Sums, TraceState } from '../../domain/traces/trace-growth.ts';
import type { Queries, QueryRunner, Transact } from '../queries.ts';

/** A range of ids in their stored form. */
type IdRange = { readonly first: string | Buffer; readonly last: string | Buffer };

const LAST_CHARACTER = '\u{10ffff}';

/** `rangesOf`: the ranges of ids with a prefix. Each stored form of ids has an order of its own. */
export function createTraceFinder(
  { queries, runQuery }: QueryRunner<Queries['traces']>,
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
    const key = { projectNumber, traceId, sequence };
    await transact(async ({ change, queries: { traces, searchIndex } }) => {
      await change(traces.keepSums, { ...totals, ...key, durationMs, aggregatesJson, foundJson });
      await change(searchIndex.markStored, { projectNumber, sequences: [sequence] });
    });
  };
}

type FoundTrace = StoredTrace & Pick<TraceRecord, 'traceId'>;
/** Stores the sums, unless the trace has changed since it was found. */
export type KeepSums = (trace: FoundTrace, sums: Sums) => Promise<void>;

type CompleteSumsDeps = {
  /** Finds a trace with its stored totals and aggregates. */
  readonly find: TraceStore['find'];
  /** Computes the state from all spans. */
  readonly sums: (trace: StoredTrace) => Promise<TraceState>;
  readonly keep: KeepSums;
};

/** Computes missing totals and aggregates when a trace is read. */
export function completeSums({ find, sums, keep }: CompleteSumsDeps): TraceStore['find'] {
  // Keyed by the trace and its outdated aggregates: concurrent readers share one computation.
  const computing = new Map<string, Promise<TraceState>>();

  function compute(trace: FoundTrace): Promise<TraceState> {
    const key = `${trace.projectNumber} ${trace.sequence} ${trace.aggregatesJson}`;
    const known = computing.get(key);
    if (known !== undefined) return known;
    const begun = computeAndKeep(trace).finally(() => computing.delete(key));
    computing.set(key, begun);
    return begun;
  }

  async function computeAndKeep(trace: FoundTrace): Promise<TraceState> {
    const state = await sums(trace);
    // A read neither waits for the write nor fails with it: the next read computes the sums again.
    keep(trace, { totals: state.totals, aggregatesJson: JSON.stringify(state.aggregates) }).catch(() => undefined);
    return state;
  }

  return async (projectNumber, traceId): Promise<TraceRecord | null> => {
    const record = await find(projectNumber, traceId);
    if (record === null || !isOutdated(record)) return record;
    const { sequence, spanCount, aggregatesJson } = record;
    const found = { projectNumber, traceId: record.traceId, sequence, spanCount, aggregatesJson };
    const { totals, aggregates } = await compute(found);
    return { ...record, ...totals, aggregatesJson: JSON.stringify(aggregates) };
  };
}
