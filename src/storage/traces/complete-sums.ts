/** Computes the totals and aggregates of large traces that an append had to leave out. */

import type { StoredTrace, TraceStore } from '../../domain/store.ts';
import type { TraceRecord } from '../../domain/traces/trace.ts';
import { isOutdated } from '../../domain/traces/trace-aggregates.ts';
import type { TraceState } from '../../domain/traces/trace-growth.ts';
import type { Sums } from '../../domain/traces/trace-sums.ts';

export type FoundTrace = StoredTrace & Pick<TraceRecord, 'traceId'>;
/** Stores the sums, unless the trace has changed since it was found. */
export type KeepSums = (trace: FoundTrace, sums: Sums) => Promise<void>;

export type CompleteSumsDeps = {
  /** Finds a trace with its stored totals and aggregates. */
  readonly find: TraceStore['find'];
  /** Computes the state from all spans. */
  readonly sums: (trace: StoredTrace) => Promise<TraceState>;
  readonly keep: KeepSums;
};

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
