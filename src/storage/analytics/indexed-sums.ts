/** What an engine sums up of its index of traces, which knows values by their numbers (see dimensionNumber). */

import type { Span } from '../../domain/analytics/calendar.ts';
import type { Ranked } from '../../domain/analytics/group-ranking.ts';
import type { SummedTrace } from '../../domain/analytics/interval-sums.ts';
import type { Totals } from '../../domain/analytics/sums.ts';
import type { AnalyticsQuery, UserStats } from '../../domain/analytics/trace-analytics-store.ts';

export type IndexedSums = {
  /** The buckets of the groups that `keep` picks. */
  sumUp(query: SumsQuery, keep: KeepGroups): Promise<IndexedAnswer<readonly IndexedBucket[]>>;
  statsOf(query: TracesQuery): Promise<IndexedAnswer<UserStats>>;
};

/** Null: the index cannot answer, because it is being built, or there is too much to keep in memory. */
export type IndexedAnswer<Found> = Found | 'too_long' | null;

/** What groups traces, and what conditions are on. */
export type Dimension = 'user' | 'customer' | 'thread' | 'label';

export type TracesQuery = Pick<AnalyticsQuery, 'projectNumber' | 'fromMs' | 'toMs'> & {
  readonly receivedFromMs: number;
  readonly conditions: readonly Condition[];
  /** The traces that fit, among those that changed since they were indexed. */
  readonly changed: readonly ChangedTrace[];
  /** The sequences of all that changed, in any order. */
  readonly leftOut: readonly number[];
  readonly isOver: () => boolean;
};

export type Condition = { readonly dimension: Dimension; readonly number: number };

export type ChangedTrace = SummedTrace & {
  /** The numbers of its groups; null: it has no value. */
  readonly groups: readonly (number | null)[];
  readonly thread: number | null;
};

export type SumsQuery = TracesQuery &
  Pick<AnalyticsQuery, 'interval' | 'hasPercentiles' | 'groupsMax' | 'bucketsMax'> & {
    /** Null: all traces are one group, whose number is null. */
    readonly groupBy: Dimension | null;
  };

export type IndexedBucket = Span & { readonly number: number | null; readonly totals: Totals };

/** Engines answer null where more groups tie: their names would have to be read. */
export const NAMED_MAX = 20_000;

/** Picks the groups that are answered. Null: it cannot tell. */
export type KeepGroups = (ranking: Ranking) => Promise<readonly (number | null)[] | null>;

export type Ranking = {
  /** The first ones, and all that tie with the last of them. */
  readonly groups: readonly RankedGroup[];
  /** How many there are in all. */
  readonly count: number;
};

export type RankedGroup = Ranked & {
  readonly number: number | null;
  /** Of two traces of the index that have the value; none where only changed traces have it. */
  readonly sequences: readonly number[];
};
