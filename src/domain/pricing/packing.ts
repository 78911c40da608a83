/** Turns the provider list of the package into a price list as plain JSON. */

import type { ConditionalPrice, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { scaleDecimal } from './money.ts';
import type { GivenRates, ListedRates, ServiceRate, TokenRates } from './rates.ts';
import type { PackedModel, PackedPriceRegistry, PackedSet, PriceCondition } from './registry.ts';

/** A model of the package, with the service tiers that its provider publishes. */
export type ServedModel = ModelInfo & { readonly services?: readonly ServiceRate[] };

export type ServedProvider = Omit<Provider, 'models'> & { readonly models: readonly ServedModel[] };

const millisecondsPerDay = 86_400_000;
/** USD per million tokens is micro-USD per token, and USD per thousand requests is milli-USD per request. */
const tokenDigits = 6;
const requestDigits = 9;

/** Throws on an unknown price condition, rather than misprice by it. */
export function packPriceRegistry(
  release: { readonly version: string; readonly releasedOn: string },
  providers: readonly ServedProvider[],
): PackedPriceRegistry {
  return {
    ...release,
    providers: providers.map((provider) => ({
      id: provider.id,
      fallbacks: provider.fallback_model_providers ?? [],
      vendorMatch: provider.provider_match ?? null,
      modelMatch: provider.model_match ?? null,
      models: provider.models.map(packModel),
    })),
  };
}

function packModel({ services = [], ...model }: ServedModel): PackedModel {
  const packed = { id: model.id, match: model.match, sets: readSets(model) };
  return services.length === 0 || packed.sets === null ? packed : { ...packed, services };
}

/** Null: not charged by the token. */
function readSets(model: ModelInfo): readonly PackedSet[] | null {
  const priced: readonly ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  // Without a rate a model is either declared free or charged by something other than tokens.
  if (!priced.some(({ prices }) => hasTokenRate(prices)) && !model.id.toLowerCase().endsWith(':free')) return null;
  return priced.map(({ prices, constraint }) => ({ condition: readCondition(constraint), ...readRates(prices) }));
}

function hasTokenRate(prices: ModelPrice): boolean {
  return ratesIn(prices).some((rate) => rate !== undefined);
}

function ratesIn(prices: ModelPrice) {
  return [
    prices.input_mtok,
    prices.output_mtok,
    prices.cache_read_mtok,
    prices.cache_write_mtok,
    prices.cache_write_1h_mtok,
    prices.input_audio_mtok,
    prices.output_audio_mtok,
  ];
}

function readRates(prices: ModelPrice): Pick<PackedSet, 'base' | 'tiers'> {
  const starts = new Set<number>();
  for (const rate of ratesIn(prices)) {
    if (typeof rate === 'object') for (const tier of rate.tiers) starts.add(tier.start);
  }
  // Each rate has its own steps, so the start of any step opens a band that states all rates.
  const tiers = [...starts]
    .sort((left, right) => left - right)
    .map((start) => ({ aboveTokens: start, ...readBand(prices, start) }));
  return { base: readBand(prices, -1), tiers };
}

function readBand(prices: ModelPrice, start: number): ListedRates {
  const read = (rate: ModelPrice[string], digits = tokenDigits) => readRate(rate, start, digits);
  const others: { readonly [Rate in Exclude<keyof TokenRates, keyof GivenRates>]: number | null } = {
    cacheReadPicoUsd: read(prices.cache_read_mtok),
    cacheWritePicoUsd: read(prices.cache_write_mtok),
    cacheWrite1hPicoUsd: read(prices.cache_write_1h_mtok),
    audioInputPicoUsd: read(prices.input_audio_mtok),
    audioOutputPicoUsd: read(prices.output_audio_mtok),
    requestPicoUsd: read(prices.requests_kcount, requestDigits),
  };
  return {
    inputPicoUsd: read(prices.input_mtok) ?? 0,
    outputPicoUsd: read(prices.output_mtok) ?? 0,
    // Few models have all of them; leaving the others out keeps the list small.
    ...(Object.fromEntries(Object.entries(others).filter(([, rate]) => rate !== null)) as Partial<ListedRates>),
  };
}

function readRate(rate: ModelPrice[string], start: number, digits: number): number | null {
  if (rate === undefined) return null;
  if (typeof rate === 'number') return toPicoUsd(rate, digits);
  const reached = rate.tiers.filter((tier) => tier.start <= start).sort((left, right) => right.start - left.start)[0];
  return toPicoUsd(reached?.price ?? rate.base, digits);
}

// Scaling the decimal text keeps 0.0375 exact.
function toPicoUsd(usd: number, digits: number): number {
  return Number(scaleDecimal(String(usd), digits));
}

function readCondition(constraint: ConditionalPrice['constraint']): PriceCondition {
  if (constraint === undefined) return { kind: 'always' };
  if (constraint.type === 'start_date') {
    const startMs = Date.parse(`${constraint.start_date}T00:00:00Z`);
    if (!Number.isNaN(startMs)) return { kind: 'from', startMs };
  }
  if (constraint.type === 'time_of_date') {
    const startMs = readTimeOfDay(constraint.start_time);
    const endMs = readTimeOfDay(constraint.end_time);
    if (startMs < millisecondsPerDay && endMs < millisecondsPerDay) return { kind: 'daily', startMs, endMs };
  }
  throw new Error(`The price list has a condition this version does not understand: ${JSON.stringify(constraint)}`);
}

// The epoch began at midnight UTC, so a time on its first day is the offset from midnight; NaN when unreadable.
function readTimeOfDay(time: string): number {
  return Date.parse(`1970-01-01T${time}`);
}
