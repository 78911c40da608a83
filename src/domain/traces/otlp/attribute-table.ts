/** The attributes that give each field of a span: the first present value wins. */

import { isObject } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { aiAnswer, aiToolCalls } from './conventions/ai-sdk.ts';
import { PROVIDER_METADATA } from './conventions/ai-sdk-usage.ts';
import { DIALECTS, dialectsOf } from './conventions/conventions.ts';
import type { DialectField } from './conventions/dialect.ts';
import { argumentsOf } from './conventions/openllmetry.ts';
import { answer, attribute, beforePoint, memberOf, quoted, request, vendorOf } from './conventions/sources.ts';
import { indexed } from './indexed.ts';
import { inputOfEvents, outputOfEvents } from './message-events.ts';
import { createSource, firstContent, type Source, type SpanView } from './span-view.ts';

const MODEL_KEYS = [
  'gen_ai.response.model',
  'gen_ai.request.model',
  'llm.model_name',
  'ai.response.model',
  'ai.model.id',
  'embedding.model_name',
];

export const MODEL: readonly Source[] = [
  leading('model'),
  ...MODEL_KEYS.map(attribute),
  createSource('`ai.model`: `<provider>/<id>`', aiModel),
  trailing('model'),
];

/** Every attribute that names a model. */
export const MODEL_NAMES: readonly string[] = [...MODEL_KEYS, 'ai.model'];

export const VENDOR: readonly Source[] = [
  leading('vendor'),
  vendorOf('gen_ai.provider.name'),
  vendorOf('gen_ai.system'),
  attribute('llm.provider'),
  attribute('llm.system'),
  beforePoint('ai.model.provider'),
  trailing('vendor'),
  // OpenInference has it among what LangChain tells of a call.
  memberOf('metadata', 'ls_provider'),
];

export const COST: readonly Source[] = [
  metric('cost'),
  attribute('langwatch.span.cost'),
  attribute('gen_ai.usage.cost'),
  attribute('llm.cost.total'),
  attribute('gen_ai.cost.total_cost'),
  leading('cost'),
  trailing('cost'),
];

/** Prices in USD that a span brings along. */
export const RATES = {
  input: 'langwatch.model.inputCostPerToken',
  output: 'langwatch.model.outputCostPerToken',
} as const;

export const TOKENS_ESTIMATED: readonly Source[] = [
  metric('tokens_estimated'),
  attribute('langwatch.tokens.estimated'),
];

export const CACHED_TOKENS_IN_PROMPT: readonly Source[] = [
  metric('cached_tokens_in_prompt'),
  attribute('spandrel.cached_tokens_in_prompt'),
];

/** The tier that served the call comes before the one that was asked for. */
export const SERVICE_TIER: readonly Source[] = [
  attribute('gen_ai.openai.response.service_tier'),
  attribute('openai.response.service_tier'),
  memberOf(PROVIDER_METADATA, 'openai.serviceTier'),
  attribute('gen_ai.openai.request.service_tier'),
  attribute('openai.request.service_tier'),
];

/** Texts that state their own type; they come before all others. */
export const TYPED = { input: 'langwatch.input', output: 'langwatch.output' } as const;

export const INPUT: readonly Source[] = [
  leading('input'),
  attribute('gen_ai.input.messages'),
  request('gen_ai.prompt'),
  indexed('gen_ai.prompt.'),
  indexed('llm.input_messages.'),
  argumentsOf('traceloop.entity.input'),
  attribute('input.value'),
  attribute('input'),
  attribute('ai.prompt.messages'),
  request('ai.prompt'),
  attribute('gen_ai.tool.call.arguments'),
  attribute('ai.toolCall.args'),
  trailing('input'),
  createSource('[events](#messages-in-events)', inputOfEvents),
];

export const OUTPUT: readonly Source[] = [
  leading('output'),
  attribute('gen_ai.output.messages'),
  answer('gen_ai.completion'),
  indexed('gen_ai.completion.'),
  indexed('llm.output_messages.'),
  quoted('traceloop.entity.output'),
  attribute('output.value'),
  attribute('output'),
  createSource('`ai.response.text` with `ai.response.toolCalls` beside it', aiAnswer),
  attribute('ai.response.object'),
  createSource('`ai.response.toolCalls`', aiToolCalls),
  attribute('ai.response'),
  attribute('gen_ai.tool.call.result'),
  attribute('ai.toolCall.result'),
  trailing('output'),
  createSource('[events](#messages-in-events)', outputOfEvents),
];

export const CONTEXTS: readonly Source[] = [
  attribute('langwatch.rag.contexts'),
  attribute('langwatch.rag_contexts'),
  // The name that the langwatch package itself sends.
  attribute('langwatch.contexts'),
];

/** After CONTEXTS. */
export const DOCUMENTS: Source = indexed('retrieval.documents.');

/** What leads the messages of an input with the role system. */
export const INSTRUCTIONS: readonly Source[] = [
  quoted('gen_ai.system_instructions'),
  createSource('`system` in `llm.invocation_parameters`', systemInstructions),
];

/** An object of parameters over all others. */
export const OWN_PARAMS = 'langwatch.params';

export const INVOCATION_PARAMS = 'llm.invocation_parameters';

/** Objects of parameters, or their JSON texts, under the parameters below. */
export const INVOCATION: readonly Source[] = [attribute(INVOCATION_PARAMS), leading('params')];

/** A parameter that joins the span and the gateway's own reports to one request. */
export const GATEWAY_REQUEST_ID = 'gateway_request_id';

/** Names of parameters by their attributes. */
export const PARAMS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.request.temperature', 'temperature'],
  ['gen_ai.request.top_p', 'top_p'],
  ['gen_ai.request.top_k', 'top_k'],
  ['gen_ai.request.max_tokens', 'max_tokens'],
  ['gen_ai.request.frequency_penalty', 'frequency_penalty'],
  ['gen_ai.request.presence_penalty', 'presence_penalty'],
  ['gen_ai.request.seed', 'seed'],
  ['gen_ai.request.stop_sequences', 'stop'],
  ['gen_ai.request.choice.count', 'n'],
  ['gen_ai.request.stream', 'stream'],
  ['gen_ai.response.finish_reasons', 'finish_reasons'],
  ['mlflow.chat.tools', 'tools'],
  ['gen_ai.tool.definitions', 'tools'],
]);

/** The parameters that are numbers. Some write them as text. */
export const NUMERIC_PARAMS: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'max_tokens', 'frequency_penalty', 'presence_penalty', 'seed', 'n'],
]);

/** Attributes that show an error by this value, without a status. */
export const ERROR_FLAGS: readonly (readonly [key: string, value: LosslessJson])[] = [
  ['error.has_error', true],
  ['langfuse.observation.level', 'ERROR'],
];

/** What stands for the message of an error that has none. */
export const ERROR_KINDS: readonly string[] = ['exception.type', 'error.type'];

export const ERROR_MESSAGES: readonly string[] = [
  'exception.message',
  'error.message',
  'langfuse.observation.status_message',
];

/** The earliest of these events is the first token. */
export const FIRST_TOKEN_EVENTS: ReadonlySet<string> = new Set([
  'first_token',
  'llm.first_token',
  'gen_ai.content.chunk',
  'llm.content.completion.chunk',
  'ai.stream.firstChunk',
  'First Token Stream Event',
]);

/** Attributes with the delay of the first token, and the milliseconds of their unit: OpenTelemetry's is the second. */
export const FIRST_TOKEN_DELAYS: readonly (readonly [key: string, unitMs: number, scope?: string])[] = [
  ['gen_ai.server.time_to_first_token', 1, 'strands.telemetry.tracer'],
  ['gen_ai.server.time_to_first_token', 1000],
  ['gen_ai.response.time_to_first_chunk', 1000],
  ['gen_ai.client.operation.time_to_first_chunk', 1000],
  ['ai.response.msToFirstChunk', 1],
  ['ttft_ms', 1],
];

/** Attributes with the instant of the first token, as text or as milliseconds since the epoch. */
export const FIRST_TOKEN_INSTANTS: readonly string[] = [
  'langfuse.observation.completion_start_time',
  'mastra.completion_start_time',
];

function metric(name: string): Source {
  return createSource(`\`${name}\` in \`langwatch.metrics\``, ({ metrics }) => metrics[name]);
}

/** OpenInference has the instructions of Anthropic's calls only among their parameters. */
function systemInstructions({ span, json }: SpanView): LosslessJson | undefined {
  const params = span.attributes.get(INVOCATION_PARAMS);
  return typeof params === 'string' && params.includes('"system"') ? json.object(params)?.system : undefined;
}

function aiModel({ span, json }: SpanView): LosslessJson | undefined {
  const sent = span.attributes.get('ai.model');
  const model = json.parsed(sent);
  if (!isObject(model) || typeof model.id !== 'string') return sent;
  return typeof model.provider === 'string' ? `${model.provider}/${model.id}` : model.id;
}

/** What the dialects say whose names come before all others. */
function leading(field: DialectField): Source {
  return createSource(namesOf(field, true), (view) => ofDialects(view, field, true));
}

/** What the dialects say that fill what others leave. */
function trailing(field: DialectField): Source {
  return createSource(namesOf(field, false), (view) => ofDialects(view, field, false));
}

function namesOf(field: DialectField, leads: boolean): string {
  const dialects = DIALECTS.filter((dialect) => dialect.leads === leads && dialect[field] !== undefined);
  return dialects.map(({ name }) => `*${name}*`).join(', ');
}

function ofDialects(view: SpanView, field: DialectField, leads: boolean): LosslessJson | undefined {
  for (const dialect of dialectsOf(view.marks)) {
    const sources = dialect.leads === leads ? dialect[field] : undefined;
    const value = sources && firstContent(view, sources);
    if (value !== undefined) return value;
  }
  return undefined;
}
