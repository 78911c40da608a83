/** OpenInference, of Arize. */

import { attributesIn, type Convention, type UsageTable } from './convention.ts';

const USAGE: UsageTable = {
  prompt_tokens: ['llm.token_count.prompt'],
  completion_tokens: ['llm.token_count.completion'],
  reasoning_tokens: ['llm.token_count.completion_details.reasoning'],
  cache_read_input_tokens: ['llm.token_count.prompt_details.cache_read', 'llm.token_count.prompt_details.cache_input'],
  cache_creation_input_tokens: ['llm.token_count.prompt_details.cache_write'],
  input_audio_tokens: ['llm.token_count.prompt_details.audio'],
  output_audio_tokens: ['llm.token_count.completion_details.audio'],
  total_tokens: ['llm.token_count.total'],
};

export const OPENINFERENCE: Convention = {
  name: 'OpenInference',
  marks: attributesIn(USAGE),
  signs: ['openinference.span.kind'],
  usage: USAGE,
  cachedTokensInPrompt: true,
};
