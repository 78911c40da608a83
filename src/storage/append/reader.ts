/** The reads of a run, which applies a batch to its tables. */

import type { LookupSource, QuerySource } from '../queries.ts';
import type * as traces from '../traces/queries.ts';
import type * as shared from './queries.ts';

/** In the order in which all transactions lock. */
export const READ_NAMES = [
  ...([
    'findLogHead',
    'findTrace',
    'findMetadata',
    'findLargeTexts',
    'findSpan',
    'findPricedSpan',
    'findCallTexts',
    'findSpanId',
    'findUsageNode',
    'listSummaries',
    'listOverdue',
  ] as const),
  ...(['findRequest', 'findEvent', 'findGovernanceEvent', 'findRootSpan', 'findJob'] as const),
  // Leases before buckets, as in budgets/leases.ts.
  ...(['findOwner', 'findBudgetVersion', 'listActiveBudgets', 'findLease', 'findBucket'] as const),
] as const;
export type ReadName = (typeof READ_NAMES)[number];
type OfTraces = 'findRootSpan' | 'listSummaries';
type Queries = Pick<typeof shared, Exclude<ReadName, OfTraces>> & Pick<typeof traces, OfTraces>;

export type KeyOf<Name extends ReadName> =
  Queries[Name] extends LookupSource<infer Key, unknown>
    ? Key
    : Queries[Name] extends QuerySource<infer Key, unknown>
      ? Key
      : never;
export type Found<Name extends ReadName> = Queries[Name] extends
  | LookupSource<never, infer Row>
  | QuerySource<never, infer Row>
  ? Row
  : never;

/**
 * Returns the stored rows, or nothing when they are not loaded yet: then the run is void, and repeated once they are.
 * `bytes`: about what the rows take, where that is known before they are read.
 */
export type Reader = <Name extends ReadName>(
  name: Name,
  key: KeyOf<Name>,
  bytes?: number | null,
) => readonly Found<Name>[];

/** The same reads outside of a run. */
export type LookUps = {
  readonly [Name in 'findRequest' | 'findEvent']: (key: KeyOf<Name>) => Promise<readonly Found<Name>[]>;
};

/** For batches that are assumed to hold only new rows; the database refuses the others. */
export const findNothing: Reader = () => [];
