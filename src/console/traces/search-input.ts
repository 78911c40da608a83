/** Turns the search in the address into the input of the api. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ChangeOf } from '../layout/search.ts';
import { type Filter, parseQueryLine, sentFilters } from './query-line.ts';
import { type Bounds, readBounds } from './range.ts';
import type { FinderSearch } from './search.ts';

export function toSearchInput(search: ChangeOf<FinderSearch>) {
  return { ...toFilterInput(search), ...toRangeInput(readBounds(search)) };
}

/** The input without a range. */
export function toFilterInput({ q = '', not }: ChangeOf<FinderSearch>) {
  const { text, filters } = parseQueryLine(q);
  return toInput(text, filters, not);
}

/** The same without one filter, for the values that it could have. */
export function toOtherFilters({ q = '', not }: ChangeOf<FinderSearch>, name: string) {
  const { text, filters } = parseQueryLine(q);
  const others = filters.filter((filter) => filter.name !== name);
  return toInput(text, others, not);
}

function toInput(query: string, filters: readonly Filter[], not: true | undefined) {
  const sent = sentFilters(filters);
  return { query, ...(sent.length > 0 && { filters: [...sent], negateFilters: not === true }) };
}

export function toRangeInput({ fromMs, toMs, isOpen }: Bounds) {
  return { startDate: timestampFromMs(fromMs), ...(!isOpen && { endDate: timestampFromMs(toMs) }) };
}
