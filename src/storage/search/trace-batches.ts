/** Bounds how much of traces a read holds at once: batches of traces, and the spans of a large trace in pages. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { readPages } from '../long-reads.ts';

/** Spans of a batch; a batch of one trace may have more. */
export const SPANS_AT_ONCE = 2_000;
/** Metadata of a batch; a batch of one trace may have more. A few reads at once fit into the heap of the reader thread. */
export const METADATA_BYTES_AT_ONCE = 2 * 1024 * 1024;

/** Cuts rows into batches whose weights each sum up to at most their limit; a batch has at least one row. */
export function cutIntoBatches<Row>(
  rows: readonly Row[],
  weightsOf: (row: Row) => readonly number[],
  limits: readonly number[],
): readonly (readonly Row[])[] {
  const batches: Row[][] = [];
  let sums: readonly number[] = [];
  for (const row of rows) {
    const batch = batches.at(-1);
    const weights = weightsOf(row);
    const grown = weights.map((weight, index) => (sums[index] ?? 0) + weight);
    if (batch !== undefined && grown.every((sum, index) => sum <= (limits[index] ?? 0))) {
      batch.push(row);
      sums = grown;
    } else {
      batches.push([row]);
      sums = weights;
    }
  }
  return batches;
}

type SpanReads<Span> = {
  /** The spans of several traces. */
  readonly list: (sequences: readonly number[]) => Promise<readonly Span[]>;
  /** A page of the spans of one trace, after a span id. */
  readonly listBehind: (sequence: number, after: string) => Promise<readonly Span[]>;
};

/** The spans of a batch, by the sequence of their trace. */
export async function readSpansOf<Span extends { readonly traceSequence: number; readonly spanId: string }>(
  batch: readonly { readonly sequence: number; readonly spanCount: number }[],
  { list, listBehind }: SpanReads<Span>,
): Promise<ReadonlyMap<number, readonly Span[]>> {
  const [first, ...others] = batch;
  if (first === undefined) return new Map();
  if (others.length > 0 || first.spanCount <= SPANS_AT_ONCE) {
    const spans = await list(batch.map(({ sequence }) => sequence));
    return Map.groupBy(spans, ({ traceSequence }) => traceSequence);
  }
  const { sequence } = first;
  const spans: Span[] = [];
  for await (const page of readPages<Span>(SPANS_AT_ONCE, (last) => listBehind(sequence, last?.spanId ?? ''))) {
    for (const span of page) spans.push(span);
    await nextTurn();
  }
  return new Map([[sequence, spans]]);
}
