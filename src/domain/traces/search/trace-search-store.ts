/** The port of search, separate from other ports so that another store can implement it. */

import type { Facet, SearchFilter } from './trace-filter.ts';
import type { TraceSort } from './trace-search-query.ts';

export type TraceSearch = {
  /**
   * Traces in the requested order. MUST see every append acknowledged before the call, MUST return all matching
   * traces and no others, MUST NOT delay appends, and MUST end within a few seconds: `next` points to the unread rest.
   */
  find(query: SearchQuery): Promise<FoundTraces>;
  /**
   * Which traces match which filters; leaves out expired traces and those that match none. MUST see every append acknowledged
   * before the call, MUST match as `find` does, MUST keep the order of the ids, MUST NOT delay appends, and MUST end
   * about a second after its start with at least one trace tested: `left` has the ids of the untested ones.
   */
  match(query: MatchQuery): Promise<Matched>;
  /**
   * The most frequent values of filters in the newest traces that match, those that most traces have first. MUST see
   * every append acknowledged before the call, MUST match as `find` does, MUST return no value without a matching trace,
   * MUST call no count exact that is not, MUST call an answer complete only if no value is missing, MUST NOT delay
   * appends, and MUST end within a few seconds, with little to read within a tenth of one.
   */
  listValues(query: ValuesQuery): Promise<FoundValues>;
};

/** How far the driver's index for searches is. */
export type SearchProgress = {
  /** How many traces the index lacks or has outdated. */
  countUnindexed(): Promise<number>;
};

export type SearchQuery = {
  readonly projectNumber: number;
  /** A trace first received before this instant has expired; null: none has. */
  readonly expiredBeforeMs: number | null;
  readonly started: InstantRange;
  readonly updated: InstantRange;
  readonly sort: TraceSort;
  readonly isAscending: boolean;
  /** Only these, at most 1,000; null: all. */
  readonly traceIds: readonly string[] | null;
  readonly filter: SearchFilter;
  /** Traces after this position; null: all. */
  readonly after: SearchPosition | null;
  /** Most traces to return. */
  readonly limit: number;
  /** Counts matches up to this number, also those before `after`; null: no count. */
  readonly countMax: number | null;
};

export type MatchQuery = Pick<SearchQuery, 'projectNumber' | 'expiredBeforeMs'> & {
  /** At most MATCH_BATCH_MAX. */
  readonly traceIds: readonly string[];
  readonly filters: readonly SearchFilter[];
};

export const MATCH_BATCH_MAX = 1_000;

export type Matched = {
  readonly traces: readonly MatchedTrace[];
  /** The last ids, when time ran out before them. */
  readonly left: readonly string[];
};

export type MatchedTrace = {
  readonly traceId: string;
  readonly updatedAtMs: number;
  /** Indexes of the filters that it matches; at least one. */
  readonly fits: readonly number[];
};

export type ValuesQuery = Pick<SearchQuery, 'projectNumber' | 'expiredBeforeMs' | 'started' | 'updated' | 'filter'> & {
  /** Which traces are the newest: those that started or changed last. */
  readonly sort: 'started_at' | 'updated_at';
  readonly facets: readonly Facet[];
  /** Folded (fold-text.ts); only values that begin with it once they are folded. Empty: any. */
  readonly prefix: string;
  /** Most values of each facet. */
  readonly limit: number;
};

export type FoundValues = {
  /** In the order of the query. */
  readonly facets: readonly (readonly ValueCount[])[];
  /** Whether all matching traces were read: otherwise values may be missing. */
  readonly isComplete: boolean;
};

/** How many traces have a value. */
export type ValueCount = SearchTotal & { readonly value: string };

/** Both ends included. */
export type InstantRange = { readonly fromMs: number; readonly toMs: number };

export const EVER: InstantRange = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };

/** Finds all traces of a project and counts none; a query overrides what it restricts. */
export const ALL_TRACES = {
  expiredBeforeMs: null,
  started: EVER,
  updated: EVER,
  traceIds: null,
  filter: { conditions: [], isNegated: false, text: '' },
  after: null,
  countMax: null,
} as const satisfies Partial<SearchQuery>;

/** Position of a trace in an order; `key` is its sort value, or one that sorts last without a value. */
export type SearchPosition = { readonly key: number; readonly traceId: string };

export type FoundTraces = {
  readonly traces: readonly SearchPosition[];
  /** Where to continue; null: there are no others. */
  readonly next: SearchPosition | null;
  /** Null when not requested. */
  readonly total: SearchTotal | null;
};

/** How many match: `count` is a lower bound unless it is exact. */
export type SearchTotal = { readonly count: number; readonly isExact: boolean };

/** Limit of counts; beyond it a total only says that there are more. */
export const TOTAL_MAX = 10_000;
