/** The port of spend: what sums up the requests that the log tells of. Apart from all else, so that another store can answer it. */

export type SpendStore = {
  /**
   * What requests that happened in a range come to. MUST count every request whose outcome was acknowledged before the
   * call, each once and as its newest event in the log tells, and none whose newest event is past its term. MUST be exact
   * at both ends of the range, MUST answer the same whether or not anything was put into blocks, MUST hold up neither
   * appends nor other reads, and MUST end within half a minute.
   */
  sum(question: SpendQuestion): Promise<SpendAnswer>;
};

/** What makes sums fast. They are the same whether or not any of it was done. */
export type SpendBlocks = {
  /** Puts some events of the log into a block. `done`: there are too few everywhere to be worth it. */
  step(): Promise<'more' | 'done'>;
};

/** What requests are told apart by. */
export const SPEND_DIMENSIONS = ['project', 'model', 'virtual_key', 'principal', 'end_user', 'label'] as const;
export type SpendDimension = (typeof SPEND_DIMENSIONS)[number];

export type SpendOrder = 'cost' | 'requests';

export type SpendQuestion = {
  readonly organizationNumber: number;
  /** Events created before this instant are out of the log. */
  readonly goneBeforeMs: number;
  /** When the requests happened; both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: all requests are one group. */
  readonly groupBy: SpendDimension | null;
  /** What requests have to be; empty: they have no such thing. */
  readonly filters: { readonly [D in SpendDimension]?: string };
  /** The most first. */
  readonly order: SpendOrder;
  /** Only groups behind this place; null: from the first on. */
  readonly after: SpendPlace | null;
  /** Most groups to answer. */
  readonly limit: number;
};

/** Where a group stands: by what it comes to, then by its name (see group-order.ts). */
export type SpendPlace = { readonly rank: bigint; readonly nameKey: string };

export const SPENT = [
  'requests',
  'errors',
  'unpriced',
  'costNanoUsd',
  'inputTokens',
  'outputTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'reasoningTokens',
] as const;

/** What requests come to. `unpriced` are those whose cost is unknown. */
export type Spent = { readonly [Each in (typeof SPENT)[number]]: bigint };

/** Null: of requests that have no such thing, or of all. */
export type SpentGroup = { readonly group: string | null; readonly spent: Spent };

export type SpendAnswer =
  | {
      readonly kind: 'groups';
      /** In order. */
      readonly groups: readonly SpentGroup[];
      /** Of all groups; a request that is in several counts once. */
      readonly total: Spent;
    }
  | { readonly kind: 'too_long' };
