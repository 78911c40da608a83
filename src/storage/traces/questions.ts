/** What is asked of traces, their spans and their evaluations. */

import { type SqlBool, sql } from 'kysely';
import type { TraceTotals } from '../../domain/trace.ts';
import { change, type Db, question } from '../questions.ts';
import { spanOf, summaryOf, traceOf } from './columns.ts';

type OfTrace = { readonly projectNumber: number; readonly sequence: number };
type OfSome = OfTrace & { readonly ids: readonly string[] };
type OfRange = OfTrace & { readonly atMs: number; readonly id: string; readonly limit: number };

export const findTrace = question<{ readonly projectNumber: number; readonly traceId: string }>()(
  (db, { projectNumber, traceId }, words) =>
    db
      .selectFrom('Trace')
      .where('projectNumber', '=', projectNumber)
      .where('traceId', '=', words.storedId(traceId))
      .select((column) => traceOf(column, words)),
);

type IdRange = { readonly projectNumber: number; readonly first: StoredId; readonly last: StoredId };
/** Text, or the bytes that it stands for where the store keeps it so. */
type StoredId = string | Buffer;

/** Of traces that came in since, ascending, both ends included. `first` and `last` are given as ids are stored. */
export const listTraceIds = question<IdRange & { readonly sinceMs: number; readonly limit: number }>()(
  (db, { projectNumber, first, last, sinceMs, limit }, { idText }) =>
    db
      .selectFrom('Trace')
      .where('projectNumber', '=', projectNumber)
      .where('traceId', '>=', first as string)
      .where('traceId', '<=', last as string)
      .where('insertedAtMs', '>=', sinceMs)
      .select(idText('traceId').as('traceId'))
      .orderBy('traceId')
      .limit(limit),
);

// What of a trace follows from its spans.
const SUMS = [
  ...['spanCount', 'startedAtMs', 'durationMs', 'firstTokenMs', 'promptTokens', 'completionTokens'],
  ...['reasoningTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens', 'totalCostNanoUsd', 'unpricedSpans'],
  ...['tokensEstimated', 'hasError', 'aggregatesJson'],
] as readonly (keyof SumsToKeep)[];

export type SumsToKeep = TraceTotals & {
  readonly projectNumber: number;
  readonly traceId: string;
  readonly sequence: number;
  readonly durationMs: number | null;
  readonly aggregatesJson: string | null;
  /** What stood in the place of the aggregates when the trace was found. */
  readonly foundJson: string | null;
};

/** Unless the trace has changed since it was found. */
export const keepSums = change<SumsToKeep>((db, given, { storedId }) => {
  const { projectNumber, traceId, sequence, foundJson } = given;
  return db
    .updateTable('Trace')
    .where('projectNumber', '=', projectNumber)
    .where('traceId', '=', storedId(traceId))
    .where('sequence', '=', sequence)
    .where('aggregatesJson', 'is not distinct from', foundJson)
    .set(Object.fromEntries(SUMS.map((name) => [name, given[name]])));
});

/** Of every span, by start, then id. */
export const listLinks = question<OfTrace>()((db, given, { idText }) =>
  spansOf(db, given)
    .select([idText('spanId').as('spanId'), idText('parentId').$castTo<string | null>().as('parentId')])
    .orderBy('startedAtMs')
    .orderBy(idText('spanId')),
);

/** Of every span, in any order. */
export const listSummaries = question<OfTrace>()((db, given, words) =>
  spansOf(db, given).select((column) => summaryOf(column, words)),
);

/** Of every span, in any order, with whether it stands at root level for want of a stored parent. */
export const listLinkedSummaries = question<OfTrace>()((db, given, words) =>
  spansOf(db, given)
    .select((column) => summaryOf(column, words))
    .select(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('parentId', 'is', null),
        not(
          exists(
            selectFrom('Span as parent')
              .select('parent.spanId as spanId')
              .where('parent.projectNumber', '=', given.projectNumber)
              .where('parent.traceSequence', '=', given.sequence)
              .whereRef('parent.spanId', '=', 'Span.parentId'),
          ),
        ),
      ])
        .$castTo<boolean>()
        .as('isParentless'),
    ),
);

export const findSummaries = question<OfSome>()((db, given, words) =>
  spansOf(db, given)
    .where(words.isOneOf('spanId', given.ids))
    .select((column) => summaryOf(column, words)),
);

export const findSpans = question<OfSome>()((db, given, words) =>
  spansOf(db, given)
    .where(words.isOneOf('spanId', given.ids))
    .select((column) => spanOf(column, words)),
);

/** By start, then id. */
export const listSpanOrder = question<OfRange>()((db, given, { idText, textBytes }) =>
  spansOf(db, given)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('startedAtMs', idText('spanId')), '>', tuple(given.atMs, given.id)))
    .select('startedAtMs as atMs')
    .select([
      idText('spanId').as('id'),
      textBytes([
        'name',
        'paramsJson',
        'otherMetricsJson',
        'errorJson',
        'contextsJson',
        'telemetryJson',
        'inputJson',
        'outputJson',
      ]).as('bytes'),
    ])
    .orderBy('startedAtMs')
    .orderBy(idText('spanId'))
    .limit(given.limit),
);

/** Whether there are more than that many. */
export const findEvaluationBeyond = question<OfTrace & { readonly count: number }>()((db, given) =>
  evaluationsOf(db, given).select('evaluationId as evaluationId').limit(1).offset(given.count),
);

/** By insertion, then id. */
export const listEvaluationOrder = question<OfRange>()((db, given, { textBytes }) =>
  evaluationsOf(db, given)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('insertedAtMs', 'evaluationId'), '>', tuple(given.atMs, given.id)))
    .select(['insertedAtMs as atMs', 'evaluationId as id'])
    .select(textBytes(['label', 'details', 'errorJson', 'inputsJson', 'costJson']).as('bytes'))
    .orderBy('insertedAtMs')
    .orderBy('evaluationId')
    .limit(given.limit),
);

export const findEvaluations = question<OfSome>()((db, given, { isOneOf, allOf }) =>
  evaluationsOf(db, given)
    .where(isOneOf('evaluationId', given.ids))
    .select(allOf('Evaluation', 'projectNumber', 'traceSequence')),
);

function spansOf(db: Db, { projectNumber, sequence }: OfTrace) {
  return db.selectFrom('Span').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence);
}

function evaluationsOf(db: Db, { projectNumber, sequence }: OfTrace) {
  return db.selectFrom('Evaluation').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence);
}

/** Who holds a trace changes it alone. */
export const holdTrace = question<{ readonly projectNumber: number; readonly traceId: string }>()(
  (db, { projectNumber, traceId }, { storedId, hold }) =>
    hold(
      db
        .selectFrom('Trace')
        .where('projectNumber', '=', projectNumber)
        .where('traceId', '=', storedId(traceId))
        .select([
          'sequence as sequence',
          'spanCount as spanCount',
          'insertedAtMs as insertedAtMs',
          'updatedAtMs as updatedAtMs',
          'metadataJson as metadataJson',
        ]),
    ),
);

export type MetadataToKeep = {
  readonly projectNumber: number;
  readonly traceId: string;
  readonly metadataJson: string;
  readonly updatedAtMs: number;
};

export const keepMetadata = change<MetadataToKeep>(
  (db, { projectNumber, traceId, metadataJson, updatedAtMs }, { storedId }) =>
    db
      .updateTable('Trace')
      .where('projectNumber', '=', projectNumber)
      .where('traceId', '=', storedId(traceId))
      .set({ metadataJson, updatedAtMs }),
);

type OfType = OfTrace & { readonly type: number; readonly limit: number };

export const listFirstOfType = question<OfType>()((db, given, { idText }) =>
  ofType(db, given).select(idText('spanId').as('spanId')).orderBy('startedAtMs').orderBy(idText('spanId')),
);

export const listLastOfType = question<OfType>()((db, given, { idText }) =>
  ofType(db, given)
    .select(idText('spanId').as('spanId'))
    .orderBy('startedAtMs', 'desc')
    .orderBy(idText('spanId'), 'desc'),
);

function ofType(db: Db, given: OfType) {
  return spansOf(db, given)
    .where(sql<SqlBool>`${sql.ref('type')} = ${given.type}`)
    .limit(given.limit);
}

/** Any span that has no parent. */
export const findRootSpan = question<OfTrace>()((db, given) =>
  spansOf(db, given).where('parentId', 'is', null).select('traceSequence as sequence').limit(1),
);
