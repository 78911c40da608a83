/** Claude Code, which sends the numbers of Anthropic's answer under short names. */

import type { Convention } from './convention.ts';

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
