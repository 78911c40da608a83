/** The port that sums the requests in the event log. It is separate from the other ports so that another store can serve it. */

import { USAGE_NAMES } from '../events/request-content.ts';

export type SpendStore = {
  /**
   * The totals of the requests of a range. MUST count every request whose outcome was acknowledged before the call, once
   * and by its newest event in the log, and no request whose newest event has expired. MUST be exact at both ends of the
   * range, MUST return the same whether or not blocks were built, MUST delay neither appends nor other reads, and MUST
   * end within half a minute.
   */
  sum(query: SpendQuery): Promise<SpendAnswer>;
};

/** By what requests are filtered and grouped. */
export const SPEND_DIMENSIONS = [
  ...(['project', 'model', 'virtual_key', 'principal', 'end_user', 'label'] as const),
  ...(['prompt_id', 'prompt_version'] as const),
] as const;
export type SpendDimension = (typeof SPEND_DIMENSIONS)[number];

export type SpendOrder = 'cost' | 'requests';

export type SpendQuery = {
  readonly organizationNumber: number;
  /** Events created before this instant have expired. */
  readonly expiredBeforeMs: number;
  /** The instants at which requests happened; both ends are inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: all requests are one group. */
  readonly groupBy: SpendDimension | null;
  /** An empty text selects requests without a value; any name of a prompt, or of its version, selects its requests. */
  readonly filters: { readonly [D in SpendDimension]?: string };
  /** The largest first. */
  readonly order: SpendOrder;
  /** Only groups after this position; null: from the first on. */
  readonly after: SpendPosition | null;
  /** Most groups to return. */
  readonly limit: number;
};

/** The position of a group in the order of group-order.ts. */
export type SpendPosition = { readonly rank: bigint; readonly nameKey: string };

export const SPEND_MEASURES = ['requests', 'errors', 'unpriced', 'costNanoUsd', ...USAGE_NAMES] as const;

/** `unpriced` counts requests of unknown cost. */
export type SpendTotals = { readonly [Each in (typeof SPEND_MEASURES)[number]]: bigint };

/** Null: requests without a value, or all where nothing is grouped. */
export type SpendGroup = { readonly group: string | null; readonly spent: SpendTotals };

export type SpendAnswer =
  | {
      readonly kind: 'groups';
      /** In the order of the query. */
      readonly groups: readonly SpendGroup[];
      /** Over all groups; a request in several groups counts once. */
      readonly total: SpendTotals;
    }
  | { readonly kind: 'too_long' };
