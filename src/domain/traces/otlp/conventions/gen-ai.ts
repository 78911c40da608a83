/** The semantic conventions of OpenTelemetry for generative AI, and the names that some write beside them. */

import { attributesIn, type Convention, type UsageTable } from './convention.ts';

const COUNTS = {
  prompt_tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  completion_tokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
  reasoning_tokens: ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'],
  total_tokens: ['gen_ai.usage.total_tokens'],
} as const satisfies UsageTable;

const CACHE_READ = 'gen_ai.usage.cache_read.input_tokens';
const CACHE_WRITES = ['gen_ai.usage.cache_creation.input_tokens', 'gen_ai.usage.cache_write.input_tokens'] as const;

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
  marks: attributesIn(UNDOTTED),
  usage: UNDOTTED,
  cachedTokensInPrompt: null,
};

const DETAILS: UsageTable = {
  cache_read_input_tokens: ['gen_ai.usage.details.cache_read_tokens'],
  cache_creation_input_tokens: ['gen_ai.usage.details.cache_write_tokens'],
  reasoning_tokens: ['gen_ai.usage.details.reasoning_tokens'],
  input_audio_tokens: ['gen_ai.usage.details.input_audio_tokens'],
  output_audio_tokens: ['gen_ai.usage.details.output_audio_tokens'],
};

export const PYDANTIC_AI: Convention = {
  name: 'pydantic-ai',
  marks: attributesIn(DETAILS),
  scopes: ['pydantic-ai'],
  usage: {
    ...COUNTS,
    ...DETAILS,
    cache_read_input_tokens: [CACHE_READ, 'gen_ai.usage.details.cache_read_tokens'],
    cache_creation_input_tokens: [...CACHE_WRITES, 'gen_ai.usage.details.cache_write_tokens'],
  },
  cachedTokensInPrompt: true,
};

const INPUT_DETAILS = 'gen_ai.usage.input_token_details';
const OUTPUT_DETAILS = 'gen_ai.usage.output_token_details';

export const LANGSMITH: Convention = {
  name: 'LangSmith',
  marks: [INPUT_DETAILS, OUTPUT_DETAILS],
  usage: {
    ...COUNTS,
    cache_read_input_tokens: [{ json: INPUT_DETAILS, members: ['cache_read'] }],
    // Writes of a known lifetime are not in cache_creation.
    cache_creation_input_tokens: [
      { json: INPUT_DETAILS, members: ['cache_creation', 'ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'] },
    ],
    ephemeral_5m_input_tokens: [{ json: INPUT_DETAILS, members: ['ephemeral_5m_input_tokens'] }],
    ephemeral_1h_input_tokens: [{ json: INPUT_DETAILS, members: ['ephemeral_1h_input_tokens'] }],
    input_audio_tokens: [{ json: INPUT_DETAILS, members: ['audio'] }],
    reasoning_tokens: [{ json: OUTPUT_DETAILS, members: ['reasoning'] }],
    output_audio_tokens: [{ json: OUTPUT_DETAILS, members: ['audio'] }],
  },
  cachedTokensInPrompt: true,
};
