/** What the address of one evaluator says. */

import { readTraceListSearch, type TraceListSearch } from '../traces/search.ts';

/** The filters are those of the traces it is to run on. */
export type EvaluatorSearch = Pick<TraceListSearch, 'q' | 'range' | 'from' | 'to' | 'not'> & {
  readonly tab?: 'traces' | 'settings';
};

export function readEvaluatorSearch(raw: Record<string, unknown>): EvaluatorSearch {
  const { q, range, from, to, not } = readTraceListSearch(raw);
  return {
    ...((raw.tab === 'traces' || raw.tab === 'settings') && { tab: raw.tab }),
    ...(q && { q }),
    ...(range && { range }),
    ...(from && { from }),
    ...(to && { to }),
    ...(not && { not }),
  };
}
