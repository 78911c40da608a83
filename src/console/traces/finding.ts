/** Which traces an address means, as the api is asked for them. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { filtersJson, parseQueryLine } from './query-line.ts';
import { boundsOf, type TraceListSearch } from './search.ts';

type Finding = { readonly [K in 'q' | 'range' | 'from' | 'to' | 'not']?: TraceListSearch[K] | undefined };

export function findingOf({ q = '', range, from, to, not }: Finding, nowMs: number) {
  const { text, filters } = parseQueryLine(q);
  const asked = filtersJson(filters);
  const bounds = boundsOf({ ...(range && { range }), ...(from && { from }), ...(to && { to }) }, nowMs);
  return {
    query: text,
    ...(asked !== null && { filtersJson: asked, negateFilters: not === true }),
    startDate: timestampFromMs(bounds.fromMs),
    ...(bounds.toMs !== null && { endDate: timestampFromMs(bounds.toMs) }),
  };
}
