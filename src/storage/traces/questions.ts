/** What is asked of traces, their spans and their evaluations. */

import type { TraceTotals } from '../../domain/trace.ts';
import { change, type Db, question } from '../questions.ts';
import { spanOf, summaryOf, traceOf } from './columns.ts';

type OfTrace = { readonly projectNumber: number; readonly sequence: number };
type OfSome = OfTrace & { readonly ids: readonly string[] };
type OfRange = OfTrace & { readonly atMs: number; readonly id: string; readonly limit: number };

export const findTrace = question<{ readonly projectNumber: number; readonly traceId: string }>()(
  (db, { projectNumber, traceId }, { storedId, idText, atLeast }) =>
    db
      .selectFrom('Trace')
      .where('projectNumber', '=', projectNumber)
      .where('traceId', '=', storedId(traceId))
      .select((column) => traceOf(column, { idText, atLeast })),
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
export const keepSums = change<SumsToKeep>((db, given, { storedId }) =>
  db
    .updateTable('Trace')
    .where('projectNumber', '=', given.projectNumber)
    .where('traceId', '=', storedId(given.traceId))
    .where('sequence', '=', given.sequence)
    .where('aggregatesJson', 'is not distinct from', given.foundJson)
    .set({
      spanCount: given.spanCount,
      startedAtMs: given.startedAtMs,
      durationMs: given.durationMs,
      firstTokenMs: given.firstTokenMs,
      promptTokens: given.promptTokens,
      completionTokens: given.completionTokens,
      reasoningTokens: given.reasoningTokens,
      cacheReadInputTokens: given.cacheReadInputTokens,
      cacheCreationInputTokens: given.cacheCreationInputTokens,
      totalCostNanoUsd: given.totalCostNanoUsd,
      unpricedSpans: given.unpricedSpans,
      tokensEstimated: given.tokensEstimated,
      hasError: given.hasError,
      aggregatesJson: given.aggregatesJson,
    }),
);

/** Of every span, by start, then id. */
export const listLinks = question<OfTrace>()((db, given, { idText }) =>
  spansOf(db, given)
    .select([idText('spanId').as('spanId'), idText('parentId').$castTo<string | null>().as('parentId')])
    .orderBy('startedAtMs')
    .orderBy(idText('spanId')),
);

/** Of every span, in any order. */
export const listSummaries = question<OfTrace>()((db, given, { idText }) =>
  spansOf(db, given).select((column) => summaryOf(column, idText)),
);

/** Of every span, in any order, with whether it stands at root level for want of a stored parent. */
export const listLinkedSummaries = question<OfTrace>()((db, given, { idText }) =>
  spansOf(db, given)
    .select((column) => summaryOf(column, idText))
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

export const findSummaries = question<OfSome>()((db, given, { idText, isOneOf }) =>
  spansOf(db, given)
    .where(isOneOf('spanId', given.ids))
    .select((column) => summaryOf(column, idText)),
);

export const findSpans = question<OfSome>()((db, given, { idText, isOneOf }) =>
  spansOf(db, given)
    .where(isOneOf('spanId', given.ids))
    .select((column) => [
      ...spanOf(column, idText),
      'vendor as vendor',
      'inputJson as inputJson',
      'outputJson as outputJson',
      'paramsJson as paramsJson',
      'cachedTokensInPrompt as cachedTokensInPrompt',
      'otherMetricsJson as otherMetricsJson',
      'costSource as costSource',
      'errorJson as errorJson',
      'contextsJson as contextsJson',
      'telemetryJson as telemetryJson',
    ]),
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

export const findEvaluations = question<OfSome>()((db, given, { isOneOf }) =>
  evaluationsOf(db, given)
    .where(isOneOf('evaluationId', given.ids))
    .select([
      'evaluationId as evaluationId',
      'evaluatorId as evaluatorId',
      'name as name',
      'type as type',
      'spanId as spanId',
      'threadId as threadId',
      'isGuardrail as isGuardrail',
      'status as status',
      'passed as passed',
      'score as score',
      'label as label',
      'details as details',
      'errorJson as errorJson',
      'inputsJson as inputsJson',
      'costJson as costJson',
      'monitorId as monitorId',
      'insertedAtMs as insertedAtMs',
      'startedAtMs as startedAtMs',
      'finishedAtMs as finishedAtMs',
    ]),
);

function spansOf(db: Db, { projectNumber, sequence }: OfTrace) {
  return db.selectFrom('Span').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence);
}

function evaluationsOf(db: Db, { projectNumber, sequence }: OfTrace) {
  return db.selectFrom('Evaluation').where('projectNumber', '=', projectNumber).where('traceSequence', '=', sequence);
}
