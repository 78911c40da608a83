/** Claude Code, which sends the numbers of Anthropic's answer under short names. */

import type { Convention } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { attribute, typeBy } from './sources.ts';

export const CLAUDE_CODE: Convention = {
  name: 'Claude Code',
  marks: ['input_tokens', 'output_tokens'],
  usage: {
    prompt_tokens: ['input_tokens'],
    completion_tokens: ['output_tokens'],
    cache_read_input_tokens: ['cache_read_tokens'],
    cache_creation_input_tokens: ['cache_creation_tokens'],
  },
  cachedTokensInPrompt: false,
};

const TYPE = 'span.type';

export const CLAUDE_CODE_SPANS: Dialect = {
  name: 'Claude Code',
  marks: [TYPE],
  leads: false,
  type: typeBy(TYPE, {
    interaction: 'agent',
    llm_request: 'llm',
    tool: 'tool',
    'tool.execution': 'tool',
    'tool.blocked_on_user': 'span',
    hook: 'component',
  }),
  model: [attribute('model')],
  input: ['user_prompt', 'new_context', 'tool_input'].map(attribute),
  output: ['response.model_output', 'tool_output'].map(attribute),
};
