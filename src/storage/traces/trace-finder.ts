/** Finds traces, and completes the sums of large traces that an append had to leave out: when they are read, or searched. */

import type { StoredTrace, TraceStore } from '../../domain/traces/telemetry-port.ts';
import type { TraceRecord } from '../../domain/traces/trace.ts';
import { hasNodes, isOutdated } from '../../domain/traces/trace-aggregates.ts';
import type { Sums, TraceState } from '../../domain/traces/trace-growth.ts';
import type { Queries, QueryRunner, Transact } from '../transaction.ts';

/** A range of ids in their stored form. */
type IdRange = { readonly first: string | Buffer; readonly last: string | Buffer };

export type TraceFinder = Pick<TraceStore, 'find' | 'findByPrefix'> & {
  /** Some traces of a project whose sums an append left out. */
  listOutdated(projectNumber: number): Promise<readonly FoundTrace[]>;
};

const LAST_CHARACTER = '\u{10ffff}';
const OUTDATED_AT_ONCE = 100;
/** After this time a search goes on with the sums as they are stored. */
const COMPLETE_MAX_MS = 1_000;

/** `rangesOf`: the ranges of ids with a prefix. Each stored form of ids has an order of its own. */
export function createTraceFinder(
  { queries, runQuery }: QueryRunner<Queries['traces']>,
  rangesOf: (prefix: string) => readonly IdRange[],
): TraceFinder {
  return {
    listOutdated: async (projectNumber) =>
      (await runQuery(queries.listOutdated, { projectNumber, limit: OUTDATED_AT_ONCE })).map((row) => ({
        projectNumber,
        ...row,
      })),
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
  /** Finds traces with their stored totals and aggregates. */
  readonly finder: Pick<TraceFinder, 'find' | 'listOutdated'>;
  /** Computes the state from all spans. */
  readonly sums: (trace: StoredTrace) => Promise<TraceState>;
  readonly keep: KeepSums;
  /** Monotonic. */
  readonly nowMs: () => number;
};

export type CompleteSums = {
  /** Finds a trace with the sums over all its spans. */
  readonly find: TraceStore['find'];
  /** Stores the missing sums of the traces of a project, as far as about a second suffices. */
  readonly completeTotals: (projectNumber: number) => Promise<void>;
};

type Computed = {
  readonly state: TraceState;
  /** Resolves once the sums are stored, or could not be. */
  readonly kept: Promise<void>;
};

export function completeSums({ finder, sums, keep, nowMs }: CompleteSumsDeps): CompleteSums {
  // Keyed by the trace and its outdated aggregates: concurrent readers share one computation.
  const computing = new Map<string, Promise<Computed>>();

  function compute(trace: FoundTrace): Promise<Computed> {
    const key = `${trace.projectNumber} ${trace.sequence} ${trace.aggregatesJson}`;
    const cached = computing.get(key);
    if (cached !== undefined) return cached;
    const begun = computeAndKeep(trace).finally(() => computing.delete(key));
    computing.set(key, begun);
    return begun;
  }

  async function computeAndKeep(trace: FoundTrace): Promise<Computed> {
    const computed = await sums(trace);
    // The nodes were kept while the totals were outdated.
    const state = {
      totals: computed.totals,
      aggregates: { ...computed.aggregates, hasNodes: hasNodes(trace.aggregatesJson) },
    };
    const kept = keep(trace, { totals: state.totals, aggregatesJson: JSON.stringify(state.aggregates) });
    // Nothing fails with the write: the next read computes the sums again.
    return { state, kept: kept.catch(() => undefined) };
  }

  return {
    async find(projectNumber, traceId): Promise<TraceRecord | null> {
      const record = await finder.find(projectNumber, traceId);
      if (record === null || !isOutdated(record)) return record;
      const { sequence, spanCount, aggregatesJson } = record;
      const found = { projectNumber, traceId: record.traceId, sequence, spanCount, aggregatesJson };
      const { totals, aggregates } = (await compute(found)).state;
      return { ...record, ...totals, aggregatesJson: JSON.stringify(aggregates) };
    },
    async completeTotals(projectNumber): Promise<void> {
      const endMs = nowMs() + COMPLETE_MAX_MS;
      for (const trace of await finder.listOutdated(projectNumber)) {
        if (nowMs() > endMs) return;
        await (await compute(trace)).kept;
      }
    },
  };
}
