/** Parts of queries of traces and spans: select lists, expressions, and the spans of given traces. */

import { type AliasedRawBuilder, type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { columns } from '../plain-queries.ts';
import { type Db, type Dialect, query, type Tables } from '../queries.ts';
import { namesOf, SPAN_TEXTS } from './text-columns.ts';
import { TEXT_INLINE_MAX_BYTES, type TextName } from './trace-texts.ts';

/** The start of a trace; without spans, its receipt. The database index has the same expression. */
export const START = sql<number>`coalesce(${sql.ref('startedAtMs')}, ${sql.ref('insertedAtMs')})`;

type OfTraceRow = ExpressionBuilder<Tables, 'Trace'>;

/** Bounds how many traces are read at once. */
export const METADATA_BYTES = sql<number>`coalesce(${sql.ref('metadataBytes')}, octet_length(${sql.ref('metadataJson')}))`;

/** The metadata of a trace, wherever it lies. */
export function metadataOf(column: OfTraceRow) {
  return sql<string>`case when ${sql.ref('metadataBytes')} is null then ${sql.ref('metadataJson')} else ${textApart(column, 'metadata')} end`;
}

/** The expected output of a trace, wherever it lies. */
function expectedOutputOf(column: OfTraceRow) {
  return sql<
    string | null
  >`case when ${sql.ref('expectedOutputIsApart')} is null then ${sql.ref('expectedOutput')} else ${textApart(column, 'expected_output')} end`;
}

function textApart(column: OfTraceRow, name: TextName) {
  return ofTextApart(column, name).select('TraceText.text as text');
}

function outputBytesApart(column: OfTraceRow) {
  const bytes = sql<number>`octet_length(${sql.ref('TraceText.text')})`;
  return ofTextApart(column, 'expected_output').select(bytes.as('bytes'));
}

function ofTextApart(column: OfTraceRow, name: TextName) {
  return column
    .selectFrom('TraceText')
    .whereRef('TraceText.projectNumber', '=', 'Trace.projectNumber')
    .whereRef('TraceText.traceSequence', '=', 'Trace.sequence')
    .where('TraceText.name', '=', sql.lit(name));
}

const TEXT_COLUMNS = ['metadataJson', 'metadataBytes', 'expectedOutput', 'expectedOutputIsApart'] as const;

/** The columns of a TraceRecord. */
export function traceOf(column: OfTraceRow, dialect: Dialect) {
  return [
    ...headOf(column, dialect),
    metadataOf(column).as('metadataJson'),
    expectedOutputOf(column).as('expectedOutput'),
  ] as const;
}

/** The columns of a trace as an append reads them: large texts are left out, also those that the row itself has. */
export function rowOf(column: OfTraceRow, dialect: Dialect) {
  const [metadataBytes, outputBytes] = [largeBytes('metadataJson'), largeBytes('expectedOutput')];
  return [
    ...headOf(column, dialect),
    sql<string>`coalesce(${smallText('metadataJson')}, '')`.as('metadataJson'),
    sql<number | null>`coalesce(${sql.ref('metadataBytes')}, ${metadataBytes})`.as('metadataBytes'),
    smallText('expectedOutput').as('expectedOutput'),
    sql<
      boolean | null
    >`coalesce(${sql.ref('expectedOutputIsApart')}, case when ${isLarge('expectedOutput')} then true end)`.as(
      'expectedOutputIsApart',
    ),
    sql<number>`coalesce(${metadataBytes}, 0) + coalesce(${outputBytes}, 0)`.as('largeInlineBytes'),
    sql<number>`case when ${sql.ref('expectedOutputIsApart')} then ${outputBytesApart(column)} else 0 end`.as(
      'expectedOutputBytesApart',
    ),
  ] as const;
}

/** A large text in the row of its trace; null for any other. */
export function largeText(name: string) {
  return sql<string | null>`case when ${isLarge(name)} then ${sql.ref(name)} end`;
}

function largeBytes(name: string) {
  return sql<number | null>`case when ${isLarge(name)} then octet_length(${sql.ref(name)}) end`;
}

function smallText(name: string) {
  return sql<string | null>`case when ${isLarge(name)} then null else ${sql.ref(name)} end`;
}

function isLarge(name: string) {
  return sql<boolean>`octet_length(${sql.ref(name)}) > ${sql.lit(TEXT_INLINE_MAX_BYTES)}`;
}

function headOf(column: OfTraceRow, { allOf, idText, atLeast }: Dialect) {
  return [
    ...allOf('Trace', 'projectNumber', 'traceId', 'durationMs', ...TEXT_COLUMNS),
    idText('traceId').as('traceId'),
    column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
    atLeast('durationMs', 0).as('totalTimeMs'),
  ] as const;
}

/** The exact instants of a span in the nanoseconds beyond its milliseconds. */
export const STARTED_NS = sql<number>`coalesce(${sql.ref('startedNs')}, 0)`;
export const FINISHED_NS = sql<number>`coalesce(${sql.ref('finishedNs')}, 0)`;

const NUMBERS = ['projectNumber', 'traceSequence', 'spanId', 'parentId', 'durationMs', 'firstTokenMs'] as const;

/** Texts of spans or evaluations, each under the name of its column. */
export function textsOf<const Name extends string>({ textOf }: Dialect, ...names: readonly Name[]) {
  return names.map((name) => textOf(name).as(name)) as unknown as readonly TextNamed<Name>[];
}

export type TextNamed<Name extends string> = { [Each in Name]: AliasedRawBuilder<string | null, Each> }[Name];

/** About the bytes of a row that is replaced or removed; of texts that lie apart only the numbers. */
export function ownBytes(texts: { readonly [Name: string]: string }) {
  const parts = namesOf(texts).map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(parts, sql` + `)}`;
}

/** All columns of a span. */
export function spanOf(column: ExpressionBuilder<Tables, 'Span'>, dialect: Dialect) {
  const texts = namesOf(SPAN_TEXTS);
  return [
    ...dialect.allOf('Span', ...NUMBERS, ...texts, 'emittedRequestId', 'sharedRequestId', 'version'),
    ...textsOf(dialect, ...texts),
    ...derivedColumns(column, dialect.idText),
  ] as const;
}

/** A span without its texts, so that all spans of a trace can be read. */
export function summaryOf(column: ExpressionBuilder<Tables, 'Span'>, { idText }: Dialect) {
  return [
    ...columns('Span', 'type', 'name', 'model', 'startedAtMs', 'startedNs', 'finishedNs'),
    ...columns('Span', 'promptTokens', 'completionTokens', 'reasoningTokens'),
    ...columns('Span', 'cacheReadInputTokens', 'cacheCreationInputTokens', 'costNanoUsd', 'tokensEstimated'),
    ...columns('Span', 'costSource', 'callRow', 'totalInput', 'totalOutput', 'shareRates'),
    ...derivedColumns(column, idText),
    column('inputJson', 'is not', null).$castTo<boolean>().as('hasInput'),
    column('outputJson', 'is not', null).$castTo<boolean>().as('hasOutput'),
    column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
  ] as const;
}

function derivedColumns(column: ExpressionBuilder<Tables, 'Span'>, idText: Dialect['idText']) {
  return [
    idText('Span.spanId').as('spanId'),
    idText('Span.parentId').$castTo<string | null>().as('parentId'),
    column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
    column('startedAtMs', '+', column.ref('firstTokenMs')).as('firstTokenAtMs'),
  ] as const;
}

export type OfTraces = { readonly projectNumber: number; readonly sequences: readonly number[] };

/** The addition keeps the planner from scanning the whole project for traces that are named by their sequences. */
const PROJECT = sql<number>`${sql.ref('projectNumber')} + 0`;

export function tracesOf(db: Db, { projectNumber, sequences }: OfTraces, { isAmong }: Dialect) {
  return db.selectFrom('Trace').where(PROJECT, '=', projectNumber).where(isAmong('sequence', sequences));
}

/** Rows of one trace after a span id; an empty one starts at the first. */
export type BehindSpan = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly after: string;
  readonly limit: number;
};

/** All spans of several traces, and a page of the spans of one trace, which may have many. */
export function spanQueries<Row>(select: (db: Db, dialect: Dialect) => SelectQueryBuilder<Tables, 'Span', Row>) {
  return {
    listSpans: query<OfTraces>()((db, { projectNumber, sequences }, dialect) =>
      select(db, dialect).where('projectNumber', '=', projectNumber).where(dialect.isAmong('traceSequence', sequences)),
    ),
    listSpansBehind: query<BehindSpan>()((db, { projectNumber, sequence, after, limit }, dialect) =>
      select(db, dialect)
        .where('projectNumber', '=', projectNumber)
        .where('traceSequence', '=', sequence)
        .where('spanId', '>', dialect.storedId(after))
        .orderBy('spanId')
        .limit(limit),
    ),
  };
}
