/** The metrics of a collected span: counts and cost with columns of their own, and all others sent. */

import { isLongKey, isObject, LONG_KEY_REASON, numberOf } from '../../../json/free-json.ts';
import type { LosslessObject } from '../../../json/lossless-json.ts';
import { hasTokenCount, type TokenCounts } from '../../pricing/usage.ts';
import { cutToCharacters } from '../../text-limits.ts';
import { DETAIL_READERS } from './collector-details.ts';
import { isUnreadable, type MetricsDraft, type Sent, type TypedDraft } from './collector-draft.ts';
import { isBlank } from './collector-json.ts';
import { type Reading, readCount, readFreeJson, readScalar, readUsd, refuse, reject } from './collector-reading.ts';

export type SentMetrics = {
  readonly tokens: TokenCounts;
  readonly costUsd: number | null;
  readonly tokensEstimated: boolean;
  readonly cachedTokensInPrompt: boolean | null;
  /** Compact JSON text of the members without a column; null when none, "{}" when metrics were sent without values. */
  readonly otherJson: string | null;
};

/** Members of metrics that have a field of their own. */
export const METRIC_NAMES: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cost',
  'tokens_estimated',
  'cached_tokens_in_prompt',
]);

// A span that a client reads and sends back must not override the real source of the cost.
const NEVER_READ = 'cost_source';

const SHOWN_KEY_CHARACTERS_MAX = 100;

const NO_METRICS: SentMetrics = Object.freeze({
  tokens: Object.freeze({ prompt: null, completion: null, reasoning: null, cacheRead: null, cacheCreation: null }),
  costUsd: null,
  tokensEstimated: false,
  cachedTokensInPrompt: null,
  otherJson: null,
});

export function readMetrics(sent: Sent<MetricsDraft>, reading: Reading): SentMetrics {
  if (sent === undefined) return NO_METRICS;
  if (isUnreadable(sent)) {
    reject(reading, sent.path, sent.reason);
    return NO_METRICS;
  }
  const metrics: SentMetrics = {
    tokens: {
      prompt: readCount(sent.promptTokens, 'metrics.prompt_tokens', reading),
      completion: readCount(sent.completionTokens, 'metrics.completion_tokens', reading),
      reasoning: readCount(sent.reasoningTokens, 'metrics.reasoning_tokens', reading),
      cacheRead: readCount(sent.cacheReadInputTokens, 'metrics.cache_read_input_tokens', reading),
      cacheCreation: readCount(sent.cacheCreationInputTokens, 'metrics.cache_creation_input_tokens', reading),
    },
    costUsd: readUsd(sent.cost, 'metrics.cost', reading),
    tokensEstimated: readScalar(sent.tokensEstimated, reading) ?? false,
    cachedTokensInPrompt: readScalar(sent.cachedTokensInPrompt, reading),
    otherJson: readOthers(sent.others, reading),
  };
  return isEmpty(metrics) ? { ...metrics, otherJson: '{}' } : metrics;
}

function isEmpty({ tokens, costUsd, cachedTokensInPrompt, otherJson }: SentMetrics): boolean {
  return !hasTokenCount(tokens) && (costUsd ?? cachedTokensInPrompt ?? otherJson) === null;
}

function readOthers(sent: Sent<LosslessObject>, reading: Reading): string | null {
  if (sent === undefined) return null;
  if (isUnreadable(sent)) return reject(reading, sent.path, sent.reason);
  let members = '';
  for (const key of Object.keys(sent)) {
    if (METRIC_NAMES.has(key) || key === NEVER_READ) continue;
    if (isLongKey(key)) return refuse(reading, 'metrics', LONG_KEY_REASON);
    const path = `metrics.${cutToCharacters(key, SHOWN_KEY_CHARACTERS_MAX)}`;
    const value = sent[key] ?? null;
    const readDetail = DETAIL_READERS.get(key);
    if (readDetail !== undefined && value !== null && isBlank(value)) continue;
    const text = (readDetail ?? readFreeJson)(value, path, reading);
    if (text === null) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${text}`;
  }
  return members === '' ? null : `{${members}}`;
}

/** Cost of a guardrail or evaluation result in US dollars; null for every other output. */
export function readResultCost({ type, value }: Pick<TypedDraft, 'type' | 'value'>): number | null {
  if (!isObject(value) || (type !== 'guardrail_result' && type !== 'evaluation_result')) return null;
  const { cost } = value;
  const isMoney = isObject(cost) && (cost.currency === undefined || cost.currency === 'USD');
  const usd = isMoney ? numberOf(cost.amount) : numberOf(cost);
  return usd !== null && usd >= 0 ? usd : null;
}
