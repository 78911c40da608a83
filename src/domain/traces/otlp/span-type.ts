/** The type of a span, from the first convention that tells it. */

import { isBlank } from '../collector/collector-json.ts';
import { SPAN_TYPES, type SpanType } from '../trace.ts';
import { MODEL_NAMES } from './attribute-table.ts';
import { DIALECTS, dialectsOf, marksUsage } from './conventions/conventions.ts';
import { typeBy } from './conventions/sources.ts';
import { isMessageEvent } from './message-events.ts';
import { createSource, operationsOf, type Source, type SpanView } from './span-view.ts';

type TypeNames = { readonly [name: string]: SpanType };

const NAMED: TypeNames = Object.fromEntries(SPAN_TYPES.map((type) => [type, type]));

const OPENINFERENCE: TypeNames = {
  retriever: 'rag',
  embedding: 'component',
  reranker: 'component',
  prompt: 'component',
  evaluator: 'evaluation',
};

const GEN_AI_OPERATIONS: TypeNames = {
  chat: 'llm',
  text_completion: 'llm',
  generate_content: 'llm',
  embeddings: 'component',
  // Spring AI's word.
  embedding: 'component',
  execute_tool: 'tool',
  invoke_agent: 'agent',
  create_agent: 'agent',
  plan: 'agent',
  handoff: 'agent',
  retrieval: 'rag',
  search_memory: 'rag',
  rerank: 'component',
  invoke_workflow: 'workflow',
};

const REQUEST_TYPES: TypeNames = { chat: 'llm', completion: 'llm', embedding: 'component', rerank: 'component' };

const AI_SDK_OPERATION = /^ai\.(generate|stream)(Text|Object)(\.do(Generate|Stream))?$/;

/** The first that tells a type wins. */
export const TYPE: readonly Source<SpanType>[] = [
  typeBy('langwatch.span.type', NAMED),
  ofDialects(true),
  typeBy('openinference.span.kind', { ...NAMED, ...OPENINFERENCE }),
  typeBy('traceloop.span.kind', NAMED),
  // The conventions of OpenTelemetry grow: an operation that is not listed here is a step of some kind.
  typeBy('gen_ai.operation.name', GEN_AI_OPERATIONS, 'span'),
  typeBy('llm.request.type', REQUEST_TYPES),
  createSource(
    '`operation.name`, `ai.operationId` or the name of the span: `ai.generateText`, `ai.streamText`, `ai.generateObject`, `ai.streamObject` → agent; the same with `.doGenerate` or `.doStream` → llm; `ai.toolCall` → tool; `ai.embed…` → component',
    aiSdkType,
  ),
  typeBy('langwatch.type', NAMED),
  typeBy('type', NAMED),
  ofDialects(false),
  createSource(
    'any `gen_ai.tool.…` → tool; any `gen_ai.agent.…` → agent; a model with token counts or messages → llm',
    typeByKeys,
  ),
];

export function typeOf(view: SpanView): SpanType {
  for (const source of TYPE) {
    const type = source(view);
    if (type !== undefined) return type;
  }
  return 'span';
}

/** The dialects whose names come before all others, or the others. */
function ofDialects(leads: boolean): Source<SpanType> {
  const names = DIALECTS.filter((dialect) => dialect.leads === leads && dialect.type !== undefined);
  return createSource(names.map(({ name }) => `*${name}*`).join(', '), (view) => {
    for (const dialect of dialectsOf(view.marks)) {
      const type = dialect.leads === leads ? dialect.type?.(view) : undefined;
      if (type !== undefined) return type;
    }
    return undefined;
  });
}

function aiSdkType({ span }: SpanView): SpanType | undefined {
  for (const operation of operationsOf(span)) {
    if (typeof operation !== 'string') continue;
    const named = AI_SDK_OPERATION.exec(operation);
    // The outer span plans and calls tools; the call of the model is inside.
    if (named !== null) return named[3] === undefined ? 'agent' : 'llm';
    if (operation === 'ai.toolCall') return 'tool';
    if (operation.startsWith('ai.embed')) return 'component';
  }
  return undefined;
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
