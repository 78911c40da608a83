/** The search parameters of the trace list. */

import { flag, oneOf, type SearchOf, text } from '../layout/search.ts';
import { type RangeSearch, rangeReaderOf } from './range.ts';

/** The parameters that select traces, besides a range. */
export const FINDER = {
  /** The query line. */
  q: text,
  /** Inverts the filters. */
  not: flag,
};

export type FinderSearch = RangeSearch & SearchOf<typeof FINDER>;

export const readTraceListSearch = rangeReaderOf({
  ...FINDER,
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
