/** The part of the list's address that a saved view keeps, as the query of an address. */

import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router';
import { readTraceListSearch, stateOf, type TraceListSearch } from './search.ts';

/** Anybody may have written it, so what is not a part of a state is dropped. */
export function readState(written: string): TraceListSearch {
  return stateOf(readTraceListSearch(defaultParseSearch(`?${written}`)));
}

/** Equal for equal states. */
export function writeState(search: TraceListSearch): string {
  return defaultStringifySearch(stateOf(search)).slice(1);
}
