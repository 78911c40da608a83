/** The port of search: what finds traces. Apart from all else, so that another store can answer it. */

import type { SearchFilter } from './trace-filter.ts';
import type { TraceSort } from './trace-search-query.ts';

export type TraceSearch = {
  /**
   * Traces in the order asked for. MUST see every append acknowledged before the call, MUST leave out no trace that
   * fits and answer none that does not, MUST NOT hold up appends, and MUST end within a few seconds: what was not looked at
   * by then is told by `next`.
   */
  find(question: SearchQuestion): Promise<FoundTraces>;
  /**
   * Which of some traces fit which filters; those that fit none, or are gone, are left out. MUST see every append acknowledged
   * before the call, MUST judge as `find` does, MUST keep the order of the ids, MUST NOT hold up appends, and MUST end about
   * a second after it has begun, with one trace judged at least: ids that it did not come to by then are told by `left`.
   */
  match(question: MatchQuestion): Promise<Matched>;
};

/** What makes searches fast. They answer the same whether or not any of it was done. */
export type SearchIndex = {
  /** Puts some new and changed traces into the index. `done`: there are too few everywhere to be worth it. */
  step(): Promise<'more' | 'done'>;
  /** How many traces are not in the index as they are now. */
  countUnindexed(): Promise<number>;
};

export type SearchQuestion = {
  readonly projectNumber: number;
  /** A trace that came in before this instant counts as gone; null: none does. */
  readonly goneBeforeMs: number | null;
  readonly started: InstantRange;
  readonly updated: InstantRange;
  readonly sort: TraceSort;
  readonly isAscending: boolean;
  /** Only these, at most 1,000; null: all. */
  readonly traceIds: readonly string[] | null;
  readonly filter: SearchFilter;
  /** Traces behind this place; null: from the first on. */
  readonly after: SearchPlace | null;
  /** Most traces to answer. */
  readonly limit: number;
  /** Up to how many that fit are counted, those before `after` as well; null: none. */
  readonly countMax: number | null;
};

export type MatchQuestion = Pick<SearchQuestion, 'projectNumber' | 'goneBeforeMs'> & {
  /** At most MATCHED_AT_ONCE. */
  readonly traceIds: readonly string[];
  readonly filters: readonly SearchFilter[];
};

export const MATCHED_AT_ONCE = 1_000;

export type Matched = {
  readonly traces: readonly MatchedTrace[];
  /** The last of the ids, where time was up before them. */
  readonly left: readonly string[];
};

export type MatchedTrace = {
  readonly traceId: string;
  readonly updatedAtMs: number;
  /** The places of the filters that it fits; at least one. */
  readonly fits: readonly number[];
};

/** Both ends included. */
export type InstantRange = { readonly fromMs: number; readonly toMs: number };

/** Where a trace stands in an order; `key` is its value, or one behind all others where it has none. */
export type SearchPlace = { readonly key: number; readonly traceId: string };

export type FoundTraces = {
  readonly traces: readonly SearchPlace[];
  /** Behind which to go on; null: there are no others. */
  readonly next: SearchPlace | null;
  /** Null where it was not asked for. */
  readonly total: SearchTotal | null;
};

/** How many fit: `count` is less than there may be unless it is exact. */
export type SearchTotal = { readonly count: number; readonly isExact: boolean };

/** What searches count; beyond it a total only says that there are more. */
export const TOTAL_MAX = 10_000;
