/** What the queries of the overview that ask more than once are kept by: the projects of an organization share one cache. */

import type { Range } from '../traces/range.ts';
import type { GroupName } from './search.ts';

/** Percentiles of models, and sums by model and something else, are computed from every span of the range. */
export const MODEL_TRACES_MAX = 50_000;

/** The numbers of traces of the range, and of the one before. */
export type TraceCounts = { readonly traces: number; readonly tracesBefore: number };

/**
 * `counts` is null until both are known. They are part of the key as far as the searches depend on them: a range that ends
 * now has others each time it is read.
 */
export function changesKey(projectId: string, range: Range, counts: TraceCounts | null): readonly unknown[] {
  const asked = counts && [counts.tracesBefore === 0, counts.traces <= MODEL_TRACES_MAX];
  return keyOf('what-changed', projectId, range, asked);
}

type Pair = { readonly by: GroupName; readonly and: GroupName };

export function pairKey(projectId: string, range: Range, { by, and }: Pair): readonly unknown[] {
  return keyOf('pair', projectId, range, [by, and]);
}

/** A refresh fetches again what begins with connect-query. */
function keyOf(name: string, projectId: string, { range, from, to }: Range, asked: unknown): readonly unknown[] {
  return ['connect-query', name, projectId, range, from, to, asked];
}
