/** Queries of analytics: traces ordered by their start, the hourly sums, and evaluations ordered by the start of their traces. */

import { sql } from 'kysely';
import type { Sums } from '../../domain/analytics/sums.ts';
import { SPANS_READ_THROUGH_MAX } from '../../domain/traces/trace-aggregates.ts';
import { columns, pick, rowsOf } from '../plain-queries.ts';
import { change, changeRows, type Db, type Dialect, query } from '../queries.ts';
import { METADATA_BYTES, metadataOf, type OfTraces, START, spanQueries, tracesOf } from '../traces/columns.ts';

export { listFeedback } from '../feedback/queries.ts';
export { listMetadata } from '../search/queries.ts';

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

/** The beginning is enough to see whether the totals of a large trace are outdated. */
const AGGREGATES_START = sql<string | null>`substr(${sql.ref('aggregatesJson')}, 1, 100)`;

const FACTS = [
  START.as('startMs'),
  ...columns('Trace', 'sequence', 'insertedAtMs', 'spanCount', 'hasError', 'promptTokens', 'completionTokens'),
  ...columns('Trace', 'totalCostNanoUsd', 'firstTokenMs', 'durationMs'),
  METADATA_BYTES.as('metadataBytes'),
  AGGREGATES_START.as('aggregatesJson'),
] as const;

export const listTraces = query<OfRange>()((db, params, dialect) => rangeOf(db, params, dialect));

/** Traces that the hourly sums count. */
export const listSmallTraces = query<OfRange>()((db, params, dialect) =>
  rangeOf(db, params, dialect).where('spanCount', '<=', sql.lit(SPANS_READ_THROUGH_MAX)),
);

/** Traces that the hourly sums leave out; the condition is that of their partial index. */
export const listLargeTraces = query<OfRange>()((db, params, dialect) =>
  rangeOf(db, params, dialect).where('spanCount', '>', sql.lit(SPANS_READ_THROUGH_MAX)),
);

function rangeOf(db: Db, params: OfRange, { holds }: Dialect) {
  return (
    rowsOf(db, 'Trace', { projectNumber: params.projectNumber })
      .where(START, '<=', params.toMs)
      // Redundant, but the planner needs it to use the index.
      .where(START, '>=', params.afterMs)
      .where(sql<boolean>`(${START}, ${sql.ref('sequence')}) > (${params.afterMs}, ${params.afterSequence})`)
      .where('insertedAtMs', '>=', params.receivedFromMs)
      .where('insertedAtMs', '<=', params.receivedToMs)
      .where((column) => holds(metadataOf(column), params.firstNeedle))
      .where((column) => holds(metadataOf(column), params.secondNeedle))
      .select(FACTS)
      .orderBy(START)
      .orderBy('sequence')
      .limit(params.limit)
  );
}

export const listNamed = query<OfTraces>()((db, params, dialect) => tracesOf(db, params, dialect).select(FACTS));

export const { listSpans, listSpansBehind } = spanQueries(spansOf);

function spansOf(db: Db, { idText }: Dialect) {
  return db
    .selectFrom('Span')
    .select((column) => [
      'traceSequence as traceSequence',
      idText('spanId').as('spanId'),
      idText('parentId').$castTo<string | null>().as('parentId'),
      ...columns('Span', 'type', 'model', 'startedAtMs', 'promptTokens', 'completionTokens', 'reasoningTokens'),
      ...columns('Span', 'cacheReadInputTokens', 'cacheCreationInputTokens', 'costNanoUsd', 'firstTokenMs'),
      ...columns('Span', 'costSource', 'callRow', 'totalInput', 'totalOutput', 'shareRates', 'durationMs'),
      column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
    ]);
}

export type HourRow = Sums & {
  readonly projectNumber: number;
  readonly grouping: number;
  readonly hour: number;
  readonly receivedHour: number;
  readonly model: string;
};

function add(db: Db, params: HourRow, { orAdd, ownRows, row }: Dialect) {
  const values = { ...row('AnalyticsHour', params, 'writer'), writer: ownRows() };
  return orAdd(db.insertInto('AnalyticsHour').values(values), 'AnalyticsHour');
}

export const addHours = changeRows<HourRow>(add);
export const addHour = change<HourRow>(add);

type OfHours = {
  readonly projectNumber: number;
  readonly grouping: number;
  readonly lastHour: number;
  readonly firstReceivedHour: number;
  /** After this row. */
  readonly afterHour: number;
  readonly afterReceivedHour: number;
  readonly afterModel: string;
  readonly afterWriter: number;
  readonly limit: number;
};

/** By ascending key. */
export const listHours = query<OfHours>()((db, params, { find }) =>
  find(db, 'AnalyticsHour', pick(params, 'projectNumber', 'grouping'), 'projectNumber', 'grouping')
    // Redundant, but the planner needs it to use the key.
    .where('hour', '>=', params.afterHour)
    .where('hour', '<=', params.lastHour)
    .where('receivedHour', '>=', params.firstReceivedHour)
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('hour', 'receivedHour', 'model', 'writer'),
        '>',
        tuple(params.afterHour, params.afterReceivedHour, params.afterModel, params.afterWriter),
      ),
    )
    .orderBy('hour')
    .orderBy('receivedHour')
    .orderBy('model')
    .orderBy('writer')
    .limit(params.limit),
);

/** The processed results of evaluations on several traces, summed up by trace. */
export const sumScores = query<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  rowsOf(db, 'Evaluation', { projectNumber })
    .where(isAmong('traceSequence', sequences))
    .where('status', '=', sql.lit('processed'))
    .select('traceSequence as sequence')
    .select(({ fn }) => [
      fn.count<number>('score').as('scored'),
      sql<number | null>`sum(${sql.ref('score')})`.as('scoreSum'),
      sql<number>`count(case when ${sql.ref('passed')} then 1 end)`.as('passed'),
      sql<number>`count(case when not ${sql.ref('passed')} then 1 end)`.as('failed'),
    ])
    .groupBy('traceSequence'),
);

/** What each trace adds to the hours. */
export const listCounted = query<OfTraces>()((db, params, dialect) =>
  tracesOf(db, params, dialect).select([
    ...columns('Trace', 'projectNumber', 'sequence', 'startedAtMs', 'insertedAtMs', 'spanCount', 'hasError'),
    ...columns('Trace', 'promptTokens', 'completionTokens', 'totalCostNanoUsd'),
  ]),
);

type ScanPosition = {
  /** After the trace with this start and sequence. */
  readonly afterMs: number;
  readonly afterSequence: number;
};

/** START of a trace beside other tables. */
const TRACE_START = sql<number>`coalesce(${sql.ref('Trace.startedAtMs')}, ${sql.ref('Trace.insertedAtMs')})`;

/** The trace at which a range ends: `count` traces further, with or without evaluations. */
export const findTraceBehind = query<
  ScanPosition & { readonly projectNumber: number; readonly toMs: number; readonly count: number }
>()((db, { projectNumber, toMs, afterMs, afterSequence, count }) =>
  db
    .selectFrom('Trace')
    .where('Trace.projectNumber', '=', projectNumber)
    .where(TRACE_START, '<=', toMs)
    // Redundant, but the planner needs it to use the index.
    .where(TRACE_START, '>=', afterMs)
    .where(sql<boolean>`(${TRACE_START}, ${sql.ref('Trace.sequence')}) > (${afterMs}, ${afterSequence})`)
    .select([TRACE_START.as('startMs'), 'Trace.sequence as sequence'])
    .orderBy(TRACE_START)
    .orderBy('Trace.sequence')
    .limit(1)
    .offset(count),
);

type OfPart = ScanPosition & {
  readonly projectNumber: number;
  readonly receivedFromMs: number;
  /** Up to and including this trace. */
  readonly lastMs: number;
  readonly lastSequence: number;
  /** Of the first trace, only evaluations after this id. */
  readonly afterId: string;
  readonly limit: number;
};

export const listEvaluations = query<OfPart>()((db, params, { textOf }) =>
  db
    .selectFrom('Trace')
    // A cross join keeps the traces outermost, in the order of their index.
    .crossJoin('Evaluation')
    .whereRef('Evaluation.projectNumber', '=', 'Trace.projectNumber')
    .whereRef('Evaluation.traceSequence', '=', 'Trace.sequence')
    .where('Trace.projectNumber', '=', params.projectNumber)
    .where(TRACE_START, '>=', params.afterMs)
    .where(TRACE_START, '<=', params.lastMs)
    .where(
      sql<boolean>`(${TRACE_START}, ${sql.ref('Trace.sequence')}, ${sql.ref('Evaluation.evaluationId')}) > (${params.afterMs}, ${params.afterSequence}, ${params.afterId})`,
    )
    .where(sql<boolean>`(${TRACE_START}, ${sql.ref('Trace.sequence')}) <= (${params.lastMs}, ${params.lastSequence})`)
    .where('Trace.insertedAtMs', '>=', params.receivedFromMs)
    .select([
      TRACE_START.as('startMs'),
      'Trace.sequence as sequence',
      ...columns('Evaluation', 'evaluationId', 'evaluatorId', 'monitorId', 'status', 'passed', 'score'),
      textOf('Evaluation.label').as('label'),
    ])
    .orderBy(TRACE_START)
    .orderBy('Trace.sequence')
    .orderBy('Evaluation.evaluationId')
    .limit(params.limit),
);
