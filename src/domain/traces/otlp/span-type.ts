/** The type of a span, from the first convention that tells it. */

import type { LosslessJson } from '../../../json/lossless-json.ts';
import { isBlank } from '../collector/collector-json.ts';
import { SPAN_TYPES, type SpanType } from '../trace.ts';
import { MODEL_NAMES } from './attribute-table.ts';
import { dialectsOf, marksUsage } from './conventions/conventions.ts';
import { isMessageEvent } from './message-events.ts';
import { operationsOf, type SpanView } from './span-view.ts';

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
  ['plan', 'agent'],
  ['handoff', 'agent'],
  ['retrieval', 'rag'],
  ['search_memory', 'rag'],
  ['rerank', 'component'],
  ['invoke_workflow', 'workflow'],
]);

const REQUEST_TYPES: ReadonlyMap<LosslessJson | undefined, SpanType> = new Map([
  ['chat', 'llm'],
  ['completion', 'llm'],
  ['embedding', 'component'],
  ['rerank', 'component'],
]);

const AI_SDK_OPERATION = /^ai\.(generate|stream)(Text|Object)(\.do(Generate|Stream))?$/;

export function typeOf(view: SpanView): SpanType {
  const { span } = view;
  const { attributes } = span;
  return (
    NAMED.get(attributes.get('langwatch.span.type')) ??
    dialectType(view, true) ??
    openInferenceType(attributes.get('openinference.span.kind')) ??
    NAMED.get(attributes.get('traceloop.span.kind')) ??
    genAiType(attributes.get('gen_ai.operation.name')) ??
    REQUEST_TYPES.get(attributes.get('llm.request.type')) ??
    aiSdkType(operationsOf(span)) ??
    NAMED.get(attributes.get('langwatch.type')) ??
    NAMED.get(attributes.get('type')) ??
    dialectType(view, false) ??
    typeByKeys(view) ??
    'span'
  );
}

/** By the dialects whose names come before all others, or by the others. */
function dialectType({ span, marks }: SpanView, leads: boolean): SpanType | undefined {
  for (const dialect of dialectsOf(marks)) {
    const type = dialect.leads === leads ? dialect.type?.(span) : undefined;
    if (type !== undefined) return type;
  }
  return undefined;
}

function openInferenceType(kind: LosslessJson | undefined): SpanType | undefined {
  if (typeof kind !== 'string') return undefined;
  const name = kind.toLowerCase();
  return OPENINFERENCE.get(name) ?? NAMED.get(name);
}

function aiSdkType(operations: readonly LosslessJson[]): SpanType | undefined {
  for (const operation of operations) {
    if (typeof operation !== 'string') continue;
    const named = AI_SDK_OPERATION.exec(operation);
    // The outer span plans and calls tools; the call of the model is inside.
    if (named !== null) return named[3] === undefined ? 'agent' : 'llm';
    if (operation === 'ai.toolCall') return 'tool';
    if (operation.startsWith('ai.embed')) return 'component';
  }
  return undefined;
}

/** The conventions of OpenTelemetry grow: an operation that is not listed here is a step of some kind. */
function genAiType(operation: LosslessJson | undefined): SpanType | undefined {
  return GEN_AI_OPERATIONS.get(operation) ?? (isBlank(operation) ? undefined : 'span');
}

const MESSAGES: ReadonlySet<string> = new Set([
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.prompt',
  'gen_ai.completion',
  'ai.prompt.messages',
]);
const MESSAGE_PREFIXES = ['gen_ai.prompt.', 'gen_ai.completion.', 'llm.input_messages.', 'llm.output_messages.'];

/** The type by attributes of a tool or an agent, or by a model that was called. */
function typeByKeys({ span: { attributes, events }, marks }: SpanView): SpanType | undefined {
  let hasAgent = false;
  for (const key of attributes.keys()) {
    if (!key.startsWith('gen_ai.')) continue;
    if (key.startsWith('gen_ai.tool.')) return 'tool';
    hasAgent ||= key.startsWith('gen_ai.agent.');
  }
  if (hasAgent) return 'agent';
  if (!MODEL_NAMES.some((name) => !isBlank(attributes.get(name)))) return undefined;
  const isCall = marksUsage(marks) || events.some(isMessageEvent) || [...attributes.keys()].some(namesMessages);
  return isCall ? 'llm' : undefined;
}

function namesMessages(key: string): boolean {
  return MESSAGES.has(key) || MESSAGE_PREFIXES.some((prefix) => key.startsWith(prefix));
}
