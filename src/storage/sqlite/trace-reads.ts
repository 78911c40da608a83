/** Sends each read of a trace to where it holds up nobody: what is known to be short is read at once, all else in a thread. */

import type { StoredTrace } from '../../domain/store.ts';
import { isLarge, type TraceReads, type WholeTraceReads } from '../reading/trace-reads.ts';
import type { TraceReader } from './trace-reader.ts';

export function sortOutReads(short: TraceReader, long: WholeTraceReads): TraceReads {
  const readsOf = (trace: StoredTrace): WholeTraceReads => (isLarge(trace) ? long : short);
  return {
    outline: (trace) => readsOf(trace).outline(keyOf(trace)),
    // However few the spans are, their texts may be large, and a digest has to understand them.
    digest: (trace) => long.digest(keyOf(trace)),
    spanOrder: (trace, range) => readsOf(trace).spanOrder(keyOf(trace), range),
    evaluationOrder: async (trace, range) =>
      await ((await short.hasManyEvaluations(trace)) ? long : short).evaluationOrder(keyOf(trace), range),
    // Found by their keys, a few at a time: handing them over from a thread takes longer than reading them.
    spans: short.spans,
    evaluations: short.evaluations,
  };
}

/** Whatever else is known of the trace may be large, and is not handed over. */
function keyOf({ projectNumber, sequence, spanCount, aggregatesJson }: StoredTrace): StoredTrace {
  return { projectNumber, sequence, spanCount, aggregatesJson };
}
