/** OpenLLMetry by Traceloop: names of OpenTelemetry GenAI, of several versions, and what each means by its counts. */

import { isArray, isObject } from '../../../../json/free-json.ts';
import type { SpanType } from '../../trace.ts';
import { indexed } from '../indexed.ts';
import { createSource, type Source } from '../span-view.ts';
import type { Convention } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { ALL_NAMES, LLM_USAGE_COUNTS } from './gen-ai.ts';
import { attribute, quoted } from './sources.ts';

/** Adds the cached tokens to the input tokens since the version after this one; before, it sent Anthropic's numbers. */
const RAW_UNTIL = [0, 27] as const;

export const OPENLLMETRY_ANTHROPIC_JS: Convention = {
  name: 'OpenLLMetry for Anthropic, JavaScript',
  marks: [],
  scopes: ['@traceloop/instrumentation-anthropic'],
  usage: ALL_NAMES,
  cachedTokensInPrompt: createSource(
    `beside the prompt up to version ${RAW_UNTIL.join('.')} of the scope and without one, part of the prompt after it`,
    ({ span: { scope } }) => isAfter(scope.version, RAW_UNTIL),
  ),
};

function isAfter(version: string, [untilMajor, untilMinor]: typeof RAW_UNTIL): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) > untilMajor || (Number(major) === untilMajor && Number(minor) > untilMinor);
}

/** Adds the cached tokens to the input tokens before it sends them. */
export const OPENLLMETRY_ANTHROPIC_PYTHON: Convention = {
  name: 'OpenLLMetry for Anthropic, Python',
  marks: [],
  scopes: ['opentelemetry.instrumentation.anthropic'],
  usage: ALL_NAMES,
  cachedTokensInPrompt: true,
};

/** Passes on what Bedrock says, which counts cached tokens of every model beside the input. */
export const OPENLLMETRY_BEDROCK_PYTHON: Convention = {
  name: 'OpenLLMetry for Bedrock, Python',
  marks: [],
  scopes: ['opentelemetry.instrumentation.bedrock'],
  usage: ALL_NAMES,
  cachedTokensInPrompt: false,
};

/** Passes on what the API of the model said. */
export const OPENLLMETRY_LLAMAINDEX_PYTHON: Convention = {
  name: 'OpenLLMetry for LlamaIndex, Python',
  marks: [],
  scopes: ['opentelemetry.instrumentation.llamaindex'],
  usage: ALL_NAMES,
  cachedTokensInPrompt: true,
  cachedTokensInPromptOfClaude: false,
};

/** Names of earlier versions, which others took over. */
export const LLM_USAGE: Convention = {
  name: 'llm.usage',
  marks: ['llm.usage.prompt_tokens', 'llm.usage.completion_tokens'],
  usage: LLM_USAGE_COUNTS,
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
