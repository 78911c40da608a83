/** Queries of analytics: traces ordered by their start. */

import { sql } from 'kysely';
import { SPANS_READ_THROUGH_MAX } from '../../domain/traces/trace-aggregates.ts';
import { type Db, type Dialect, query } from '../queries.ts';

type OfRange = {
  readonly projectNumber: number;
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
  readonly toMs: number;
  /** After the trace with this start and sequence. */
  readonly afterMs: number;
  readonly afterSequence: number;
  readonly limit: number;
  /** A substring that the metadata must contain; null: any. */
  readonly firstNeedle: string | null;
  readonly secondNeedle: string | null;
};

/** The start of a trace; without spans, its receipt. The database index has the same expression. */
const START = sql<number>`coalesce(${sql.ref('startedAtMs')}, ${sql.ref('insertedAtMs')})`;

/** The beginning is enough to see whether the totals of a large trace are outdated. */
const AGGREGATES_START = sql<string | null>`substr(${sql.ref('aggregatesJson')}, 1, 100)`;

export const listTraces = query<OfRange>()((db, params, dialect) => tracesOf(db, params, dialect));

/** Traces that the hourly sums count. */
export const listSmallTraces = query<OfRange>()((db, params, dialect) =>
  tracesOf(db, params, dialect).where('spanCount', '<=', sql.lit(SPANS_READ_THROUGH_MAX)),
);

/** Traces that the hourly sums leave out; the condition is that of their partial index. */
export const listLargeTraces = query<OfRange>()((db, params, dialect) =>
  tracesOf(db, params, dialect).where('spanCount', '>', sql.lit(SPANS_READ_THROUGH_MAX)),
);

function tracesOf(db: Db, params: OfRange, { holds }: Dialect) {
  return (
    db
      .selectFrom('Trace')
      .where('projectNumber', '=', params.projectNumber)
      .where(START, '<=', params.toMs)
      // Redundant, but the planner needs it to use the index.
      .where(START, '>=', params.afterMs)
      .where(sql<boolean>`(${START}, ${sql.ref('sequence')}) > (${params.afterMs}, ${params.afterSequence})`)
      .where('insertedAtMs', '>=', params.receivedFromMs)
      .where('insertedAtMs', '<=', params.receivedToMs)
      .where(holds('metadataJson', params.firstNeedle))
      .where(holds('metadataJson', params.secondNeedle))
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
      .limit(params.limit)
  );
}

type OfTraces = { readonly projectNumber: number; readonly sequences: readonly number[] };

export const listDurations = query<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    // The addition keeps the planner from scanning the whole project for traces that are named by their sequences.
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

export const listMetadata = query<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    .where('projectNumber', '=', projectNumber)
    .where(isAmong('sequence', sequences))
    .select(['sequence as sequence', 'metadataJson as metadataJson']),
);

export const listSpans = query<OfTraces>()((db, { projectNumber, sequences }, dialect) =>
  spansOf(db, dialect).where('projectNumber', '=', projectNumber).where(dialect.isAmong('traceSequence', sequences)),
);

type BehindSpan = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly after: string;
  readonly limit: number;
};

/** A page of the spans of one trace, which may have many; an empty `after` starts at the first. */
export const listSpansBehind = query<BehindSpan>()((db, { projectNumber, sequence, after, limit }, dialect) =>
  spansOf(db, dialect)
    .where('projectNumber', '=', projectNumber)
    .where('traceSequence', '=', sequence)
    .where('spanId', '>', dialect.storedId(after))
    .orderBy('spanId')
    .limit(limit),
);

function spansOf(db: Db, { idText }: Dialect) {
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
