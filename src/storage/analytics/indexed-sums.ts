/** What an engine sums up of its index of traces, which knows values by their numbers (see dimensionNumber). */

import type { Span } from '../../domain/analytics/calendar.ts';
import { addToBucket } from '../../domain/analytics/distribution.ts';
import type { Ranked } from '../../domain/analytics/group-ranking.ts';
import type { SummedTrace } from '../../domain/analytics/interval-sums.ts';
import type { Sums, Totals } from '../../domain/analytics/sums.ts';
import type { AnalyticsQuery, UserStats } from '../../domain/analytics/trace-analytics-store.ts';
import type { GroupPosition, GroupsQuery } from '../../domain/threads/group-store.ts';
import type { IndexedModel } from '../search/trace-index.ts';

export type IndexedSums = {
  /** The buckets of the groups that `keep` picks. */
  sumUp(query: SumsQuery, keep: KeepGroups): Promise<IndexedAnswer<readonly IndexedBucket[]>>;
  statsOf(query: TracesQuery): Promise<IndexedAnswer<UserStats>>;
  /** How many traces of whole days have durations of each size. */
  countDurations(query: DurationCountsQuery): Promise<DurationCounts | null>;
  /** The durations of all traces but those that changed, in any order. */
  listDurations(query: TracesQuery, known: DurationName | null): Promise<IndexedAnswer<Durations>>;
  /** Null: the index has no durations of spans. */
  readonly modelDurations: ModelDurations | null;
  /** The first groups after a position, in the order of the query. */
  rankGroups(query: RankQuery): Promise<IndexedAnswer<readonly GroupPosition[]>>;
  /** The sums of some groups, in any order. */
  sumGroups(query: NamedGroups): Promise<IndexedAnswer<readonly IndexedGroup[]>>;
};

export type ModelDurations = {
  /** How many spans have durations of each size, by model (see modelNumber), in each of the ranges. */
  count(query: ModelDurationsQuery): Promise<IndexedAnswer<readonly ModelCounts[]>>;
  /** The durations of spans that are in some buckets, in any order. */
  list(query: ModelDurationsQuery, buckets: readonly RangeBucket[]): Promise<IndexedAnswer<readonly ListedDuration[]>>;
};

/** Null: the index cannot answer, because it is being built, or there is too much to keep in memory. */
export type IndexedAnswer<Found> = Found | 'too_long' | null;

/** What groups traces, and what conditions are on. A trace has at most one value of the first three. */
export type Dimension = 'user' | 'customer' | 'thread' | ListDimension;
type ListDimension = 'label' | 'prompt' | 'promptVersion' | 'promptName';

/** Whether a trace may have several values. */
export function isListed(dimension: Dimension): dimension is ListDimension {
  return dimension !== 'user' && dimension !== 'customer' && dimension !== 'thread';
}

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
  readonly sequence: number;
  /** The numbers of its groups; null: it has no value. */
  readonly groups: readonly (number | null)[];
  readonly thread: number | null;
};

/** What lists of groups are about. */
export type ListedDimension = Extract<Dimension, 'user' | 'thread'>;

export type RankQuery = TracesQuery &
  Pick<GroupsQuery, 'sort' | 'isAscending' | 'after' | 'limit'> & {
    readonly dimension: ListedDimension;
    /** Only these groups; null: all. */
    readonly numbers: readonly number[] | null;
  };

export type NamedGroups = TracesQuery & { readonly dimension: ListedDimension; readonly numbers: readonly number[] };

export type IndexedGroup = {
  readonly number: number;
  readonly sums: Sums;
  /** Sequences of its first and its last trace by start; traces that start together are in the order of their sequences. */
  readonly first: number;
  readonly last: number;
  /** Sequences of the last SCORED_TRACES_MAX traces. */
  readonly latest: readonly number[];
};

export type SumsQuery = TracesQuery &
  Pick<AnalyticsQuery, 'interval' | 'hasPercentiles' | 'groupsMax' | 'bucketsMax'> & {
    /** Null: all traces are one group, whose number is null. */
    readonly groupBy: Dimension | null;
  };

export type IndexedBucket = Span & { readonly number: number | null; readonly totals: Totals };

/** The durations that are counted by day, and their columns of the index. */
export const DURATION_COLUMNS = { totalTimeMs: 'total_time_ms', firstTokenMs: 'first_token_ms' } as const;
export type DurationName = keyof typeof DURATION_COLUMNS;
export type Durations = Readonly<Record<DurationName, readonly number[]>>;

/** With more durations to list, engines return null. */
export const DURATIONS_MAX = 1_000_000;

/** Days of UTC, counted from 1970; both ends are inclusive. */
export type DayRange = { readonly firstDay: number; readonly lastDay: number };

export type DurationCountsQuery = Pick<TracesQuery, 'projectNumber' | 'receivedFromMs' | 'leftOut'> & {
  readonly ranges: readonly DayRange[];
};

export type DurationCounts = {
  /** By the range's place in the query: how many of its traces have a duration in a bucket (number-buckets.ts). */
  readonly counts: readonly DurationCount[];
  /** Days of which nothing is counted: the term of some of their traces is over. */
  readonly cutDays: readonly number[];
  /** What the index has of the traces that are left out. They are counted. */
  readonly leftOut: readonly TimedTrace[];
};

export type DurationCount = {
  readonly place: number;
  readonly name: DurationName;
  readonly bucket: number;
  readonly traces: number;
};

/** What a duration is, where the durations of a trace are stored one after the other. */
export const DURATION_KINDS: Readonly<Record<DurationName, number>> = { totalTimeMs: 0, firstTokenMs: 1 };

export function durationOfKind(kind: number): DurationName {
  return kind === DURATION_KINDS.firstTokenMs ? 'firstTokenMs' : 'totalTimeMs';
}

/** The durations of the spans of a trace, one after the other. */
export function listDurations(models: readonly IndexedModel[]): readonly KindDuration[] {
  return models.flatMap(({ model, totalTimesMs, firstTokensMs }) => [
    ...totalTimesMs.map((value) => ({ model, kind: DURATION_KINDS.totalTimeMs, value })),
    ...firstTokensMs.map((value) => ({ model, kind: DURATION_KINDS.firstTokenMs, value })),
  ]);
}

type KindDuration = { readonly model: number; readonly kind: number; readonly value: number };

/** Both ends are inclusive. */
export type TimeRange = Pick<TracesQuery, 'fromMs' | 'toMs'>;

/** Traces that are left out have no spans in the answers. */
export type ModelDurationsQuery = Pick<TracesQuery, 'projectNumber' | 'receivedFromMs' | 'leftOut' | 'isOver'> & {
  /** They do not overlap, and are few. */
  readonly ranges: readonly TimeRange[];
};

/** Spans by bucket (number-buckets.ts), by name, by the number of their model. */
export type ModelCounts = Map<number, Readonly<Record<DurationName, Map<number, number>>>>;

/** Counts more spans of a bucket, or fewer. */
export function addSpans(counts: ModelCounts, { model, name, bucket }: ModelBucket, spans: number): void {
  const ofModel = counts.get(model) ?? { totalTimeMs: new Map(), firstTokenMs: new Map() };
  counts.set(model, ofModel);
  addToBucket(ofModel[name], bucket, spans);
}

/** The spans of a model that have a duration of a size. */
export type ModelBucket = { readonly model: number; readonly name: DurationName; readonly bucket: number };
/** `range`: the place of its range in the query. */
export type RangeBucket = ModelBucket & { readonly range: number };
/** A duration that some spans have. `place`: that of its bucket in the list of those asked for. */
export type ListedDuration = { readonly place: number; readonly value: number; readonly spans: number };

export type TimedTrace = Pick<SummedTrace, 'startMs' | DurationName>;

/** Engines return null where more groups tie: their names would have to be read. */
export const NAMED_MAX = 20_000;

/** Picks the groups that are returned. Null: it cannot tell. */
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
