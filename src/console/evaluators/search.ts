/** The search parameters of the evaluator page. */

import { readScoreSearch, type ScoreSearch } from '../evaluations/search.ts';
import { type FinderSearch, readFinderSearch } from '../traces/search.ts';

/** The filters select the traces to evaluate. */
export type EvaluatorSearch = FinderSearch & ScoreSearch & { readonly tab?: 'traces' | 'scores' | 'settings' };

const TABS = ['traces', 'scores', 'settings'] as const;

export function readEvaluatorSearch(raw: Record<string, unknown>): EvaluatorSearch {
  const tab = TABS.find((name) => name === raw.tab);
  return { ...(tab && { tab }), ...readScoreSearch(raw), ...readFinderSearch(raw) };
}
