/** Which spans are calls of a model, and what of them requests tell. */

import { isObject } from '../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { numberOfName } from '../pricing/share-rates.ts';
import { isChat } from './collector/typed-value.ts';
import type { SpanRequest, SpanType } from './trace.ts';

/** The kind of a call; null: no call. `generation` is a call of a language model. */
export type CallKind = 'generation' | 'embeddings' | 'rerank' | null;

type SentSpan = {
  readonly type: SpanType;
  readonly name: string | null;
  readonly model: string | null;
  /** The OpenTelemetry fields of the span; null for other spans. */
  readonly telemetry: LosslessObject | null;
};

/** The outer spans of the ai package, which sum up the calls below them. */
const OUTER_OPERATIONS: ReadonlySet<LosslessJson | undefined> = new Set([
  ...['ai.generateText', 'ai.streamText', 'ai.generateObject', 'ai.streamObject'],
  ...['ai.embed', 'ai.embedMany', 'ai.rerank'],
]);

const KINDS_BY_OPERATION: ReadonlyMap<LosslessJson | undefined, CallKind> = new Map([
  ['embeddings', 'embeddings'],
  ['embedding', 'embeddings'],
  ['rerank', 'rerank'],
  ['ai.embed.doEmbed', 'embeddings'],
  ['ai.embedMany.doEmbed', 'embeddings'],
  ['ai.rerank.doRerank', 'rerank'],
]);
const KINDS_BY_REQUEST_TYPE: ReadonlyMap<LosslessJson | undefined, CallKind> = new Map([
  ['embedding', 'embeddings'],
  ['rerank', 'rerank'],
]);
/** Attributes of conventions that name kinds of spans, in any case; MLflow puts them in quotes. */
const KINDS_BY_DIALECT: readonly (readonly [key: string, kinds: ReadonlyMap<string, CallKind>])[] = [
  [
    'openinference.span.kind',
    new Map([
      ['embedding', 'embeddings'],
      ['reranker', 'rerank'],
    ]),
  ],
  ['langfuse.observation.type', new Map([['embedding', 'embeddings']])],
  [
    'mlflow.spanType',
    new Map([
      ['embedding', 'embeddings'],
      ['reranker', 'rerank'],
    ]),
  ],
];

/** By the data of the span alone. */
export function callKindOf({ type, name, model, telemetry }: SentSpan): CallKind {
  if (model === null) return null;
  const attributes = isObject(telemetry?.attributes) ? telemetry.attributes : {};
  const operations = [attributes['operation.name'], attributes['ai.operationId'], name].map(withoutFunction);
  if (operations.some((operation) => OUTER_OPERATIONS.has(operation))) return null;
  if (type === 'llm') return 'generation';
  return telemetry === null ? null : kindByAttributes(attributes, operations);
}

/** The ai package may append the name of a function to an operation. */
function withoutFunction(operation: LosslessJson | undefined): LosslessJson | undefined {
  if (typeof operation !== 'string') return operation;
  const end = operation.indexOf(' ');
  return end === -1 ? operation : operation.slice(0, end);
}

function kindByAttributes(attributes: LosslessObject, operations: readonly (LosslessJson | undefined)[]): CallKind {
  const kinds = [
    KINDS_BY_OPERATION.get(attributes['gen_ai.operation.name']),
    KINDS_BY_REQUEST_TYPE.get(attributes['llm.request.type']),
    ...KINDS_BY_DIALECT.map(([key, kinds]) => kinds.get(plainName(attributes[key]))),
    ...operations.map((operation) => KINDS_BY_OPERATION.get(operation)),
  ];
  return kinds.find((kind) => kind !== undefined) ?? null;
}

function plainName(value: LosslessJson | undefined): string {
  return typeof value === 'string' ? value.replace(/^"|"$/g, '').toLowerCase() : '';
}

export function requestTypeOf(call: NonNullable<CallKind>, inputJson: string | null): SpanRequest['requestType'] {
  if (call !== 'generation') return call;
  return isChat(inputJson) ? 'chat' : null;
}

type StoredCall = {
  readonly type: SpanType;
  readonly model: string | null;
  readonly callRow: number | null;
};

/** 0: no call. Spans that were stored without the number are calls by their type. */
export function callRowOf({ callRow, type, model }: StoredCall): number {
  return callRow ?? (type === 'llm' && model !== null ? numberOfName(model) : 0);
}

export function isCall(span: StoredCall): boolean {
  return callRowOf(span) !== 0;
}
