/** The part of the list's address that a saved view keeps, as the query of an address. */

import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router';
import { readTraceListSearch, type TraceListSearch } from './search.ts';

/** Anybody may have written it, so what is no part of a state is dropped. */
export function readState(written: string): TraceListSearch {
  return stateOf(readTraceListSearch(defaultParseSearch(`?${written}`)));
}

/** Equal for equal states. */
export function writeState(search: TraceListSearch): string {
  return defaultStringifySearch(stateOf(search)).slice(1);
}

/** Whether the list follows new traces is no part of it. */
function stateOf({ q, not, range, from, to, sort, dir, columns }: TraceListSearch): TraceListSearch {
  const all = { q, not, range, from, to, sort, dir, columns };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
