/** Sends each read of a trace to where it holds up nobody: what is known to be short is read at once, all else in a thread. */

import type { StoredTrace } from '../../domain/store.ts';
import { isLarge, type TraceReads } from '../reading/trace-reads.ts';
import type { TraceReader } from './trace-reader.ts';

export function sortOutReads(short: TraceReader, long: TraceReads): TraceReads {
  const readsOf = (trace: StoredTrace) => (isLarge(trace) ? long : short);
  return {
    outline: (trace) => readsOf(trace).outline(trace),
    // However few the spans are, their texts may be large, and a digest has to understand them.
    digest: (trace) => long.digest(trace),
    spanOrder: (trace, range) => readsOf(trace).spanOrder(trace, range),
    spans: (trace, ids) => readsOf(trace).spans(trace, ids),
    evaluationOrder: async (trace, range) =>
      await ((await short.hasManyEvaluations(trace)) ? long : short).evaluationOrder(trace, range),
    // Asked for by few ids at a time.
    evaluations: (trace, ids) => short.evaluations(trace, ids),
  };
}
