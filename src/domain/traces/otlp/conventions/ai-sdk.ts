/** The telemetry of Vercel's `ai` package. */

import { attributesIn, type Convention, type UsageTable } from './convention.ts';

const USAGE: UsageTable = {
  // `ai.usage.tokens` is what embeddings have.
  prompt_tokens: ['ai.usage.promptTokens', 'ai.usage.inputTokens', 'ai.usage.tokens'],
  completion_tokens: ['ai.usage.completionTokens', 'ai.usage.outputTokens'],
  reasoning_tokens: ['ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'],
  cache_read_input_tokens: ['ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'],
  cache_creation_input_tokens: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
  total_tokens: ['ai.usage.totalTokens'],
};

export const AI_SDK: Convention = {
  name: 'AI SDK',
  marks: attributesIn(USAGE),
  signs: ['ai.operationId'],
  scopes: ['ai'],
  usage: USAGE,
  cachedTokensInPrompt: true,
};
