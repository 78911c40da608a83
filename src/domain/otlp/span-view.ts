/** What the table of attributes is asked about: one span, with the blobs of it that several rows read. */

import type { LosslessJson, LosslessObject } from '../lossless-json.ts';
import type { AttributeJson } from './attribute-json.ts';
import type { OtlpSpan } from './span.ts';

export type SpanView = {
  readonly span: OtlpSpan;
  readonly json: AttributeJson;
  /** langwatch.metrics, by names in snake_case. */
  readonly metrics: LosslessObject;
  /** langwatch.timestamps, by names in snake_case. */
  readonly timestamps: LosslessObject;
  /** The span of the ai package around those of its single calls, whose usage it sums up. */
  readonly isOuter: boolean;
};

/** What a row takes a value from; undefined where that says nothing. */
export type Source = (view: SpanView) => LosslessJson | undefined;

const OUTER_OPERATIONS: ReadonlySet<unknown> = new Set([
  'ai.generateText',
  'ai.streamText',
  'ai.generateObject',
  'ai.streamObject',
]);
const NOTHING: LosslessObject = {};

export function createView(span: OtlpSpan, json: AttributeJson): SpanView {
  const { attributes } = span;
  return {
    span,
    json,
    metrics: inSnakeCase(json.object(attributes.get('langwatch.metrics'))),
    timestamps: inSnakeCase(json.object(attributes.get('langwatch.timestamps'))),
    isOuter: operationsOf(span).some((name) => OUTER_OPERATIONS.has(name)),
  };
}

/** What the ai package calls the operation of a span. It may put the name of a function behind. */
export function operationsOf({ attributes, name }: OtlpSpan): readonly LosslessJson[] {
  const operation = attributes.get('operation.name');
  const first = typeof operation === 'string' ? operation.split(' ', 1)[0] : undefined;
  return [first, attributes.get('ai.operationId'), name].filter((each) => each !== undefined);
}

/** An attribute of the span. */
export function attribute(key: string): Source {
  return ({ span }) => span.attributes.get(key);
}

/** The first value that is present, which 0, false and "" are as well. */
export function first(view: SpanView, sources: readonly Source[]): LosslessJson | undefined {
  for (const source of sources) {
    const value = source(view);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function inSnakeCase(object: LosslessObject | undefined): LosslessObject {
  if (object === undefined) return NOTHING;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [KNOWN_NAMES.get(key) ?? key, value]));
}

const KNOWN_NAMES: ReadonlyMap<string, string> = new Map([
  ['promptTokens', 'prompt_tokens'],
  ['completionTokens', 'completion_tokens'],
  ['reasoningTokens', 'reasoning_tokens'],
  ['cacheReadInputTokens', 'cache_read_input_tokens'],
  ['cacheCreationInputTokens', 'cache_creation_input_tokens'],
  ['tokensEstimated', 'tokens_estimated'],
  ['cachedTokensInPrompt', 'cached_tokens_in_prompt'],
  ['startedAt', 'started_at'],
  ['firstTokenAt', 'first_token_at'],
  ['finishedAt', 'finished_at'],
]);
