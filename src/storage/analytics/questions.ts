/** What analytics ask of traces: they are gone through in the order in which they began. */

import { sql } from 'kysely';
import { SPANS_READ_THROUGH_MAX } from '../../domain/trace-aggregates.ts';
import { type Db, question, type Words } from '../questions.ts';

type OfRange = {
  readonly projectNumber: number;
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
  readonly toMs: number;
  /** Behind the trace that began then and has this sequence. */
  readonly afterMs: number;
  readonly afterSequence: number;
  readonly limit: number;
  /** Text that the metadata has to hold; null: any. */
  readonly firstNeedle: string | null;
  readonly secondNeedle: string | null;
};

/** When a trace began: one without spans, when it came in. As the index has it. */
const START = sql<number>`coalesce(${sql.ref('startedAtMs')}, ${sql.ref('insertedAtMs')})`;

/** Enough to tell whether the totals of a large trace are outdated. */
const AGGREGATES_START = sql<string | null>`substr(${sql.ref('aggregatesJson')}, 1, 100)`;

export const listTraces = question<OfRange>()((db, given, words) => tracesOf(db, given, words));

/** Those that the hours hold. */
export const listSmallTraces = question<OfRange>()((db, given, words) =>
  tracesOf(db, given, words).where('spanCount', '<=', sql.lit(SPANS_READ_THROUGH_MAX)),
);

/** Those that they do not; as the index of them has it. */
export const listLargeTraces = question<OfRange>()((db, given, words) =>
  tracesOf(db, given, words).where('spanCount', '>', sql.lit(SPANS_READ_THROUGH_MAX)),
);

function tracesOf(db: Db, given: OfRange, { holds }: Words) {
  return (
    db
      .selectFrom('Trace')
      .where('projectNumber', '=', given.projectNumber)
      .where(START, '<=', given.toMs)
      // It says nothing new, but is where the index is entered.
      .where(START, '>=', given.afterMs)
      .where(sql<boolean>`(${START}, ${sql.ref('sequence')}) > (${given.afterMs}, ${given.afterSequence})`)
      .where('insertedAtMs', '>=', given.receivedFromMs)
      .where('insertedAtMs', '<=', given.receivedToMs)
      .where(holds('metadataJson', given.firstNeedle))
      .where(holds('metadataJson', given.secondNeedle))
      .select([
        START.as('startMs'),
        'sequence as sequence',
        'spanCount as spanCount',
        'hasError as hasError',
        'promptTokens as promptTokens',
        'completionTokens as completionTokens',
        'totalCostNanoUsd as totalCostNanoUsd',
        'firstTokenMs as firstTokenMs',
        'durationMs as durationMs',
        sql<number>`octet_length(${sql.ref('metadataJson')})`.as('metadataBytes'),
        AGGREGATES_START.as('aggregatesJson'),
      ])
      .orderBy(START)
      .orderBy('sequence')
      .limit(given.limit)
  );
}

type OfTraces = { readonly projectNumber: number; readonly sequences: readonly number[] };

export const listDurations = question<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    // The addition keeps a database from going through a whole project for traces that are named by their sequences.
    .where(sql<number>`${sql.ref('projectNumber')} + 0`, '=', projectNumber)
    .where(isAmong('sequence', sequences))
    .select([
      'sequence as sequence',
      START.as('startMs'),
      'insertedAtMs as insertedAtMs',
      'spanCount as spanCount',
      'durationMs as durationMs',
      'firstTokenMs as firstTokenMs',
    ]),
);

export const listMetadata = question<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    .where('projectNumber', '=', projectNumber)
    .where(isAmong('sequence', sequences))
    .select(['sequence as sequence', 'metadataJson as metadataJson']),
);

export const listSpans = question<OfTraces>()((db, { projectNumber, sequences }, words) =>
  spansOf(db, words).where('projectNumber', '=', projectNumber).where(words.isAmong('traceSequence', sequences)),
);

type BehindSpan = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly after: string;
  readonly limit: number;
};

/** The same of one trace, which may have many: some at a time, from the first on behind an empty text. */
export const listSpansBehind = question<BehindSpan>()((db, { projectNumber, sequence, after, limit }, words) =>
  spansOf(db, words)
    .where('projectNumber', '=', projectNumber)
    .where('traceSequence', '=', sequence)
    .where('spanId', '>', words.storedId(after))
    .orderBy('spanId')
    .limit(limit),
);

function spansOf(db: Db, { idText }: Words) {
  return db
    .selectFrom('Span')
    .select((column) => [
      'traceSequence as traceSequence',
      idText('spanId').as('spanId'),
      'model as model',
      'startedAtMs as startedAtMs',
      'promptTokens as promptTokens',
      'completionTokens as completionTokens',
      'costNanoUsd as costNanoUsd',
      'firstTokenMs as firstTokenMs',
      'durationMs as durationMs',
      column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
    ]);
}
