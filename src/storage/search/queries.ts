/** Queries of searches: traces in an order, and the facts that filters check. */

import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import { SEARCHED_JSON, type SearchedJson } from '../../domain/traces/search/search-text.ts';
import { columns, rowsOf } from '../plain-queries.ts';
import { type Db, type Dialect, query, type Tables } from '../queries.ts';
import {
  type BehindSpan,
  METADATA_BYTES,
  metadataOf,
  type OfTraces,
  START,
  spanQueries,
  tracesOf,
} from '../traces/columns.ts';

/** The parameters of every order. A missing bound is as wide as possible; a missing needle is null. */
export type TracesParams = {
  readonly projectNumber: number;
  readonly expiredBeforeMs: number;
  readonly startedFromMs: number;
  readonly startedToMs: number;
  readonly updatedFromMs: number;
  readonly updatedToMs: number;
  /** Bounds on whether traces have an error: 0 or 1. */
  readonly errorsFrom: number;
  readonly errorsTo: number;
  /** Substrings that the metadata must contain. */
  readonly firstNeedle: string | null;
  readonly secondNeedle: string | null;
};

export { listAnnotationFacts, listScores } from '../annotations/queries.ts';
export { listFeedbackFacts } from '../feedback/queries.ts';

type PageParams = TracesParams & { readonly key: number; readonly traceId: string; readonly limit: number };
type Direction = 'asc' | 'desc';

const UPDATE = sql<number>`${sql.ref('updatedAtMs')}`;

/** As a number, because the databases take different booleans as parameters. */
const ERROR = sql<number>`case when ${sql.ref('hasError')} then 1 else 0 end`;

/** Traces without a value come last in both directions. */
function orLast(value: Expression<unknown>, direction: Direction) {
  const last = direction === 'asc' ? Number.MAX_SAFE_INTEGER : -1;
  return sql<number>`coalesce(${value}, ${sql.lit(last)})`;
}

type Index = 'start' | 'update' | 'any';

/** The addition keeps the planner from using the other index, which would need a sort. */
function rangeOf(db: Db, params: TracesParams, { holds }: Dialect, index: Index) {
  const start = index === 'update' ? sql<number>`${START} + 0` : START;
  const update = index === 'start' ? sql<number>`${UPDATE} + 0` : UPDATE;
  return rowsOf(db, 'Trace', { projectNumber: params.projectNumber })
    .where('insertedAtMs', '>=', params.expiredBeforeMs)
    .where(start, '>=', params.startedFromMs)
    .where(start, '<=', params.startedToMs)
    .where(update, '>=', params.updatedFromMs)
    .where(update, '<=', params.updatedToMs)
    .where(ERROR, '>=', params.errorsFrom)
    .where(ERROR, '<=', params.errorsTo)
    .where((column) => holds(metadataOf(column), params.firstNeedle))
    .where((column) => holds(metadataOf(column), params.secondNeedle));
}

function listBy(direction: Direction, keyOf: (dialect: Dialect) => typeof START, index: Index = 'any') {
  return query<PageParams>()((db, params, dialect) => {
    const key = keyOf(dialect);
    const traceId = dialect.idText('traceId');
    const isBehind = sql.raw(direction === 'asc' ? '>' : '<');
    return (
      rangeOf(db, params, dialect, index)
        // Redundant, but the planner needs it to use the index.
        .where(key, direction === 'asc' ? '>=' : '<=', params.key)
        .where(sql<boolean>`(${key}, ${traceId}) ${isBehind} (${params.key}, ${params.traceId})`)
        .select([
          key.as('key'),
          traceId.as('traceId'),
          ...columns('Trace', 'sequence', 'spanCount', 'hasError'),
          METADATA_BYTES.as('metadataBytes'),
          ...numbersOf(dialect),
        ])
        .orderBy(key, direction)
        .orderBy(traceId, direction)
        .limit(params.limit)
    );
  });
}

export const listByStart = listBy('asc', () => START, 'start');
export const listByStartDown = listBy('desc', () => START, 'start');
export const listByUpdate = listBy('asc', () => UPDATE, 'update');
export const listByUpdateDown = listBy('desc', () => UPDATE, 'update');
export const listByCost = listBy('asc', () => orLast(sql.ref('totalCostNanoUsd'), 'asc'));
export const listByCostDown = listBy('desc', () => orLast(sql.ref('totalCostNanoUsd'), 'desc'));
// A negative duration counts as 0.
export const listByDuration = listBy('asc', ({ atLeast }) => orLast(atLeast('durationMs', 0), 'asc'));
export const listByDurationDown = listBy('desc', ({ atLeast }) => orLast(atLeast('durationMs', 0), 'desc'));
export const listByFirstToken = listBy('asc', () => orLast(sql.ref('firstTokenMs'), 'asc'));
export const listByFirstTokenDown = listBy('desc', () => orLast(sql.ref('firstTokenMs'), 'desc'));

/** Counts up to a limit. */
export const countTraces = query<TracesParams & { readonly limit: number }>()((db, params, dialect) =>
  db
    .selectFrom(rangeOf(db, params, dialect, 'any').select('sequence as sequence').limit(params.limit).as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

/** Traces by id. */
export const findByIds = query<{ readonly projectNumber: number; readonly ids: readonly string[] }>()(
  (db, { projectNumber, ids }, dialect) =>
    rowsOf(db, 'Trace', { projectNumber }).where(dialect.isOneOf('traceId', ids)).select(factsOf(dialect)),
);

/** Traces by sequence. */
export const findBySequences = query<OfTraces>()((db, params, dialect) =>
  tracesOf(db, params, dialect).select(factsOf(dialect)),
);

/** With the keys of every order. */
function factsOf(dialect: Dialect) {
  return [
    dialect.idText('traceId').as('traceId'),
    ...columns('Trace', 'sequence', 'spanCount', 'hasError'),
    METADATA_BYTES.as('metadataBytes'),
    ...columns('Trace', 'insertedAtMs', 'updatedAtMs'),
    START.as('startMs'),
    ...numbersOf(dialect),
  ] as const;
}

/** The numbers of a trace that filters and orders go by. */
function numbersOf({ atLeast }: Dialect) {
  return [
    ...columns('Trace', 'totalCostNanoUsd', 'promptTokens', 'completionTokens', 'firstTokenMs'),
    atLeast('durationMs', 0).as('totalTimeMs'),
  ] as const;
}

export const listMetadata = query<OfTraces>()((db, params, dialect) =>
  tracesOf(db, params, dialect).select((column) => ['sequence as sequence', metadataOf(column).as('metadataJson')]),
);

export const { listSpans, listSpansBehind } = spanQueries(spanFacts);

/** Their texts beside them, but for long ones. */
type WithTexts = { readonly bytesMax: number };

/** The same as `listSpans`, with the texts that are searched. */
export const listSpansWithTexts = query<OfTraces & WithTexts>()((db, { projectNumber, sequences, bytesMax }, dialect) =>
  spanFacts(db, dialect)
    .where('projectNumber', '=', projectNumber)
    .where(dialect.isAmong('traceSequence', sequences))
    .select(SEARCHED_JSON.map((column) => shortText(column, bytesMax, dialect))),
);

/** The texts that are searched in a page of the spans of one trace. */
export const listTextsBehind = query<BehindSpan & WithTexts>()(
  (db, { projectNumber, sequence, after, limit, bytesMax }, dialect) =>
    rowsOf(db, 'Span', { projectNumber, traceSequence: sequence })
      .where('spanId', '>', dialect.storedId(after))
      .select((column) => textFacts(column, dialect))
      .select(SEARCHED_JSON.map((column) => shortText(column, bytesMax, dialect)))
      .orderBy('spanId')
      .limit(limit),
);

/** In the stored form: see typedJson of kinds.ts. */
function shortText(column: SearchedJson, bytesMax: number, { bytesOf, textOf }: Dialect) {
  return sql<string | null>`case when ${bytesOf(column)} <= ${bytesMax} then ${textOf(column)} end`.as(column);
}

type OfSlice = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly spanId: string;
  /** The first character, counted from 1. */
  readonly first: number;
  readonly characters: number;
};

export const findErrorSlice = sliceOf('errorJson');
export const findInputSlice = sliceOf('inputJson');
export const findOutputSlice = sliceOf('outputJson');

/** A part of a text, in the stored form; the database cuts it. */
function sliceOf(column: SearchedJson) {
  return query<OfSlice>()((db, { projectNumber, sequence, spanId, first, characters }, dialect) =>
    rowsOf(db, 'Span', { projectNumber, traceSequence: sequence, spanId: dialect.storedId(spanId) }).select(
      sql<string | null>`substr(${dialect.textOf(column)}, ${first}, ${characters})`.as('slice'),
    ),
  );
}

function spanFacts(db: Db, dialect: Dialect) {
  return db
    .selectFrom('Span')
    .select('traceSequence as traceSequence')
    .select((column) => [
      ...textFacts(column, dialect),
      dialect.idText('parentId').$castTo<string | null>().as('parentId'),
      ...columns('Span', 'model', 'startedAtMs', 'startedNs', 'finishedNs', 'firstTokenMs'),
      column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
    ]);
}

/** Which texts a span has. */
function textFacts(column: ExpressionBuilder<Tables, 'Span'>, { idText }: Dialect) {
  return [
    idText('spanId').as('spanId'),
    ...columns('Span', 'type', 'name'),
    column('inputJson', 'is not', null).$castTo<boolean>().as('hasInput'),
    column('outputJson', 'is not', null).$castTo<boolean>().as('hasOutput'),
    column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
  ] as const;
}

/** All evaluations of several traces. */
export const listEvaluations = query<OfTraces>()((db, { projectNumber, sequences }, { isAmong, textOf }) =>
  rowsOf(db, 'Evaluation', { projectNumber })
    .where(isAmong('traceSequence', sequences))
    .select(columns('Evaluation', 'traceSequence', 'evaluatorId', 'isGuardrail', 'status', 'passed', 'score'))
    .select(textOf('label').as('label')),
);
