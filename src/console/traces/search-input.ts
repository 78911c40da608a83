/** Turns the search in the address into the input of the api. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { filtersJson, parseQueryLine } from './query-line.ts';
import { writeRange } from './range.ts';
import { boundsOf, type FinderSearch } from './search.ts';

type Wanted = { readonly [K in keyof FinderSearch]?: FinderSearch[K] | undefined };

export function toSearchInput(search: Wanted) {
  const { fromMs, toMs } = boundsOf(writeRange(search), Date.now());
  return {
    ...toFilterInput(search),
    startDate: timestampFromMs(fromMs),
    ...(toMs !== null && { endDate: timestampFromMs(toMs) }),
  };
}

/** The input without a range. */
export function toFilterInput({ q = '', not }: Wanted) {
  const { text, filters } = parseQueryLine(q);
  const json = filtersJson(filters);
  return { query: text, ...(json !== null && { filtersJson: json, negateFilters: not === true }) };
}
