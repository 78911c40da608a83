/** The reads of a run, which applies a batch to its tables. */

import type { LookupSource, Source } from '../queries.ts';
import type { findRootSpan, listSummaries } from '../traces/queries.ts';
import type * as shared from './queries.ts';

type Queries = {
  readonly findTrace: typeof shared.findTrace;
  readonly findSpan: typeof shared.findSpan;
  readonly findWholeSpan: typeof shared.findWholeSpan;
  readonly findSpanId: typeof shared.findSpanId;
  readonly findRequest: typeof shared.findRequest;
  readonly findGovernanceEvent: typeof shared.findGovernanceEvent;
  readonly findLogHead: typeof shared.findLogHead;
  readonly findEvent: typeof shared.findEvent;
  readonly findJob: typeof shared.findJob;
  readonly findRootSpan: typeof findRootSpan;
  readonly listOverdue: typeof shared.listOverdue;
  readonly listSummaries: typeof listSummaries;
};

export type ReadName = keyof Queries;
export type KeyOf<Name extends ReadName> =
  Queries[Name] extends LookupSource<infer Key, unknown>
    ? Key
    : Queries[Name] extends Source<infer Key, unknown>
      ? Key
      : never;
export type Found<Name extends ReadName> = Queries[Name] extends
  | LookupSource<never, infer Row>
  | Source<never, infer Row>
  ? Row
  : never;

/**
 * Answers the stored rows, or nothing when they are not loaded yet: then the run is void, and repeated once they are.
 */
export type Reader = <Name extends ReadName>(name: Name, key: KeyOf<Name>) => readonly Found<Name>[];

/** The same reads outside of a run. */
export type LookUps = {
  readonly [Name in 'findRequest' | 'findEvent']: (key: KeyOf<Name>) => Promise<readonly Found<Name>[]>;
};

/** For batches that are assumed to hold only new rows; the database refuses the others. */
export const findNothing: Reader = () => [];
