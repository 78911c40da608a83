/** Codex and Gemini CLI, which report the calls of a session as log records, and what those of Claude Code have like them. */

import type { SpanType } from '../../trace.ts';
import { inputOfEvents, outputOfEvents } from '../message-events.ts';
import type { Attributes, OtlpSpan } from '../span.ts';
import { createSource, type Source } from '../span-view.ts';
import { attributesIn, type Convention, type UsageTable } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { answer, attribute, request } from './sources.ts';

const USAGE: UsageTable = {
  prompt_tokens: ['input_token_count'],
  completion_tokens: ['output_token_count'],
  cache_read_input_tokens: ['cached_token_count', 'cached_content_token_count'],
  cache_creation_input_tokens: ['cache_write_token_count'],
  reasoning_tokens: ['reasoning_token_count', 'thoughts_token_count'],
  // Codex calls its total that of the tool, meaning itself.
  total_tokens: ['total_token_count', 'tool_token_count'],
};

export const CODING_AGENTS: Convention = {
  name: 'Codex and Gemini CLI',
  marks: attributesIn(USAGE),
  // Its spans repeat a part of the counts under OpenTelemetry's names.
  scopes: ['gemini-cli'],
  usage: USAGE,
  cachedTokensInPrompt: true,
};

/** Log records that tell of a call that was answered. */
const ANSWERED: ReadonlySet<string> = new Set([
  'claude_code.api_request',
  'codex.sse_event',
  'gemini_cli.api_response',
  'qwen-code.api_response',
]);
/** Log records that tell of a call that failed. */
const FAILED: ReadonlySet<string> = new Set(['claude_code.api_error', 'gemini_cli.api_error', 'qwen-code.api_error']);

export function isAnsweredCall(name: string): boolean {
  return ANSWERED.has(name);
}

export function isFailedCall(name: string): boolean {
  return FAILED.has(name);
}

/** Log records that have, beside a span of the call, what it leaves out. */
const BESIDE: ReadonlySet<string> = new Set([
  'gemini_cli.api_request',
  'gemini_cli.api_response',
  'gemini_cli.api_error',
  'claude_code.assistant_response',
]);

export function tellsOfCall(name: string): boolean {
  return BESIDE.has(name);
}

/** The attributes of a span, and those that records of its call have beside them. */
export function attributesOfCall({ attributes, events }: Pick<OtlpSpan, 'attributes' | 'events'>): Attributes {
  const records = events.filter(({ name }) => BESIDE.has(name));
  if (records.length === 0) return attributes;
  return new Map([...records.flatMap((record) => [...record.attributes]), ...attributes]);
}

/** A log record has the name of its event in this attribute, as has the span made of it. */
export const EVENT_NAME = 'event.name';

const OPERATION = 'gen_ai.operation.name';
const SCOPE = 'gemini-cli';

const OPERATIONS: ReadonlyMap<unknown, SpanType> = new Map([
  ['llm_call', 'llm'],
  ['tool_call', 'tool'],
  ['agent_call', 'agent'],
]);

/** Gemini CLI has names of its own for operations. */
export const GEMINI_CLI_SPANS: Dialect = {
  name: 'Gemini CLI',
  marks: ['gen_ai.agent.description'],
  leads: true,
  type: createSource(
    `\`${OPERATION}\`: ${[...OPERATIONS].map(([operation, type]) => `\`${operation}\` → ${type}`).join(', ')}`,
    ({ span: { attributes, scope } }) => (scope.name === SCOPE ? OPERATIONS.get(attributes.get(OPERATION)) : undefined),
  ),
  // Its attributes are cut to ten thousand characters, and have messages in the form of Gemini.
  input: [ofItsOwn(inputOfEvents)],
  output: [ofItsOwn(outputOfEvents)],
};

function ofItsOwn(read: (view: Parameters<Source>[0]) => ReturnType<Source>): Source {
  return createSource('[events](#messages-in-events)', (view) =>
    view.span.scope.name === SCOPE ? read(view) : undefined,
  );
}

export const CODING_AGENT_CALLS: Dialect = {
  name: 'Claude Code, Codex and Gemini CLI',
  marks: [EVENT_NAME],
  leads: false,
  type: createSource('a log record that tells of a call → llm', ({ span: { name } }) =>
    isAnsweredCall(name) || isFailedCall(name) ? 'llm' : undefined,
  ),
  model: [attribute('model')],
  cost: [attribute('cost_usd')],
  input: [attribute('prompt'), request('request_text')],
  output: [answer('response_text'), shown('response')],
};

/** Claude Code writes this word where texts are not to be told. */
function shown(key: string): Source {
  return createSource(`\`${key}\``, ({ span }) => {
    const value = span.attributes.get(key);
    return value === '<REDACTED>' ? undefined : value;
  });
}
