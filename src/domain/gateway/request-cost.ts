/** The cost of a request, like that of a span of the same instant. */

import { type LosslessObject, readMember } from '../../json/lossless-json.ts';
import type { RequestCost, RequestUsage } from '../events/request-content.ts';
import type { Prices } from '../pricing/prices.ts';
import { serviceTierOf } from '../pricing/rates.ts';
import { readDetails } from '../traces/collector/collector-details.ts';
import type { AnswerFacts, ReadBody } from './dialects/dialect.ts';

type Charged = {
  readonly model: string | null;
  /** Null: unknown. */
  readonly vendor: string | null;
  readonly atMs: number;
  readonly usage: RequestUsage;
  /** Whether the input tokens contain the cached ones; null: as the model's provider counts. */
  readonly isCachedInInput: boolean | null;
  /** What else the price depends on, as metrics of a span; undefined: only the tokens are known. */
  readonly details: LosslessObject | undefined;
};

/** Null: the price is unknown. */
export function costOfUsage(
  prices: Prices,
  { model, vendor, atMs, usage, isCachedInInput, details }: Charged,
): RequestCost | null {
  const { costNanoUsd, rateVersion } = prices.price({
    model,
    vendor,
    startedAtMs: atMs,
    tokens: {
      prompt: usage.inputTokens,
      completion: usage.outputTokens,
      reasoning: usage.reasoningTokens,
      cacheRead: usage.cacheReadInputTokens,
      cacheCreation: usage.cacheCreationInputTokens,
    },
    details: readDetails(details, undefined),
    explicitCostUsd: null,
    cachedTokensInPrompt: isCachedInInput,
    resultCostUsd: null,
    spanRates: null,
  });
  return costNanoUsd === null ? null : { nanoUsd: costNanoUsd, rateVersion };
}

/** What the price of an answered request depends on beside its tokens, as metrics of its span. */
export function detailMetrics(
  body: Pick<ReadBody, 'params'> | null,
  { parts, serviceTier }: Pick<AnswerFacts, 'parts' | 'serviceTier'>,
): LosslessObject {
  const { inputAudioTokens, outputAudioTokens, cacheWrite5mTokens, cacheWrite1hTokens } = parts;
  const tier = serviceTier ?? askedTier(body);
  return {
    requests: 1,
    ...(inputAudioTokens > 0 && { input_audio_tokens: inputAudioTokens }),
    ...(outputAudioTokens > 0 && { output_audio_tokens: outputAudioTokens }),
    ...(cacheWrite1hTokens > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWrite5mTokens,
        ephemeral_1h_input_tokens: cacheWrite1hTokens,
      },
    }),
    ...(tier !== null && { service_tier: tier }),
  };
}

/** The dearer tier, where a caller asks for it. A cheaper one counts only when the provider says that it served it. */
function askedTier(body: Pick<ReadBody, 'params'> | null): string | null {
  const asked = body === null ? null : readMember(body.params, 'service_tier');
  const tier = typeof asked === 'string' ? serviceTierOf(asked) : null;
  return tier === null || tier === 'priority' ? tier : STANDARD_TIER;
}

const STANDARD_TIER = 'default';
