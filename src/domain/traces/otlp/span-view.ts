/** A span as the attribute table reads it, with the parsed JSON objects that several rows share. */

import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { isBlank } from '../collector/collector-json.ts';
import type { AttributeJson } from './attribute-json.ts';
import type { OtlpSpan } from './span.ts';

export type SpanView = {
  readonly span: OtlpSpan;
  readonly json: AttributeJson;
  /** langwatch.metrics, by names in snake_case. */
  readonly metrics: LosslessObject;
  /** langwatch.timestamps, by names in snake_case. */
  readonly timestamps: LosslessObject;
};

/** Where a row takes a value from; undefined when it has none. */
export type ReadAttribute = (view: SpanView) => LosslessJson | undefined;

const NOTHING: LosslessObject = {};

export function createView(span: OtlpSpan, json: AttributeJson): SpanView {
  const { attributes } = span;
  return {
    span,
    json,
    metrics: inSnakeCase(json.object(attributes.get('langwatch.metrics'))),
    timestamps: inSnakeCase(json.object(attributes.get('langwatch.timestamps'))),
  };
}

/** Operation names of the ai package. It may append the name of a function to them. */
export function operationsOf({ attributes, name }: OtlpSpan): readonly LosslessJson[] {
  const operation = attributes.get('operation.name');
  const first = typeof operation === 'string' ? operation.split(' ', 1)[0] : undefined;
  return [first, attributes.get('ai.operationId'), name].filter((each) => each !== undefined);
}

export function attribute(key: string): ReadAttribute {
  return ({ span }) => span.attributes.get(key);
}

/** The first value that says something. */
export function first(view: SpanView, sources: readonly ReadAttribute[]): LosslessJson | undefined {
  for (const source of sources) {
    const value = source(view);
    if (!isBlank(value)) return value;
  }
  return undefined;
}

/** The same for what people and models wrote: "none" may be an answer, unless a later source says more. */
export function firstContent(view: SpanView, sources: readonly ReadAttribute[]): LosslessJson | undefined {
  let blank: LosslessJson | undefined;
  for (const source of sources) {
    const value = source(view);
    if (!isBlank(value)) return value;
    blank ??= value;
  }
  return blank ?? undefined;
}

function inSnakeCase(object: LosslessObject | undefined): LosslessObject {
  if (object === undefined) return NOTHING;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [SNAKE_CASE_NAMES.get(key) ?? key, value]));
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
