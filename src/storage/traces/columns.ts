/** Select lists of traces and spans. */

import type { ExpressionBuilder } from 'kysely';
import type { Dialect, Tables } from '../queries.ts';

/** The columns of a TraceRecord. */
export function traceOf(column: ExpressionBuilder<Tables, 'Trace'>, { allOf, idText, atLeast }: Dialect) {
  return [
    ...allOf('Trace', 'projectNumber', 'traceId', 'durationMs'),
    idText('traceId').as('traceId'),
    column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
    atLeast('durationMs', 0).as('totalTimeMs'),
  ] as const;
}

const PLACE = ['projectNumber', 'traceSequence', 'spanId', 'parentId', 'durationMs', 'firstTokenMs'] as const;

/** All columns of a span. */
export function spanOf(column: ExpressionBuilder<Tables, 'Span'>, { allOf, idText }: Dialect) {
  return [...allOf('Span', ...PLACE, 'emittedRequestId'), ...madeOf(column, idText)] as const;
}

/** A span without its texts, so that all spans of a trace can be read. */
export function summaryOf(column: ExpressionBuilder<Tables, 'Span'>, { idText }: Dialect) {
  return [
    'type as type',
    'name as name',
    'model as model',
    'startedAtMs as startedAtMs',
    'promptTokens as promptTokens',
    'completionTokens as completionTokens',
    'reasoningTokens as reasoningTokens',
    'cacheReadInputTokens as cacheReadInputTokens',
    'cacheCreationInputTokens as cacheCreationInputTokens',
    'costNanoUsd as costNanoUsd',
    'tokensEstimated as tokensEstimated',
    ...madeOf(column, idText),
    column('inputJson', 'is not', null).$castTo<boolean>().as('hasInput'),
    column('outputJson', 'is not', null).$castTo<boolean>().as('hasOutput'),
    column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
  ] as const;
}

function madeOf(column: ExpressionBuilder<Tables, 'Span'>, idText: Dialect['idText']) {
  return [
    idText('Span.spanId').as('spanId'),
    idText('Span.parentId').$castTo<string | null>().as('parentId'),
    column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
    column('startedAtMs', '+', column.ref('firstTokenMs')).as('firstTokenAtMs'),
  ] as const;
}
