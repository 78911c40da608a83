/** The attributes that give each field of a span: the first present value wins. */

import { isObject } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { aiAnswer, aiToolCalls } from './conventions/ai-sdk.ts';
import { dialectsOf } from './conventions/conventions.ts';
import type { DialectField } from './conventions/dialect.ts';
import { answer, attribute, quoted, request } from './conventions/sources.ts';
import { inputOfEvents, outputOfEvents } from './message-events.ts';
import { contentIn } from './messages.ts';
import { firstContent, type ReadAttribute, type SpanView } from './span-view.ts';

const MODEL_KEYS = [
  'gen_ai.response.model',
  'gen_ai.request.model',
  'llm.model_name',
  'ai.response.model',
  'ai.model.id',
  'embedding.model_name',
];

export const MODEL: readonly ReadAttribute[] = [
  leading('model'),
  ...MODEL_KEYS.map(attribute),
  aiModel,
  trailing('model'),
];

/** Every attribute that names a model. */
export const MODEL_NAMES: readonly string[] = [...MODEL_KEYS, 'ai.model'];

export const VENDOR: readonly ReadAttribute[] = [
  leading('vendor'),
  attribute('gen_ai.provider.name'),
  attribute('gen_ai.system'),
  attribute('llm.provider'),
  attribute('llm.system'),
  attribute('ai.model.provider'),
  trailing('vendor'),
];

export const COST: readonly ReadAttribute[] = [
  metric('cost'),
  attribute('langwatch.span.cost'),
  attribute('gen_ai.usage.cost'),
  attribute('llm.cost.total'),
  attribute('gen_ai.cost.total_cost'),
  leading('cost'),
  trailing('cost'),
];

export const TOKENS_ESTIMATED: readonly ReadAttribute[] = [
  metric('tokens_estimated'),
  attribute('langwatch.tokens.estimated'),
];

export const CACHED_TOKENS_IN_PROMPT: readonly ReadAttribute[] = [
  metric('cached_tokens_in_prompt'),
  attribute('spandrel.cached_tokens_in_prompt'),
];

/** The tier that served the call comes before the one that was asked for. */
export const SERVICE_TIER: readonly ReadAttribute[] = [
  'gen_ai.openai.response.service_tier',
  'openai.response.service_tier',
  'gen_ai.openai.request.service_tier',
  'openai.request.service_tier',
].map(attribute);

/** Read after langwatch.input, which states its own type. */
export const INPUT: readonly ReadAttribute[] = [
  leading('input'),
  attribute('gen_ai.input.messages'),
  request('gen_ai.prompt'),
  indexed('gen_ai.prompt.'),
  indexed('llm.input_messages.'),
  quoted('traceloop.entity.input'),
  attribute('input.value'),
  attribute('input'),
  attribute('ai.prompt.messages'),
  request('ai.prompt'),
  attribute('gen_ai.tool.call.arguments'),
  attribute('ai.toolCall.args'),
  trailing('input'),
  inputOfEvents,
];

/** After langwatch.output. */
export const OUTPUT: readonly ReadAttribute[] = [
  leading('output'),
  attribute('gen_ai.output.messages'),
  answer('gen_ai.completion'),
  indexed('gen_ai.completion.'),
  indexed('llm.output_messages.'),
  quoted('traceloop.entity.output'),
  attribute('output.value'),
  attribute('output'),
  aiAnswer,
  attribute('ai.response.object'),
  aiToolCalls,
  attribute('ai.response'),
  attribute('gen_ai.tool.call.result'),
  attribute('ai.toolCall.result'),
  trailing('output'),
  outputOfEvents,
];

export const CONTEXTS: readonly ReadAttribute[] = [
  attribute('langwatch.rag.contexts'),
  attribute('langwatch.rag_contexts'),
  // The name that the langwatch package itself sends.
  attribute('langwatch.contexts'),
];

/** After CONTEXTS. */
export const DOCUMENTS: ReadAttribute = indexed('retrieval.documents.');

/** Objects of parameters, or their JSON texts, under the parameters below. */
export const INVOCATION: readonly ReadAttribute[] = [attribute('llm.invocation_parameters'), leading('params')];

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
  // Joins the span and the gateway's own reports to one request.
  ['gateway_request_id', 'gateway_request_id'],
]);

/** Attributes that show an error by this value, without a status. */
export const ERROR_FLAGS: readonly (readonly [key: string, value: LosslessJson])[] = [
  ['error.has_error', true],
  ['langfuse.observation.level', 'ERROR'],
];

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
export const FIRST_TOKEN_DELAYS: readonly (readonly [key: string, unitMs: number])[] = [
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

function metric(name: string): ReadAttribute {
  return ({ metrics }) => metrics[name];
}

function aiModel({ span, json }: SpanView): LosslessJson | undefined {
  const sent = span.attributes.get('ai.model');
  const model = json.parsed(sent);
  if (!isObject(model) || typeof model.id !== 'string') return sent;
  return typeof model.provider === 'string' ? `${model.provider}/${model.id}` : model.id;
}

/** What the dialects say whose names come before all others. */
function leading(field: DialectField): ReadAttribute {
  return (view) => ofDialects(view, field, true);
}

/** What the dialects say that fill what others leave. */
function trailing(field: DialectField): ReadAttribute {
  return (view) => ofDialects(view, field, false);
}

function ofDialects(view: SpanView, field: DialectField, leads: boolean): LosslessJson | undefined {
  for (const dialect of dialectsOf(view.marks)) {
    const sources = dialect.leads === leads ? dialect[field] : undefined;
    const value = sources && firstContent(view, sources);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The rest of a longer key is one name: no SDK nests deeper, and each level costs time. */
const SEGMENTS_MAX = 8;
const INDEX = /^(0|[1-9][0-9]{0,8})$/;
/** An item with only these members becomes their values. */
const WRAPPERS: ReadonlySet<string> = new Set(['message', 'tool_call', 'message_content', 'document']);
const RENAMED: ReadonlyMap<string, string> = new Map([['contents', 'content']]);

type Tree = Map<string, Tree | LosslessJson>;

/**
 * The array in the attributes under a prefix: `llm.input_messages.0.message.role` is a member of the first message.
 * undefined when there is none.
 */
function indexed(prefix: string): ReadAttribute {
  return ({ span, json }) => {
    let root: Tree | undefined;
    for (const [key, value] of span.attributes) {
      if (!key.startsWith(prefix)) continue;
      const [index = '', ...names] = segmentsOf(key.slice(prefix.length));
      if (!INDEX.test(index)) continue;
      root ??= new Map();
      insertAt(root, [index, ...names], key.endsWith('.content') ? contentIn(value, json) : value);
    }
    return root === undefined ? undefined : toJson(root);
  };
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split('.', SEGMENTS_MAX);
  const used = segments.join('.').length;
  if (used === path.length) return segments;
  return [...segments.slice(0, -1), `${segments.at(-1)}${path.slice(used)}`];
}

function insertAt(root: Tree, path: readonly string[], value: LosslessJson): void {
  let tree = root;
  for (const segment of path.slice(0, -1)) {
    const known = tree.get(segment);
    const next: Tree = known instanceof Map ? known : new Map();
    if (known !== next) tree.set(segment, next);
    tree = next;
  }
  tree.set(path.at(-1) ?? '', value);
}

function toJson(tree: Tree): LosslessJson {
  const entries = [...tree].map(([key, branch]) => [key, branch instanceof Map ? toJson(branch) : branch] as const);
  if (entries.every(([key]) => INDEX.test(key))) {
    // Indexes only give the order: gaps and huge indexes leave no holes.
    return entries.toSorted(([one], [other]) => Number(one) - Number(other)).map(([, value]) => unwrap(value));
  }
  return Object.fromEntries(entries.map(([key, value]) => [RENAMED.get(key) ?? key, value]));
}

function unwrap(value: LosslessJson): LosslessJson {
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  if (names.length === 0 || !names.every((name) => WRAPPERS.has(name))) return value;
  const wrapped = Object.values(value);
  if (wrapped.length === 1) return wrapped[0] ?? null;
  // OpenInference splits a part with a call of a tool in two.
  return wrapped.every(isObject) ? Object.fromEntries(wrapped.flatMap((each) => Object.entries(each))) : value;
}
