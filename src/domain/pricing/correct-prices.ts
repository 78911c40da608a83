/** Applies the corrections to the provider list of the package. */

import type { ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { scaleDecimal } from './money.ts';
import type { ServedModel, ServedProvider } from './packing.ts';
import { PRICE_CORRECTIONS, type PriceChange, type PriceCorrection } from './price-corrections.ts';

/** Throws on a correction that changes nothing: the package has caught up with it, or names the model differently. */
export function correctPrices(
  providers: readonly Provider[],
  corrections: readonly PriceCorrection[] = PRICE_CORRECTIONS,
): readonly ServedProvider[] {
  const used = new Set<PriceCorrection>();
  const corrected = providers.map((provider) => ({
    ...provider,
    models: provider.models.flatMap((model) => {
      let served: readonly ServedModel[] = [model];
      for (const correction of corrections) {
        if (correction.provider !== provider.id || !correction.models.test(model.id)) continue;
        const after = correct(served, correction.change, provider);
        if (after !== served) used.add(correction);
        served = after;
      }
      return served;
    }),
  }));
  const unused = corrections.find((correction) => !used.has(correction));
  if (unused !== undefined) {
    throw new Error(`a correction changes nothing: ${unused.provider} ${unused.models} ${unused.change.kind}`);
  }
  return corrected;
}

/** The same list where the change changes nothing. The model is its last; the first that matches a name is taken. */
function correct(served: readonly ServedModel[], change: PriceChange, { models }: Provider): readonly ServedModel[] {
  if (change.kind === 'later_model') {
    return models.some(({ id }) => id === change.model.id) ? served : [change.model, ...served];
  }
  const [model] = served.slice(-1);
  const after = model && correctModel(model, change);
  return after === undefined || after === model ? served : [...served.slice(0, -1), after];
}

type ChangeOfModel = Exclude<PriceChange, { kind: 'later_model' }>;

function correctModel(model: ServedModel, change: ChangeOfModel): ServedModel {
  if (change.kind === 'service') return { ...model, services: [...(model.services ?? []), change.rate] };
  const prices = Array.isArray(model.prices)
    ? model.prices.map((set) => ({ ...set, prices: correctRates(set.prices, change) }))
    : correctRates(model.prices, change);
  return isSame(model.prices, prices) ? model : { ...model, prices };
}

function isSame(before: ModelInfo['prices'], after: ModelInfo['prices']): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function correctRates(prices: ModelPrice, change: Exclude<ChangeOfModel, { kind: 'service' }>): ModelPrice {
  if (change.kind === 'rates') return { ...change.usd, ...prices };
  if (change.kind === 'threshold') {
    const { listedTokens, publishedTokens } = change;
    const move = (start: number) => (start === listedTokens ? publishedTokens : start);
    return mapRates(prices, ({ base, tiers }) => ({
      base,
      tiers: tiers.map((tier) => ({ ...tier, start: move(tier.start) })),
    }));
  }
  const { input_mtok: input, cache_write_mtok: write } = prices;
  // A model whose cache cannot be written has no hour-long writes either.
  if (input === undefined || write === undefined) return prices;
  return { cache_write_1h_mtok: multiply(input, change.timesInput), ...prices };
}

type Rate = NonNullable<ModelPrice[string]>;
type TieredRate = Exclude<Rate, number>;

function mapRates(prices: ModelPrice, map: (rate: Pick<TieredRate, 'base' | 'tiers'>) => TieredRate): ModelPrice {
  return Object.fromEntries(
    Object.entries(prices).map(([name, rate]) => [name, typeof rate === 'object' ? map(rate) : rate]),
  );
}

function multiply(rate: Rate, times: number): Rate {
  if (typeof rate === 'number') return multiplyUsd(rate, times);
  const tiers = rate.tiers.map((tier) => ({ ...tier, price: multiplyUsd(tier.price, times) }));
  return { base: multiplyUsd(rate.base, times), tiers };
}

/** Of the decimal text, so that 1.1 times 2 is 2.2 and not its binary neighbour. */
function multiplyUsd(usd: number, times: number): number {
  const digits = 12;
  return (Number(scaleDecimal(String(usd), digits)) * times) / 10 ** digits;
}
