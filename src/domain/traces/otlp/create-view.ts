/** Prepares a span for the attribute table. */

import type { LosslessObject } from '../../../json/lossless-json.ts';
import { isUnreadable, type Sent } from '../collector/collector-draft.ts';
import { type AttributeJson, objectIn } from './attribute-json.ts';
import { attributesOfCall } from './conventions/coding-agents.ts';
import { marksOf } from './conventions/conventions.ts';
import type { OtlpSpan } from './span.ts';
import type { SpanView } from './span-view.ts';

const NOTHING: LosslessObject = {};

export function createView(span: OtlpSpan, json: AttributeJson): SpanView {
  const attributes = span.events.length === 0 ? span.attributes : attributesOfCall(span);
  const metrics = objectIn(attributes, { key: 'langwatch.metrics', field: 'metrics', json });
  const timestamps = objectIn(attributes, { key: 'langwatch.timestamps', field: 'timestamps', json });
  return {
    span: attributes === span.attributes ? span : { ...span, attributes },
    json,
    marks: marksOf(attributes),
    metrics: inSnakeCase(metrics),
    timestamps: inSnakeCase(timestamps),
    dropped: [metrics, timestamps].filter(isUnreadable),
  };
}

function inSnakeCase(sent: Sent<LosslessObject>): LosslessObject {
  if (sent === undefined || isUnreadable(sent)) return NOTHING;
  return Object.fromEntries(Object.entries(sent).map(([key, value]) => [SNAKE_CASE_NAMES.get(key) ?? key, value]));
}

const SNAKE_CASE_NAMES: ReadonlyMap<string, string> = new Map([
  ['promptTokens', 'prompt_tokens'],
  ['completionTokens', 'completion_tokens'],
  ['reasoningTokens', 'reasoning_tokens'],
  ['cacheReadInputTokens', 'cache_read_input_tokens'],
  ['cacheCreationInputTokens', 'cache_creation_input_tokens'],
  ['tokensEstimated', 'tokens_estimated'],
  ['cachedTokensInPrompt', 'cached_tokens_in_prompt'],
  ['inputAudioTokens', 'input_audio_tokens'],
  ['outputAudioTokens', 'output_audio_tokens'],
  ['totalTokens', 'total_tokens'],
  ['cacheCreation', 'cache_creation'],
  ['serviceTier', 'service_tier'],
  ['startedAt', 'started_at'],
  ['firstTokenAt', 'first_token_at'],
  ['finishedAt', 'finished_at'],
]);
