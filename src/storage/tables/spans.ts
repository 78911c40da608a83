import { defineEntity } from '@mikro-orm/core';
import type { SpanType } from '../../domain/trace.ts';
import { codeOf, flag, instant, json, large, nanoUsd, packedId, packedWord, text, typedJson, whole } from './kinds.ts';

// What is short and often read comes before free text, which may spill over to further pages. Durations stand for
// second instants because they take less room.
export const SpanRow = defineEntity({
  name: 'Span',
  tableName: 'spans',
  properties: {
    projectNumber: whole().primary(),
    traceSequence: large().primary(),
    spanId: packedId().primary(),
    parentId: packedId().strictNullable(),
    type: codeOf<SpanType>('spanTypes'),
    startedAtMs: instant('started_at'),
    durationMs: large(),
    firstTokenMs: large().strictNullable(),
    promptTokens: large().strictNullable(),
    completionTokens: large().strictNullable(),
    reasoningTokens: large().strictNullable(),
    cacheReadInputTokens: large().strictNullable(),
    cacheCreationInputTokens: large().strictNullable(),
    costNanoUsd: nanoUsd('cost_nano_usd').strictNullable(),
    costSource: packedWord().strictNullable(),
    tokensEstimated: flag(),
    cachedTokensInPrompt: flag().strictNullable(),
    // Kept only where the span had its event and what it says since would give another id.
    emittedRequestId: text().strictNullable(),
    name: text().strictNullable(),
    vendor: text().strictNullable(),
    model: text().strictNullable(),
    paramsJson: json('params').strictNullable(),
    otherMetricsJson: json('other_metrics').strictNullable(),
    errorJson: json('error').strictNullable(),
    contextsJson: json('contexts').strictNullable(),
    // As typed-text.ts has them.
    inputJson: typedJson('input').strictNullable(),
    outputJson: typedJson('output').strictNullable(),
  },
});
