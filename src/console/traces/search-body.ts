/** Turns the search in the address into a request over REST. */

import type { SentFilter } from './query-line.ts';
import { readBounds } from './range.ts';
import type { SortName, TraceListSearch } from './search.ts';
import { toFilterInput } from './search-input.ts';

const SORTS: Readonly<Record<SortName, string>> = {
  cost: 'total_cost',
  duration: 'total_time_ms',
  'first-token': 'first_token_ms',
};

export function searchBody(search: TraceListSearch): string {
  const { query, filters, negateFilters } = toFilterInput(search);
  const { fromMs, toMs, isOpen } = readBounds(search);
  return JSON.stringify({
    ...(query !== '' && { query }),
    ...(filters !== undefined && { filters: filtersByName(filters) }),
    ...(negateFilters && { negateFilters }),
    startDate: fromMs,
    ...(!isOpen && { endDate: toMs }),
    ...(search.sort && { sortBy: SORTS[search.sort] }),
    ...(search.dir && { sortDirection: search.dir }),
  });
}

/** REST takes one object: a list of values by name, or an object of such lists by key. */
function filtersByName(filters: readonly SentFilter[]) {
  const names = Map.groupBy(filters, ({ name }) => name);
  const entries = [...names].map(([name, group]) => {
    const lists = group.map(({ key, values }) => [key, values] as const);
    const [first] = lists;
    return [name, first?.[0] === undefined ? first?.[1] : Object.fromEntries(lists)];
  });
  return Object.fromEntries(entries);
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
