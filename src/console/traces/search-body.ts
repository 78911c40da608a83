/** The search that an address means, as requests over REST have it. */

import { readBounds } from './bounds.ts';
import { questionOf } from './finding.ts';
import type { SortName, TraceListSearch } from './search.ts';

const SORTS: Readonly<Record<SortName, string>> = {
  cost: 'total_cost',
  duration: 'total_time_ms',
  'first-token': 'first_token_ms',
};

export function searchBody(search: TraceListSearch): string {
  const { query, filtersJson, negateFilters } = questionOf(search);
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

type Place = { readonly origin: string; readonly projectId: string | null };

/** For a shell. The key is not in it: what is copied lands in chats. */
export function curlOf(search: TraceListSearch, { origin, projectId }: Place): string {
  const named = projectId === null ? '' : ` \\\n  -H 'X-Project-Id: ${projectId}'`;
  const body = searchBody(search).replaceAll("'", "'\\''");
  return `curl -s '${origin}/api/traces/search' -H "X-Auth-Token: $SPANDREL_PROJECT_KEY"${named} \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`;
}
