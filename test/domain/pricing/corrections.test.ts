import { waitForUpdate } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { correctPrices } from '../../../src/domain/pricing/correct-prices.ts';
import { PRICE_CORRECTIONS, type PriceCorrection } from '../../../src/domain/pricing/price-corrections.ts';
import { priceUsd, registry } from '../../support/pricing.ts';

const SAYS = { source: 'https://example.com/prices', says: 'so' };

function correct(prices: Record<string, unknown>, ...changes: readonly PriceCorrection['change'][]) {
  const model = { id: 'm', match: { equals: 'm' }, prices: prices as never };
  const provider = { id: 'p', name: 'p', api_pattern: '', models: [model] };
  const corrections = changes.map((change) => ({ provider: 'p', models: /^m$/, change, ...SAYS }));
  return correctPrices([provider], corrections)[0]?.models[0];
}

describe('corrections of the package', () => {
  it('each have a page of a provider and what it says', () => {
    for (const { source, says } of PRICE_CORRECTIONS) {
      expect(source).toMatch(/^https:\/\/[a-z.]+\/\S+$/);
      expect(says.length).toBeGreaterThan(20);
    }
  });

  it('leave no threshold of OpenAI one token below the published one', () => {
    const bands = [...registry.rows.values()].flat().flatMap(({ sets }) => sets.flatMap(({ tiers }) => tiers));
    expect(bands.filter(({ aboveTokens }) => aboveTokens === 271_999)).toEqual([]);
    expect(bands.filter(({ aboveTokens }) => aboveTokens === 272_000).length).toBeGreaterThan(10);
  });

  it('give every Claude model that is sold with a cache an hour-long one at Anthropic, and where others publish it', () => {
    const rows = [...new Set([...registry.rows.values()].flat())];
    const of = (provider: string) => rows.filter((row) => row.provider === provider && row.id.includes('claude'));
    const lacking = ['anthropic', 'openrouter'].flatMap(of).filter(({ sets }) =>
      sets.some(({ base }) => {
        const hasCache = base.cacheWritePicoUsd !== base.inputPicoUsd;
        return hasCache && base.cacheWrite1hPicoUsd !== base.inputPicoUsd * 2;
      }),
    );
    expect(lacking).toEqual([]);
  });

  it('add rates that the package lacks, and never replace one that it has', () => {
    const change = { kind: 'rates', usd: { input_mtok: 9, input_audio_mtok: 3 } } as const;
    expect(correct({ input_mtok: 1 }, change)).toMatchObject({ prices: { input_mtok: 1, input_audio_mtok: 3 } });
  });

  it('derive hour-long writes from the input, in all its tiers and to the digit', () => {
    const input = { base: 1.1, tiers: [{ start: 5, price: 3.3 }] };
    const change = { kind: 'hour_long_writes', timesInput: 2 } as const;
    expect(correct({ input_mtok: input, cache_write_mtok: 1 }, change)).toMatchObject({
      prices: { cache_write_1h_mtok: { base: 2.2, tiers: [{ start: 5, price: 6.6 }] } },
    });
  });

  it('price a later model whose name the package takes for an earlier one', () => {
    const costOf = (model: string) => priceUsd({ model, vendor: 'bedrock', tokens: { prompt: 1_000_000 } });
    expect(costOf('amazon.titan-embed-text-v2:0')).toBe(0.02);
    expect(costOf('us.amazon.titan-embed-text-v2:0')).toBe(0.02);
    expect(costOf('amazon.titan-embed-text-v1')).toBe(0.1);
  });

  it('collect the service tiers of a model', () => {
    const flex = { tier: 'flex', share: [1, 2] } as const;
    const batch = { tier: 'batch', share: [1, 3] } as const;
    const model = correct({ input_mtok: 1 }, { kind: 'service', rate: flex }, { kind: 'service', rate: batch });
    expect(model?.services).toEqual([flex, batch]);
  });

  it.each([
    { kind: 'rates', usd: { input_mtok: 2 } } as const,
    { kind: 'hour_long_writes', timesInput: 2 } as const,
    { kind: 'threshold', listedTokens: 9, publishedTokens: 10 } as const,
  ])('fail when they change nothing: %j', (change) => {
    expect(() => correct({ input_mtok: 1 }, change)).toThrow('changes nothing');
  });

  it('fail when they name a model that the package does not have', async () => {
    const change = { kind: 'rates', usd: { input_mtok: 2 } } as const;
    const stray = { provider: 'openai', models: /^gpt-nothing$/, change, ...SAYS };
    const providers = (await waitForUpdate()) ?? [];
    expect(() => correctPrices(providers, [stray])).toThrow('openai');
  });
});
