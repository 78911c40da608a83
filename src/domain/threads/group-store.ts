/** The port that lists threads and users, which are the groups of traces with the same thread_id or user_id. */

import type { Totals } from '../analytics/sums.ts';
import type { TraceConditions, TraceRange } from '../analytics/trace-analytics-store.ts';

export type TraceGroups = {
  /**
   * A page of the groups that have traces in a range, in the order of the query. MUST count every append acknowledged before
   * the call, and no trace that was removed or has expired. MUST list each group that does not change on exactly one page.
   * MUST delay neither appends nor other reads, and MUST end within half a minute.
   */
  listGroups(query: GroupsQuery): Promise<GroupsAnswer>;
};

export type GroupField = 'thread_id' | 'user_id';
export type GroupSort = 'last_activity' | 'traces' | 'total_cost' | 'tokens' | 'errors';

export type GroupsQuery = TraceRange & {
  readonly field: GroupField;
  readonly conditions: Pick<TraceConditions, 'userId' | 'customerId' | 'label'>;
  /** Only groups with it in the texts of a trace, or at the beginning of their name, once it is folded. Empty: any. */
  readonly text: string;
  readonly sort: GroupSort;
  readonly isAscending: boolean;
  /** Groups after this position; null: from the first on. */
  readonly after: GroupPosition | null;
  readonly limit: number;
};

/** Groups with equal keys come by their last activity, then by a number that a store derives from the name. */
export type GroupPosition = { readonly key: number; readonly lastMs: number; readonly number: number };

export type GroupsAnswer =
  | {
      readonly kind: 'groups';
      readonly groups: readonly ListedGroup[];
      /** Null: there are no others. */
      readonly next: GroupPosition | null;
      /** Whether groups may be missing, because the text was not looked for in all traces. */
      readonly isPartial: boolean;
    }
  | { readonly kind: 'too_long' };

export type ListedGroup = {
  readonly name: string;
  readonly totals: Totals;
  readonly first: GroupTrace;
  readonly last: GroupTrace;
  readonly scores: GroupScores;
};

export type GroupTrace = { readonly traceId: string; readonly startMs: number };

/** Of the processed evaluations of the newest SCORED_TRACES_MAX traces; the mean is null without scores. */
export type GroupScores = {
  readonly mean: number | null;
  readonly scored: number;
  readonly passed: number;
  readonly failed: number;
};

export const SCORED_TRACES_MAX = 200;

/** The order of a page. */
export function compareGroups(one: GroupPosition, other: GroupPosition, isAscending: boolean): number {
  const difference = one.key - other.key || one.lastMs - other.lastMs || one.number - other.number;
  return isAscending ? difference : -difference;
}
