/** The search parameters of the evaluator page. */

import { type FinderSearch, readFinderSearch } from '../traces/search.ts';

/** The filters select the traces to evaluate. */
export type EvaluatorSearch = FinderSearch & { readonly tab?: 'traces' | 'settings' };

export function readEvaluatorSearch(raw: Record<string, unknown>): EvaluatorSearch {
  const { tab } = raw;
  return { ...((tab === 'traces' || tab === 'settings') && { tab }), ...readFinderSearch(raw) };
}
