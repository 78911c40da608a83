/** What a run of a batch reads. */

import type { LookupSource, Source } from '../questions.ts';
import type { findRootSpan, listSummaries } from '../traces/questions.ts';
import type * as shared from './questions.ts';

type Questions = {
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

export type Asked = keyof Questions;
export type KeyOf<Name extends Asked> =
  Questions[Name] extends LookupSource<infer Key, unknown>
    ? Key
    : Questions[Name] extends Source<infer Key, unknown>
      ? Key
      : never;
export type Found<Name extends Asked> = Questions[Name] extends
  | LookupSource<never, infer Row>
  | Source<never, infer Row>
  ? Row
  : never;

/** Answers what is stored, or nothing where that is not known yet: then the run is void, and repeated once it is. */
export type Reader = <Name extends Asked>(name: Name, key: KeyOf<Name>) => readonly Found<Name>[];

/** The same outside of a run. */
export type LookUps = {
  readonly [Name in 'findRequest' | 'findEvent']: (key: KeyOf<Name>) => Promise<readonly Found<Name>[]>;
};

/** For batches that are taken to hold nothing that is stored already; the database refuses those that do. */
export const findNothing: Reader = () => [];
