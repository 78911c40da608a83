/** The semantic conventions of OpenTelemetry for generative AI, and the names that some write beside them. */

import { attributesIn, type Convention, type UsageTable } from './convention.ts';

/** The AI SDK writes it beside these names, and alone on spans around calls. */
export const REASONING_OF_AI_SDK = 'ai.usage.outputTokenDetails.reasoningTokens';
/** Qwen Code writes it beside these names; log records have it beside others. */
const THOUGHTS = 'thoughts_token_count';

export const COUNTS = {
  prompt_tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  completion_tokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
  reasoning_tokens: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    // Google's ADK before version 2.3.
    'gen_ai.usage.experimental.reasoning_tokens',
    REASONING_OF_AI_SDK,
    THOUGHTS,
  ],
  total_tokens: ['gen_ai.usage.total_tokens'],
} as const satisfies UsageTable;

export const CACHE_READ = 'gen_ai.usage.cache_read.input_tokens';
export const CACHE_WRITES = [
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_write.input_tokens',
] as const;

/** The convention says that input tokens include cached ones, and these names are only used together with it. */
export const GEN_AI_CACHED: Convention = {
  name: 'OpenTelemetry GenAI',
  marks: [CACHE_READ, ...CACHE_WRITES],
  usage: { ...COUNTS, cache_read_input_tokens: [CACHE_READ], cache_creation_input_tokens: CACHE_WRITES },
  cachedTokensInPrompt: true,
};

const UNDOTTED: UsageTable = {
  ...COUNTS,
  cache_read_input_tokens: ['gen_ai.usage.cached_input_tokens', 'gen_ai.usage.cached_tokens'],
};

export const GEN_AI: Convention = {
  name: 'OpenTelemetry GenAI without a cache, or with earlier names of it',
  marks: attributesIn(UNDOTTED).filter((key) => key !== REASONING_OF_AI_SDK && key !== THOUGHTS),
  usage: UNDOTTED,
  cachedTokensInPrompt: null,
};
