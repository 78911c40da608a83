/** Codex and Gemini CLI, which report the calls of a session as log records, and what those of Claude Code have like them. */

import { createSource } from '../span-view.ts';
import { attributesIn, type Convention, type UsageTable } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { attribute } from './sources.ts';

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

/** A log record has the name of its event in this attribute, as has the span made of it. */
export const EVENT_NAME = 'event.name';

export const CODING_AGENT_CALLS: Dialect = {
  name: 'Claude Code, Codex and Gemini CLI',
  marks: [EVENT_NAME],
  leads: false,
  type: createSource('a log record that tells of a call → llm', ({ span: { name } }) =>
    isAnsweredCall(name) || isFailedCall(name) ? 'llm' : undefined,
  ),
  model: [attribute('model')],
  cost: [attribute('cost_usd')],
  input: ['prompt', 'request_text'].map(attribute),
  output: [attribute('response_text')],
};
