/** OpenLLMetry by Traceloop: names of OpenTelemetry GenAI, with names of its own for the cache. */

import { isArray, isObject } from '../../../../json/free-json.ts';
import type { SpanType } from '../../trace.ts';
import { indexed } from '../indexed.ts';
import { createSource, type Source } from '../span-view.ts';
import type { Convention, UsageTable } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { attribute, quoted } from './sources.ts';

const CACHE_READ = 'gen_ai.usage.cache_read_input_tokens';
const CACHE_CREATION = 'gen_ai.usage.cache_creation_input_tokens';
/** What Strands calls it. */
const CACHE_WRITE = 'gen_ai.usage.cache_write_input_tokens';

const USAGE: UsageTable = {
  prompt_tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.usage.prompt_tokens'],
  completion_tokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.usage.completion_tokens'],
  reasoning_tokens: ['gen_ai.usage.reasoning_tokens'],
  cache_read_input_tokens: [CACHE_READ, 'gen_ai.usage.cache_read.input_tokens'],
  cache_creation_input_tokens: [CACHE_CREATION, CACHE_WRITE, 'gen_ai.usage.cache_creation.input_tokens'],
  total_tokens: ['gen_ai.usage.total_tokens', 'llm.usage.total_tokens'],
};

export const OPENLLMETRY: Convention = {
  name: 'OpenLLMetry and Strands',
  marks: [CACHE_READ, CACHE_CREATION, CACHE_WRITE],
  usage: USAGE,
  cachedTokensInPrompt: null,
  cachedTokensInPromptOfClaude: false,
};

/** Sends the numbers of Anthropic's answer, also under OpenTelemetry's names. */
export const OPENLLMETRY_ANTHROPIC_JS: Convention = {
  name: 'OpenLLMetry for Anthropic, JavaScript',
  marks: [],
  scopes: ['@traceloop/instrumentation-anthropic'],
  usage: USAGE,
  cachedTokensInPrompt: false,
};

/** Adds the cached tokens to the input tokens before it sends them. */
export const OPENLLMETRY_ANTHROPIC_PYTHON: Convention = {
  name: 'OpenLLMetry for Anthropic, Python',
  marks: [],
  scopes: ['opentelemetry.instrumentation.anthropic'],
  usage: USAGE,
  cachedTokensInPrompt: true,
};

const PLAIN: UsageTable = {
  prompt_tokens: ['llm.usage.prompt_tokens'],
  completion_tokens: ['llm.usage.completion_tokens'],
  total_tokens: ['llm.usage.total_tokens'],
};

/** Names of earlier versions, which others took over. */
export const LLM_USAGE: Convention = {
  name: 'llm.usage',
  marks: ['llm.usage.prompt_tokens', 'llm.usage.completion_tokens'],
  usage: PLAIN,
  cachedTokensInPrompt: null,
};

/** Names of earlier versions, which the SDK for Go writes today. */
export const OPENLLMETRY_EARLY_SPANS: Dialect = {
  name: 'OpenLLMetry for Go',
  marks: ['llm.request.model', 'llm.response.model', 'llm.vendor'],
  leads: false,
  model: ['llm.response.model', 'llm.request.model'].map(attribute),
  vendor: [attribute('llm.vendor')],
  input: [indexed('llm.prompts.')],
  output: [indexed('llm.completions.')],
};

const KIND = 'traceloop.span.kind';
const OPERATION = 'gen_ai.operation.name';
const TOOL = 'tool.name';
const SCOPE = /instrumentation[-.](llamaindex|langchain)$/;
const RETRIEVAL = /retriev/i;

const OPERATIONS: ReadonlyMap<unknown, SpanType> = new Map([
  ['chat', 'llm'],
  ['embeddings', 'component'],
  ['rerank', 'component'],
  ['vector_db_retrieve', 'rag'],
]);

/** LlamaIndex and LangChain as it instruments them: everything is a task, also calls of models and retrievals. */
export const OPENLLMETRY_TASKS: Dialect = {
  name: 'LlamaIndex and LangChain',
  marks: [KIND],
  leads: true,
  type: createSource(
    `\`${KIND}\` is \`task\`, where OpenLLMetry instruments them: \`${OPERATION}\` ${[...OPERATIONS].map(([operation, type]) => `\`${operation}\` → ${type}`).join(', ')}; any \`${TOOL}\` → tool; a name that tells of a retrieval → rag`,
    ({ span: { attributes, name, scope } }) => {
      if (attributes.get(KIND) !== 'task' || !SCOPE.test(scope.name)) return undefined;
      const type = OPERATIONS.get(attributes.get(OPERATION));
      return type ?? (attributes.has(TOOL) ? 'tool' : RETRIEVAL.test(name) ? 'rag' : undefined);
    },
  ),
};

/** What a function was called with: its only argument, or all of them. */
export function argumentsOf(key: string): Source {
  const read = quoted(key);
  return createSource(read.about, (view) => {
    const sent = read(view);
    const call = view.json.object(sent);
    if (call === undefined || !isArray(call.args) || !isObject(call.kwargs)) return sent;
    return call.args.length > 1 || Object.keys(call.kwargs).length > 0 ? sent : call.args[0];
  });
}
