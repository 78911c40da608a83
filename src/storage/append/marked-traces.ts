/** What a batch tells the index of traces (src/storage/search). */

import type { Written } from './working-set.ts';

type Marked = { readonly projectNumber: number; readonly traceSequence: number };

/** Every trace that is new, has changed or is gone; in one order, because of that two batches never wait for each other. */
export function toMarked({ erased, traces }: Written): readonly Marked[] {
  const marked = [...traces.values()].map(({ row }) => toMark(row));
  for (const place of erased) marked.push(toMark(place));
  return marked.sort(
    (one, other) => one.projectNumber - other.projectNumber || one.traceSequence - other.traceSequence,
  );
}

function toMark({ projectNumber, sequence }: { readonly projectNumber: number; readonly sequence: number }): Marked {
  return { projectNumber, traceSequence: sequence };
}
