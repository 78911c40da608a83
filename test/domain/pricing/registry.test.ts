import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NANO_USD_MAX } from '../../../src/domain/pricing/money.ts';
import { createPricing } from '../../../src/domain/pricing/pricing.ts';
import { completeRates, type TokenRates } from '../../../src/domain/pricing/rates.ts';
import type { TokenCounts } from '../../../src/domain/pricing/usage.ts';
import { ask, createListed, noTokens, priceUsd, registry } from '../../support/pricing.ts';
import { runsOf } from '../../support/scenario.ts';

describe('the price list', () => {
  it('is that of the installed package version', () => {
    const file = new URL('../../../node_modules/@pydantic/genai-prices/package.json', import.meta.url);
    expect(registry.version).toBe(JSON.parse(readFileSync(file, 'utf8')).version);
    expect(registry.releasedOn).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it('holds no two rows of one provider under one name', () => {
    for (const rows of registry.rows.values()) {
      expect(new Set(rows.map(({ provider }) => provider)).size).toBe(rows.length);
    }
  });

  it('lets an id outrank an alias, the earlier row a later one, and ignores clauses that are not names', () => {
    const listed = createListed('openai', [
      { id: 'first', match: { or: [{ equals: 'second' }, { contains: 'Shared' }] }, prices: { input_mtok: 1 } },
      { id: 'second', match: { or: [{ ends_with: 'shared' }, { regex: 'third' }] }, prices: { input_mtok: 2 } },
      { id: 'fourth', match: { and: [{ starts_with: 'fifth' }, { regex: '.' }] }, prices: { input_mtok: 4 } },
    ]);
    const found = ['second', 'shared', 'third', 'fifth'].map((name) => listed.match(name, null, 0)?.id);
    expect(found).toEqual(['second', 'first', undefined, undefined]);
  });

  it('leaves out models without a rate per token, except free ones', () => {
    const prices = { requests_kcount: 1 };
    const listed = createListed('openai', [
      { id: 'by-request', match: { equals: 'by-request' }, prices },
      { id: 'gift:free', match: { equals: 'gift:free' }, prices },
    ]);
    expect(listed.match('by-request', null, 0)).toBeNull();
    expect(listed.price(ask({ model: 'gift:free', tokens: { prompt: 9 } }))).toMatchObject({ costNanoUsd: 0 });
  });

  it('rounds rates half up to whole pico-USD and takes an absent rate for zero', () => {
    const prices = { output_mtok: 0.0000005, cache_read_mtok: 0.0000004 };
    const listed = createListed('openai', [{ id: 'tiny', match: { equals: 'tiny' }, prices }]);
    expect(listed.match('tiny', null, 0)?.rates).toMatchObject({
      inputPicoUsd: 0,
      outputPicoUsd: 1,
      cacheReadPicoUsd: 0,
      cacheWritePicoUsd: 0,
    });
  });

  it('charges all tokens by the highest tier that the input exceeds', () => {
    const tier = (start: number, price: number) => ({ start, price });
    const prices = {
      input_mtok: { base: 1, tiers: [tier(200, 3), tier(100, 2)] },
      output_mtok: { base: 10, tiers: [tier(150, 20)] },
    };
    const listed = createListed('openai', [{ id: 'steps', match: { equals: 'steps' }, prices }]);
    const costs = [0, 100, 101, 150, 151, 200, 201].map(
      (prompt) => listed.price(ask({ model: 'steps', tokens: { prompt, completion: 1 } })).costNanoUsd,
    );
    expect(costs).toEqual([10_000, 110_000, 212_000, 310_000, 322_000, 420_000, 623_000]);
  });

  it.each([
    ['2026-11-01T00:29:59.999Z', 0.135],
    ['2026-11-01T00:30:00Z', 0.27],
    ['2026-11-01T16:29:59.999Z', 0.27],
    ['2026-11-01T16:30:00Z', 0.135],
    ['1969-12-31T03:00:00Z', 0.27],
  ])('charges the rate of the time of day at %s', (at, usd) => {
    expect(priceUsd({ model: 'deepseek-chat', at, tokens: { prompt: 1_000_000 } })).toBe(usd);
  });

  it('lets a window run over midnight and a later set win', () => {
    const night = { type: 'time_of_date', start_time: '22:00:00Z', end_time: '02:00:00Z' } as const;
    const newYear = { type: 'start_date', start_date: '2026-01-01' } as const;
    const listed = createListed('openai', [
      {
        id: 'timed',
        match: { equals: 'timed' },
        prices: [
          { constraint: newYear, prices: { input_mtok: 1 } },
          { constraint: night, prices: { input_mtok: 2 } },
        ],
      },
    ]);
    const cost = (at: string) => listed.price(ask({ model: 'timed', at, tokens: { prompt: 1 } }));
    expect(cost('2026-05-05T23:00:00Z').costNanoUsd).toBe(2000);
    expect(cost('2026-05-05T01:59:59.999Z').costNanoUsd).toBe(2000);
    expect(cost('2026-05-05T02:00:00Z').costNanoUsd).toBe(1000);
    expect(cost('2025-05-05T02:00:00Z')).toMatchObject({ source: 'unpriced', costNanoUsd: null });
    expect(listed.match('timed', null, Date.parse('2025-05-05T02:00:00Z'))).toBeNull();
  });

  it.each([
    { type: 'start_date', start_date: 'soon' } as const,
    { type: 'time_of_date', start_time: '01:00:00Z', end_time: '25:00:00Z' } as const,
  ])('is refused for a condition that cannot be read: %j', (constraint) => {
    const prices = [{ constraint, prices: { input_mtok: 1 } }];
    expect(() => createListed('openai', [{ id: 'x', match: { equals: 'x' }, prices }])).toThrow('condition');
  });
});

describe('arithmetic', () => {
  const rate = fc.integer({ min: 0, max: 600_000_000 });
  const count = fc.oneof(fc.integer({ min: 0, max: 1e12 }), fc.integer({ min: 0, max: 1e6 }), fc.constant(null));
  const anyRates: fc.Arbitrary<TokenRates> = fc.record({
    inputPicoUsd: rate,
    outputPicoUsd: rate,
    cacheReadPicoUsd: rate,
    cacheWritePicoUsd: rate,
    cacheWrite1hPicoUsd: rate,
    audioInputPicoUsd: rate,
    audioOutputPicoUsd: rate,
    requestPicoUsd: rate,
  });
  const anyTokens: fc.Arbitrary<TokenCounts> = fc.record({
    prompt: count,
    completion: count,
    reasoning: count,
    cacheRead: count,
    cacheCreation: count,
  });

  function priceExactly(tokens: TokenCounts, rates: TokenRates): number | null {
    const big = (value: number | null) => BigInt(value ?? 0);
    const [p, c, g] = [big(tokens.prompt), big(tokens.completion), big(tokens.reasoning)];
    const [r, w] = [big(tokens.cacheRead), big(tokens.cacheCreation)];
    const uncached = r + w > p ? p : p - r - w;
    const pico =
      uncached * BigInt(rates.inputPicoUsd) +
      r * BigInt(rates.cacheReadPicoUsd) +
      w * BigInt(rates.cacheWritePicoUsd) +
      (g > c ? c + g : c) * BigInt(rates.outputPicoUsd);
    const nano = pico / 1000n + (pico % 1000n >= 500n ? 1n : 0n);
    return nano > BigInt(NANO_USD_MAX) ? null : Number(nano);
  }

  function createFlat(rates: TokenRates) {
    const row = {
      provider: 'openai',
      id: 'flat',
      sets: [{ condition: { kind: 'always' }, base: rates, tiers: [] }],
      services: [],
    } as const;
    return createPricing({ version: '', releasedOn: '', rows: new Map([['flat', [row]]]), providers: new Map() });
  }

  it('gives the cost of big integers for any rates and counts', () => {
    fc.assert(
      fc.property(anyRates, anyTokens, (rates, tokens) => {
        fc.pre(Object.values(tokens).some((value) => value !== null));
        expect(createFlat(rates).price(ask({ model: 'flat', tokens })).costNanoUsd).toBe(priceExactly(tokens, rates));
      }),
      { numRuns: runsOf(5_000) },
    );
  });

  it('gives the cost of big integers on both sides of where doubles stop being exact', () => {
    const edge = 2 ** 53;
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 600_000_000 }),
        fc.integer({ min: -3, max: 3 }),
        rate,
        (one, off, other) => {
          const listed = { inputPicoUsd: one, outputPicoUsd: other, cacheReadPicoUsd: 1, cacheWritePicoUsd: 0 };
          const rates = completeRates(listed);
          const tokens = { ...noTokens, prompt: Math.floor(edge / one) + off, completion: 1, cacheRead: 0 };
          expect(createFlat(rates).price(ask({ model: 'flat', tokens })).costNanoUsd).toBe(priceExactly(tokens, rates));
        },
      ),
      { numRuns: runsOf(5_000) },
    );
  });
});
