/**
 * What providers publish, and the package of prices lacks or has wrong. Each entry names where it is published. The
 * price list is made with them; an entry that no longer changes anything fails that, so that it can be removed.
 */

import type { ModelInfo } from '@pydantic/genai-prices';
import type { ServiceRate } from './rates.ts';

export type PriceCorrection = {
  /** As in the package. */
  readonly provider: string;
  /** Matches the ids of the models. */
  readonly models: RegExp;
  readonly change: PriceChange;
  /** The page of the provider. */
  readonly source: string;
  /** The sense of the page. */
  readonly says: string;
};

export type PriceChange =
  /** Rates that the package lacks, by its names. */
  | { readonly kind: 'rates'; readonly usd: Readonly<Record<string, number>> }
  /** Writes to a cache of one hour cost the input rate so many times. */
  | { readonly kind: 'hour_long_writes'; readonly timesInput: number }
  /** Larger inputs than the published number of tokens cost more. */
  | { readonly kind: 'threshold'; readonly listedTokens: number; readonly publishedTokens: number }
  | { readonly kind: 'service'; readonly rate: ServiceRate }
  /** A later model, whose name the package takes for the one that it has. */
  | { readonly kind: 'later_model'; readonly model: ModelInfo };

const half = [1, 2] as const;

const longContext: Pick<PriceCorrection, 'change' | 'says'> = {
  change: { kind: 'threshold', listedTokens: 271_999, publishedTokens: 272_000 },
  says: 'Prompts with more than 272K input tokens cost 2x for input and 1.5x for output, for the whole request.',
};

const hourLongWrites: Pick<PriceCorrection, 'change' | 'says'> = {
  change: { kind: 'hour_long_writes', timesInput: 2 },
  says: 'Writes to a cache that lives one hour cost twice the input rate.',
};

/** OpenAI's premium is the same for input, cached input and output of a model. */
function fast(models: RegExp, numerator: number, denominator: number): PriceCorrection {
  return {
    provider: 'openai',
    models,
    change: { kind: 'service', rate: { tier: 'priority', share: [numerator, denominator], isBaseOnly: true } },
    source: 'https://openai.com/api-fast-mode/',
    says: 'The table of rates of fast mode, which was priority processing before; it excludes long context.',
  };
}

export const PRICE_CORRECTIONS: readonly PriceCorrection[] = [
  {
    provider: 'openai',
    models: /^gpt-(?:5\.[456]|6)/,
    ...longContext,
    source: 'https://developers.openai.com/api/docs/models/gpt-5.4',
  },
  {
    provider: 'aws',
    // Bedrock takes over the rates of the maker.
    models: /openai\.gpt-5\.6-/,
    ...longContext,
    source: 'https://developers.openai.com/api/docs/models/gpt-5.6-sol',
  },
  {
    provider: 'google',
    models: /^claude-(?!3-)/,
    ...hourLongWrites,
    source: 'https://cloud.google.com/vertex-ai/generative-ai/pricing#partner-models',
  },
  {
    provider: 'aws',
    models: /claude-(?:haiku-4-5|(?:opus|sonnet)-(?:4-[5-9]|5)|fable-5)/,
    ...hourLongWrites,
    source: 'https://aws.amazon.com/bedrock/pricing/',
  },
  {
    provider: 'aws',
    models: /^amazon\.titan-embed-text-v1$/,
    change: {
      kind: 'later_model',
      model: {
        id: 'amazon.titan-embed-text-v2',
        match: { contains: 'titan-embed-text-v2' },
        prices: { input_mtok: 0.02 },
      },
    },
    source: 'https://aws.amazon.com/bedrock/pricing/',
    says: 'Titan Text Embeddings V2 costs $0.00002 per 1,000 input tokens, a fifth of the first version.',
  },
  {
    provider: 'openrouter',
    models: /^~?(?:anthropic\/)?claude-/,
    ...hourLongWrites,
    source: 'https://openrouter.ai/docs/guides/best-practices/prompt-caching',
  },
  {
    provider: 'openai',
    models: /^gpt-4o-audio-preview$/,
    change: { kind: 'rates', usd: { input_audio_mtok: 40, output_audio_mtok: 80 } },
    source: 'https://developers.openai.com/api/docs/models/gpt-4o-audio-preview',
    says: 'Audio tokens cost $40 in and $80 out per million.',
  },
  {
    provider: 'openai',
    models: /^gpt-4o-mini-audio-preview$/,
    change: { kind: 'rates', usd: { input_audio_mtok: 10, output_audio_mtok: 20 } },
    source: 'https://developers.openai.com/api/docs/models/gpt-4o-mini-audio-preview',
    says: 'Audio tokens cost $10 in and $20 out per million.',
  },
  {
    provider: 'openai',
    models: /^ft:gpt-4o$/,
    change: { kind: 'rates', usd: { cache_read_mtok: 1.875 } },
    source: 'https://platform.openai.com/docs/pricing#fine-tuning',
    says: 'Cached input of a fine-tuned gpt-4o costs $1.875 per million.',
  },
  {
    provider: 'openai',
    models: /^ft:gpt-4o-mini$/,
    change: { kind: 'rates', usd: { cache_read_mtok: 0.15 } },
    source: 'https://platform.openai.com/docs/pricing#fine-tuning',
    says: 'Cached input of a fine-tuned gpt-4o-mini costs $0.15 per million.',
  },
  {
    provider: 'openai',
    // The batch rates of these three old models are their standard ones.
    models: /^(?!gpt-3\.5-(?:turbo-)?(?:0301|0613|1106)$)/,
    change: { kind: 'service', rate: { tier: 'batch', share: half } },
    source: 'https://developers.openai.com/api/docs/guides/batch',
    says: 'The Batch API costs half of the standard rates; long context raises them as it raises those.',
  },
  {
    provider: 'openai',
    models: /^(?:gpt-[56]|o3$|o4-mini$)/,
    change: { kind: 'service', rate: { tier: 'flex', share: half } },
    source: 'https://developers.openai.com/api/docs/guides/flex-processing',
    says: 'Flex processing costs the rates of the Batch API.',
  },
  fast(/^gpt-(?:5|5\.1|5\.2|5\.4|5\.4-mini|5\.6-sol|5\.6-terra|5\.6-luna|4\.1-nano)$/, 2, 1),
  fast(/^gpt-5\.5$/, 5, 2),
  fast(/^gpt-5-mini$/, 9, 5),
  fast(/^(?:gpt-4\.1|gpt-4\.1-mini|gpt-4o-2024-05-13|o3)$/, 7, 4),
  fast(/^gpt-4o$/, 17, 10),
  fast(/^gpt-4o-mini$/, 5, 3),
  fast(/^o4-mini$/, 20, 11),
  {
    provider: 'azure',
    models: /^(?:gpt-|o[134])/,
    change: { kind: 'service', rate: { tier: 'batch', share: half } },
    source: 'https://learn.microsoft.com/azure/foundry/openai/how-to/batch',
    says: 'Global batch costs 50 % less than global standard.',
  },
  {
    provider: 'azure',
    models: /^(?:gpt-|o[134])/,
    change: { kind: 'service', rate: { tier: 'flex', share: half } },
    source: 'https://learn.microsoft.com/azure/foundry/openai/how-to/flex-processing',
    says: 'Flex processing costs 50 % less than standard processing.',
  },
  {
    provider: 'anthropic',
    models: /^claude-/,
    change: { kind: 'service', rate: { tier: 'batch', share: half } },
    source: 'https://platform.claude.com/docs/en/build-with-claude/batch-processing',
    says: 'All usage of the Message Batches API costs half of the standard prices, cached tokens included.',
  },
  {
    provider: 'google',
    models: /^gemini-/,
    change: { kind: 'service', rate: { tier: 'batch', share: half, keepsCacheReads: true } },
    source: 'https://ai.google.dev/gemini-api/docs/batch-api',
    says: 'The Batch API costs half of the standard rates; cached tokens cost what they cost outside of it.',
  },
  {
    provider: 'google',
    models: /^gemini-(?:2\.5|3)/,
    change: { kind: 'service', rate: { tier: 'flex', share: half } },
    source: 'https://ai.google.dev/gemini-api/docs/optimization',
    says: 'Flex inference costs half of the standard rates.',
  },
  {
    provider: 'google',
    models: /^gemini-3\.[78]-flash$/,
    change: { kind: 'service', rate: { tier: 'priority', share: [9, 5] } },
    source: 'https://ai.google.dev/gemini-api/docs/pricing',
    says: 'Priority inference of these models costs 1.8 times the standard rates.',
  },
  {
    provider: 'x-ai',
    models: /^grok-4\.20$/,
    change: { kind: 'service', rate: { tier: 'batch', share: [4, 5] } },
    source: 'https://docs.x.ai/developers/models/grok-4.20-0309',
    says: 'Requests of the Batch API cost 20 % less than the standard rates.',
  },
  {
    provider: 'mistral',
    models: /./,
    change: { kind: 'service', rate: { tier: 'batch', share: half } },
    source: 'https://docs.mistral.ai/capabilities/batch/',
    says: 'Batch inference costs 50 % less.',
  },
  {
    provider: 'groq',
    models: /./,
    change: { kind: 'service', rate: { tier: 'batch', share: half } },
    source: 'https://console.groq.com/docs/batch',
    says: 'Batch processing costs 50 % less than synchronous calls.',
  },
  {
    provider: 'voyageai',
    models: /./,
    change: { kind: 'service', rate: { tier: 'batch', share: [67, 100] } },
    source: 'https://docs.voyageai.com/docs/batch-inference',
    says: 'The Batch API costs 33 % less.',
  },
];
