/** The type of a span: the first source that gives one decides. */

import type { LosslessJson } from '../../../json/lossless-json.ts';
import { SPAN_TYPES, type SpanType } from '../trace.ts';
import type { Attributes, OtlpSpan } from './span.ts';
import { operationsOf } from './span-view.ts';

const NAMED: ReadonlyMap<LosslessJson | undefined, SpanType> = new Map(SPAN_TYPES.map((type) => [type, type]));

const OPENINFERENCE: ReadonlyMap<string, SpanType> = new Map([
  ['retriever', 'rag'],
  ['embedding', 'component'],
  ['reranker', 'component'],
  ['prompt', 'component'],
  ['evaluator', 'evaluation'],
]);

const GEN_AI_OPERATIONS: ReadonlyMap<LosslessJson | undefined, SpanType> = new Map([
  ['chat', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['embeddings', 'component'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
  ['create_agent', 'agent'],
]);

const REQUEST_TYPES: ReadonlyMap<LosslessJson | undefined, SpanType> = new Map([
  ['chat', 'llm'],
  ['completion', 'llm'],
  ['embedding', 'component'],
  ['rerank', 'component'],
]);

const VERCEL_LLM = /^ai\.(generate|stream)(Text|Object)(\.do(Generate|Stream))?$/;

export function typeOf(span: OtlpSpan): SpanType {
  const { attributes } = span;
  return (
    NAMED.get(attributes.get('langwatch.span.type')) ??
    openInferenceType(attributes.get('openinference.span.kind')) ??
    NAMED.get(attributes.get('traceloop.span.kind')) ??
    GEN_AI_OPERATIONS.get(attributes.get('gen_ai.operation.name')) ??
    REQUEST_TYPES.get(attributes.get('llm.request.type')) ??
    vercelType(operationsOf(span)) ??
    NAMED.get(attributes.get('langwatch.type')) ??
    NAMED.get(attributes.get('type')) ??
    typeByKeys(attributes) ??
    'span'
  );
}

function openInferenceType(kind: LosslessJson | undefined): SpanType | undefined {
  if (typeof kind !== 'string') return undefined;
  const name = kind.toLowerCase();
  return OPENINFERENCE.get(name) ?? NAMED.get(name);
}

function vercelType(operations: readonly LosslessJson[]): SpanType | undefined {
  for (const operation of operations) {
    if (typeof operation !== 'string') continue;
    if (VERCEL_LLM.test(operation)) return 'llm';
    if (operation === 'ai.toolCall') return 'tool';
    if (operation.startsWith('ai.embed')) return 'component';
  }
  return undefined;
}

/** The type by attribute keys that mention a tool, an agent or a model. */
function typeByKeys(attributes: Attributes): SpanType | undefined {
  let hasModelKey = false;
  let hasAgentKey = false;
  for (const key of attributes.keys()) {
    if (key.startsWith('gen_ai.tool.')) return 'tool';
    if (key.startsWith('gen_ai.agent.')) hasAgentKey = true;
    else if (key.startsWith('gen_ai.') || key.startsWith('llm.') || key.startsWith('ai.model.')) hasModelKey = true;
  }
  if (hasAgentKey) return 'agent';
  return hasModelKey ? 'llm' : undefined;
}
