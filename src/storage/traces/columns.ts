/** What questions select of traces and spans. */

import type { ExpressionBuilder } from 'kysely';
import type { Tables, Words } from '../questions.ts';

/** A trace as the domain has it. */
export function traceOf(
  column: ExpressionBuilder<Tables, 'Trace'>,
  { idText, atLeast }: Pick<Words, 'idText' | 'atLeast'>,
) {
  return [
    idText('traceId').as('traceId'),
    'sequence as sequence',
    'metadataJson as metadataJson',
    'expectedOutput as expectedOutput',
    'insertedAtMs as insertedAtMs',
    'updatedAtMs as updatedAtMs',
    'spanCount as spanCount',
    'startedAtMs as startedAtMs',
    column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
    atLeast('durationMs', 0).as('totalTimeMs'),
    'firstTokenMs as firstTokenMs',
    'promptTokens as promptTokens',
    'completionTokens as completionTokens',
    'reasoningTokens as reasoningTokens',
    'cacheReadInputTokens as cacheReadInputTokens',
    'cacheCreationInputTokens as cacheCreationInputTokens',
    'totalCostNanoUsd as totalCostNanoUsd',
    'unpricedSpans as unpricedSpans',
    'tokensEstimated as tokensEstimated',
    'hasError as hasError',
    'aggregatesJson as aggregatesJson',
  ] as const;
}

export function spanOf(column: ExpressionBuilder<Tables, 'Span'>, idText: Words['idText']) {
  return [
    idText('Span.spanId').as('spanId'),
    idText('Span.parentId').$castTo<string | null>().as('parentId'),
    'type as type',
    'name as name',
    'model as model',
    'startedAtMs as startedAtMs',
    column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
    column('startedAtMs', '+', column.ref('firstTokenMs')).as('firstTokenAtMs'),
    'promptTokens as promptTokens',
    'completionTokens as completionTokens',
    'reasoningTokens as reasoningTokens',
    'cacheReadInputTokens as cacheReadInputTokens',
    'cacheCreationInputTokens as cacheCreationInputTokens',
    'costNanoUsd as costNanoUsd',
    'tokensEstimated as tokensEstimated',
  ] as const;
}

export function summaryOf(column: ExpressionBuilder<Tables, 'Span'>, idText: Words['idText']) {
  return [
    ...spanOf(column, idText),
    column('inputJson', 'is not', null).$castTo<boolean>().as('hasInput'),
    column('outputJson', 'is not', null).$castTo<boolean>().as('hasOutput'),
    column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
  ] as const;
}
