/** Gives large traces their totals and aggregates back where an append could not say what they are. */

import type { StoredTrace, TraceStore } from '../../domain/store.ts';
import type { TraceRecord } from '../../domain/trace.ts';
import { isOutdated } from '../../domain/trace-aggregates.ts';
import type { TraceState } from '../../domain/trace-growth.ts';
import type { Sums } from '../../domain/trace-sums.ts';

export type FoundTrace = StoredTrace & Pick<TraceRecord, 'traceId'>;
/** Stores them, unless the trace has changed since it was found. */
export type KeepSums = (trace: FoundTrace, sums: Sums) => Promise<void>;

export type CompleteSumsDeps = {
  /** With totals and aggregates as they are stored. */
  readonly find: TraceStore['find'];
  /** From all spans. */
  readonly sums: (trace: StoredTrace) => Promise<TraceState>;
  readonly keep: KeepSums;
};

export function completeSums({ find, sums, keep }: CompleteSumsDeps): TraceStore['find'] {
  // By what stands in place of the aggregates: whoever finds the same asks for the same.
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
    // A read neither waits for that nor fails with it: the next one computes them again.
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
