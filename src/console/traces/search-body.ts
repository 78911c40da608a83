/** Turns the search in the address into a request over REST. */

import { readBounds } from './range.ts';
import type { SortName, TraceListSearch } from './search.ts';
import { toFilterInput } from './search-input.ts';

const SORTS: Readonly<Record<SortName, string>> = {
  cost: 'total_cost',
  duration: 'total_time_ms',
  'first-token': 'first_token_ms',
};

export function searchBody(search: TraceListSearch): string {
  const { query, filtersJson, negateFilters } = toFilterInput(search);
  const { fromMs, toMs, isOpen } = readBounds(search);
  return JSON.stringify({
    ...(query !== '' && { query }),
    ...(filtersJson !== undefined && { filters: JSON.parse(filtersJson) as unknown }),
    ...(negateFilters && { negateFilters }),
    startDate: fromMs,
    ...(!isOpen && { endDate: toMs }),
    ...(search.sort && { sortBy: SORTS[search.sort] }),
    ...(search.dir && { sortDirection: search.dir }),
  });
}

type ServerRef = { readonly origin: string; readonly projectId: string | null };

/** A shell command. Omits the key, because people paste such commands into chats. */
export function curlOf(search: TraceListSearch, { origin, projectId }: ServerRef): string {
  const named = projectId === null ? '' : ` \\\n  -H 'X-Project-Id: ${projectId}'`;
  const body = searchBody(search).replaceAll("'", "'\\''");
  return `curl -s '${origin}/api/traces/search' -H "X-Auth-Token: $SPANDREL_PROJECT_KEY"${named} \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`;
}
