/** The search parameters of the trace list. */

import {
  type ChangeOf,
  flag,
  oneOf,
  type RawSearch,
  type Readers,
  readerOf,
  type SearchOf,
  text,
} from '../layout/search.ts';
import { parseQueryLine } from './query-line.ts';
import { type RangeSearch, rangeReaderOf, withNamedRange } from './range.ts';

/** The parameters that select traces, besides a range. */
const FINDER = {
  /** The query line. */
  q: text,
  /** Inverts the filters. */
  not: flag,
};

export type FinderSearch = RangeSearch & SearchOf<typeof FINDER>;

/** Reads what selects traces, and the other parameters of a page. */
export function finderReaderOf<R extends Readers>(readers: R) {
  const readFinder = rangeReaderOf(FINDER);
  const readRest = readerOf(readers);
  return (raw: RawSearch) => ({ ...withoutLoneNot(readFinder(raw)), ...readRest(raw) }) as FinderSearch & SearchOf<R>;
}

/** Words are never inverted, so where no filter is left there is nothing to invert. */
function withoutLoneNot(search: FinderSearch): ChangeOf<FinderSearch> {
  if (search.not === undefined || parseQueryLine(search.q ?? '').filters.length > 0) return search;
  // The router keeps what a reader leaves out.
  return { ...search, not: undefined };
}

export const readTraceListSearch = finderReaderOf({
  sort: oneOf('cost', 'duration', 'first-token'),
  dir: oneOf('asc'),
  live: flag,
  /** Columns, separated by commas. */
  columns: text,
  /** The id of the saved view that was chosen. */
  saved: text,
});

export type TraceListSearch = ReturnType<typeof readTraceListSearch>;
export type SortName = NonNullable<TraceListSearch['sort']>;

/**
 * The part of a search that a saved view keeps. Whether the list follows new traces is not a part of it. The range always
 * is, by its name if it is the default one.
 */
export function stateOf(search: TraceListSearch): TraceListSearch {
  const { q, not, range, from, to, sort, dir, columns } = withNamedRange(search);
  const all = { q, not, range, from, to, sort, dir, columns };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
