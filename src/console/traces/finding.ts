/** Which traces an address means, as the api is asked for them. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { filtersJson, parseQueryLine } from './query-line.ts';
import { boundsOf, type TraceListSearch } from './search.ts';

type Finding = { readonly [K in 'q' | 'range' | 'from' | 'to' | 'not']?: TraceListSearch[K] | undefined };

export function findingOf({ q, range, from, to, not }: Finding, nowMs: number) {
  const bounds = boundsOf({ ...(range && { range }), ...(from && { from }), ...(to && { to }) }, nowMs);
  return {
    ...questionOf({ q, not }),
    startDate: timestampFromMs(bounds.fromMs),
    ...(bounds.toMs !== null && { endDate: timestampFromMs(bounds.toMs) }),
  };
}

/** The same for traces of any time. */
export function questionOf({ q = '', not }: Pick<Finding, 'q' | 'not'>) {
  const { text, filters } = parseQueryLine(q);
  const asked = filtersJson(filters);
  return { query: text, ...(asked !== null && { filtersJson: asked, negateFilters: not === true }) };
}
