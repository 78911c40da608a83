/** What the address of one evaluator says. */

import { type FinderSearch, readFinderSearch } from '../traces/search.ts';

/** The filters are those of the traces it is to run on. */
export type EvaluatorSearch = FinderSearch & { readonly tab?: 'traces' | 'settings' };

export function readEvaluatorSearch(raw: Record<string, unknown>): EvaluatorSearch {
  const { tab } = raw;
  return { ...((tab === 'traces' || tab === 'settings') && { tab }), ...readFinderSearch(raw) };
}
