import { describe, expect, it } from 'vitest';
import { nanoToUsdNumber } from '../../../src/domain/pricing/money.ts';
import { compileOverrides } from '../../../src/domain/pricing/override.ts';
import { ask, createOverride, type PriceDraft, priceUsd, pricing } from '../../support/pricing.ts';

const sonnet = 'claude-sonnet-4-5';

describe('T4: the reference costs', () => {
  const gpt5 = { prompt: 100, completion: 150 };
  const cachedSonnet = { prompt: 1000, completion: 500, cacheRead: 2000 };
  const vectors: readonly (PriceDraft & { usd: number | null })[] = [
    { model: 'gpt-5', tokens: gpt5, usd: 0.001625 },
    { model: 'openai/gpt-5', tokens: gpt5, usd: 0.001625 },
    { model: 'gpt-5-2025-08-07', tokens: gpt5, usd: 0.001625 },
    { model: 'gpt-5-2099-01-01', tokens: gpt5, usd: 0.001625 },
    { model: 'gpt-5', tokens: { ...gpt5, reasoning: 100 }, usd: 0.001625 },
    { model: 'gpt-5', tokens: { prompt: 100, completion: 50, reasoning: 100 }, usd: 0.001625 },
    { model: 'gpt-4o-mini', tokens: { prompt: 54, completion: 31 }, usd: 0.0000267 },
    { model: sonnet, tokens: cachedSonnet, usd: 0.0111 },
    { model: 'claude-sonnet-4-5-20250929', tokens: cachedSonnet, usd: 0.0111 },
    { model: 'anthropic/claude-sonnet-4.5', tokens: cachedSonnet, usd: 0.0111 },
    { model: sonnet, tokens: { ...cachedSonnet, cacheCreation: 1000 }, usd: 0.01485 },
    { model: sonnet, tokens: { ...cachedSonnet, prompt: 3000 }, cachedTokensInPrompt: true, usd: 0.0111 },
    { model: sonnet, tokens: { prompt: 200_000, completion: 1 }, usd: 0.600015 },
    { model: sonnet, tokens: { prompt: 200_001, completion: 1 }, usd: 1.2000285 },
    { model: 'gpt-4o', tokens: { prompt: 1000, completion: 100, cacheRead: 400 }, usd: 0.003 },
    { model: 'gpt-4o', tokens: { prompt: 100, completion: 0, cacheRead: 400 }, usd: 0.00075 },
    { model: 'gpt-4o-2024-05-13', tokens: { prompt: 1000, completion: 100 }, usd: 0.0065 },
    { model: 'gpt-4o', vendor: 'azure', tokens: { prompt: 1000, completion: 100 }, usd: 0.0035 },
    { model: 'claude-3-5-sonnet-20241022', tokens: { prompt: 1000, completion: 1000 }, usd: 0.018 },
    { model: 'anthropic/claude-3.5-sonnet', vendor: 'openai', tokens: { prompt: 1000, completion: 1000 }, usd: 0.018 },
    { model: `us.anthropic.${sonnet}-20250929-v1:0`, tokens: { prompt: 1000, completion: 500 }, usd: 0.01155 },
    { model: 'o3', at: '2025-06-09T23:59:59.999Z', tokens: { prompt: 1_000_000 }, usd: 10 },
    { model: 'o3', at: '2025-06-10T00:00:00Z', tokens: { prompt: 1_000_000 }, usd: 2 },
    { model: 'deepseek-chat', at: '2026-11-01T03:00:00Z', tokens: { prompt: 1_000_000 }, usd: 0.27 },
    { model: 'deepseek-chat', at: '2026-11-01T20:00:00Z', tokens: { prompt: 1_000_000 }, usd: 0.135 },
    { model: 'command-r7b', tokens: { prompt: 1 }, usd: 0.000000038 },
    { model: 'text-embedding-3-small', tokens: { prompt: 1000 }, usd: 0.00002 },
    { model: 'gpt-5-nano', tokens: { prompt: 1, completion: 1 }, usd: 4.5e-7 },
    { model: 'meta-llama/llama-3.3-70b-instruct:free', tokens: gpt5, usd: 0 },
    { model: 'gpt-55', tokens: gpt5, usd: null },
    { model: 'gpt-5-foo', tokens: gpt5, usd: null },
    { model: 'gpt-4.9-super', tokens: gpt5, usd: null },
    { model: 'o1-foo', tokens: gpt5, usd: null },
    { model: 'llama-3.3-70b', tokens: gpt5, usd: null },
    { model: 'gpt-4o-mini:free', tokens: gpt5, usd: null },
    { model: 'gpt-5', tokens: gpt5, explicitCostUsd: 0, usd: 0 },
    { model: 'gpt-5', tokens: gpt5, explicitCostUsd: 0.0000000005, usd: 1e-9 },
    { model: 'gpt-5', tokens: gpt5, explicitCostUsd: 0.25, usd: 0.25 },
    { model: 'gpt-55', explicitCostUsd: 0.25, usd: 0.25 },
  ];

  it.each(vectors.map((vector) => ({ label: JSON.stringify(vector), vector })))('$label', ({ vector }) => {
    const { usd, ...query } = vector;
    expect(priceUsd(query)).toBe(usd);
    const { source, rateVersion } = pricing.price(ask(query));
    const expected = query.explicitCostUsd !== undefined ? 'explicit' : usd === null ? 'unpriced' : 'registry';
    expect(source).toBe(expected);
    expect(rateVersion).toBe(expected === 'registry' ? 'registry@2026-09-23' : null);
  });

  it('T4: adds a thousand tiny costs without losing a digit', () => {
    const { costNanoUsd } = pricing.price(ask({ model: 'gpt-5-nano', tokens: { prompt: 1, completion: 1 } }));
    expect(nanoToUsdNumber((costNanoUsd ?? 0) * 1000)).toBe(0.00045);
  });
});

describe('what sets the cost', () => {
  const tokens = { prompt: 1000, completion: 100 };
  const spanRates = { inputUsdPerToken: 0.000001, outputUsdPerToken: 0.00001 };
  const everything: PriceDraft = { model: 'gpt-4o', tokens, explicitCostUsd: 0.5, spanRates, resultCostUsd: 0.125 };
  const overrides = compileOverrides([createOverride({ model: 'gpt-4o', inputPicoUsd: 7_000_000 })], null);

  it('is the first that applies of explicit cost, rates on the span, override, price list and result', () => {
    expect(pricing.price(ask(everything), overrides)).toMatchObject({ source: 'explicit', costNanoUsd: 500_000_000 });
    const rated = { ...everything, explicitCostUsd: null };
    expect(pricing.price(ask(rated), overrides)).toMatchObject({ source: 'span_rates', costNanoUsd: 2_000_000 });
    const unrated = { ...rated, spanRates: null };
    expect(pricing.price(ask(unrated), overrides)).toMatchObject({ source: 'override', costNanoUsd: 7_000_000 });
    expect(pricing.price(ask(unrated))).toMatchObject({ source: 'registry', costNanoUsd: 3_500_000 });
    const unlisted = { ...unrated, model: 'in-house' };
    expect(pricing.price(ask(unlisted))).toMatchObject({ source: 'result', costNanoUsd: 125_000_000 });
    expect(pricing.price(ask({ ...unlisted, resultCostUsd: null }))).toMatchObject({ source: 'unpriced' });
  });

  it('is nothing at all for a span without a token count', () => {
    const nothing = { costNanoUsd: null, source: null, rateVersion: null };
    const bare = { model: 'gpt-4o', spanRates };
    expect(pricing.price(ask(bare), overrides)).toEqual(nothing);
    expect(pricing.price(ask({}))).toEqual(nothing);
  });

  it('is the result of a guardrail even when it counted no tokens', () => {
    const query = ask({ model: 'gpt-4o', resultCostUsd: 0 });
    expect(pricing.price(query)).toEqual({ costNanoUsd: 0, source: 'result', rateVersion: null });
  });

  it.each(['prompt', 'completion', 'reasoning', 'cacheRead', 'cacheCreation'] as const)(
    'is known, namely zero, when the only count is a %s of zero',
    (count) => {
      expect(pricing.price(ask({ model: 'gpt-4o', tokens: { [count]: 0 } }))).toMatchObject({
        costNanoUsd: 0,
        source: 'registry',
      });
    },
  );

  it('is unpriced for tokens of an unnamed model', () => {
    expect(pricing.price(ask({ tokens }))).toEqual({ costNanoUsd: null, source: 'unpriced', rateVersion: null });
  });

  it.each([-1, Number.NaN])('passes over an explicit cost of %s', (explicitCostUsd) => {
    expect(pricing.price(ask({ model: 'gpt-4o', tokens, explicitCostUsd })).source).toBe('registry');
  });

  it.each([
    { explicitCostUsd: 9_007_200 },
    { resultCostUsd: 1e300 },
    { model: 'gpt-4o', tokens: { prompt: 1e12, completion: 1e12 } },
    { tokens: { prompt: 1 }, spanRates: { inputUsdPerToken: 1e300, outputUsdPerToken: 0 } },
  ])('is unpriced when it is too large to hold: %j', (query: PriceDraft) => {
    expect(pricing.price(ask(query))).toEqual({ costNanoUsd: null, source: 'unpriced', rateVersion: null });
  });

  it('takes the rates of a span by their decimal text, for cached tokens too', () => {
    const rates = { inputUsdPerToken: 1.5e-7, outputUsdPerToken: 6e-7 };
    const query = { model: 'in-house', tokens: { prompt: 100, completion: 10, cacheRead: 40 }, spanRates: rates };
    expect(priceUsd(query)).toBe(0.000021);
  });

  it.each([-1e-9, Number.NaN])('passes over a rate of %s on the span', (inputUsdPerToken) => {
    const query = ask({ model: 'gpt-4o', tokens, spanRates: { inputUsdPerToken, outputUsdPerToken: 0 } });
    expect(pricing.price(query).source).toBe('registry');
  });
});

describe('audio tokens', () => {
  it.each([
    // 34 and 34 of text, 1,000 and 500 of audio.
    { why: 'have rates of their own', tokens: { prompt: 1034, completion: 534 }, audio: [1000, 500], usd: 0.020102 },
    {
      why: 'are at most the prompt and the completion',
      tokens: { prompt: 10, completion: 5 },
      audio: [99, 99],
      usd: 0.0002,
    },
    { why: 'come after the cached ones', tokens: { prompt: 10, cacheRead: 4 }, audio: [10, null], usd: 0.0000624 },
    { why: 'are nothing without a prompt', tokens: { completion: 1 }, audio: [10, null], usd: 0.0000024 },
  ])('$why', ({ tokens, audio: [inputAudio = null, outputAudio = null], usd }) => {
    expect(priceUsd({ model: 'gpt-audio-mini', tokens, details: { inputAudio, outputAudio } })).toBe(usd);
  });

  it('cost what others do where the list has no rate for them', () => {
    const details = { inputAudio: 500, outputAudio: 50 };
    expect(priceUsd({ model: 'gpt-4o', tokens: { prompt: 1000, completion: 100 }, details })).toBe(0.0035);
  });
});

describe('reasoning beside the completion', () => {
  const tokens = { prompt: 100, completion: 500, reasoning: 300 };
  it.each([
    { total: 900, usd: 0.00203 },
    { total: 600, usd: 0.00128 },
    { total: null, usd: 0.00128 },
    { total: 899, usd: 0.00128 },
  ])('is output of its own when the total is $total', ({ total, usd }) => {
    expect(priceUsd({ model: 'gemini-2.5-flash', tokens, details: { total } })).toBe(usd);
  });
});

describe('writes to caches', () => {
  const tokens = { prompt: 100, completion: 0, cacheCreation: 10_000 };
  it.each([
    { model: sonnet, details: { cacheWrite1h: 10_000, cacheWrite5m: 0 }, usd: 0.0603 },
    { model: sonnet, details: { cacheWrite1h: 4000, cacheWrite5m: 6000 }, usd: 0.0468 },
    { model: sonnet, details: { cacheWrite5m: 10_000 }, usd: 0.0378 },
    { model: sonnet, details: { cacheWrite1h: 99_999 }, usd: 0.0603 },
    // Bedrock adds a tenth in its regions.
    { model: `us.anthropic.${sonnet}-20250929-v1:0`, details: { cacheWrite1h: 10_000 }, usd: 0.06633 },
    { model: `vertex_ai/${sonnet}`, details: { cacheWrite1h: 10_000 }, usd: 0.0603 },
  ])('cost twice the input for an hour: $model $details', ({ model, details, usd }) => {
    expect(priceUsd({ model, tokens, details })).toBe(usd);
  });

  it('are the sum of their parts where only those are told', () => {
    const details = { cacheWrite1h: 4000, cacheWrite5m: 6000 };
    expect(priceUsd({ model: sonnet, tokens: { prompt: 100 }, details })).toBe(0.0468);
  });

  it('of an hour count towards the tier of a span', () => {
    const atEdge = { prompt: 190_000, cacheCreation: 10_000 };
    const details = { cacheWrite1h: 10_000 };
    expect(priceUsd({ model: sonnet, tokens: atEdge, details })).toBe(0.63);
    expect(priceUsd({ model: sonnet, tokens: { ...atEdge, prompt: 190_001 }, details })).toBe(1.260006);
  });
});

describe('requests', () => {
  const query = { model: 'sonar', tokens: { prompt: 1000, completion: 1000 } };
  it.each([
    { requests: null, usd: 0.002 },
    { requests: 0, usd: 0.002 },
    { requests: 2, usd: 0.026 },
  ])('cost their own rate where the span says that there were $requests', ({ requests, usd }) => {
    expect(priceUsd({ ...query, details: { requests } })).toBe(usd);
  });

  it('alone are not usage that could be priced', () => {
    expect(pricing.price(ask({ model: 'sonar', details: { requests: 2 } })).source).toBeNull();
  });
});

describe('the tier by input tokens', () => {
  it.each([
    { model: 'gpt-5.4', prompt: 272_000, usd: 0.68 },
    { model: 'gpt-5.4', prompt: 272_001, usd: 1.360005 },
    { model: 'openai.gpt-5.6-terra', vendor: 'aws', prompt: 272_000, usd: 0.5984 },
    { model: 'openai.gpt-5.6-terra', vendor: 'aws', prompt: 272_001, usd: 1.1968044 },
    { model: 'gemini-2.5-pro', prompt: 200_000, usd: 0.25 },
    { model: 'gemini-2.5-pro', prompt: 200_001, usd: 0.5000025 },
    // xAI publishes that its larger rate begins at 200K tokens.
    { model: 'grok-4.3', prompt: 199_999, usd: 0.24999875 },
    { model: 'grok-4.3', prompt: 200_000, usd: 0.5 },
  ])('begins exactly where $model publishes it: $prompt', ({ model, vendor = null, prompt, usd }) => {
    expect(priceUsd({ model, vendor, tokens: { prompt } })).toBe(usd);
  });
});

describe('service tiers', () => {
  const tokens = { prompt: 1000, completion: 100, cacheRead: 400 };
  it.each([
    { model: 'gpt-5', serviceTier: null, usd: 0.0018 },
    { model: 'gpt-5', serviceTier: 'flex', usd: 0.0009 },
    { model: 'gpt-5', serviceTier: 'batch', usd: 0.0009 },
    { model: 'gpt-5', serviceTier: 'priority', usd: 0.0036 },
    { model: 'gpt-4o-mini', serviceTier: 'priority', usd: 0.0003 },
    { model: 'o4-mini', serviceTier: 'priority', usd: 0.0022 },
    // Tokens read from a cache cost the same in a batch.
    { model: 'gemini-2.5-flash', serviceTier: 'batch', usd: 0.000227 },
    { model: 'gemini-2.5-flash', serviceTier: 'flex', usd: 0.000221 },
    { model: sonnet, serviceTier: 'batch', usd: 0.00231 },
    // Nobody publishes what these cost.
    { model: sonnet, serviceTier: 'priority', usd: 0.00462 },
    { model: 'deepseek-chat', serviceTier: 'flex', usd: 0.0003 },
  ] as const)('$serviceTier of $model', ({ model, serviceTier, usd }) => {
    expect(priceUsd({ model, tokens, details: { serviceTier } })).toBe(usd);
  });

  it('multiply with the tier of long inputs, except that priority has none', () => {
    const long = { model: 'gpt-5.4', tokens: { prompt: 300_000 } };
    const cost = (serviceTier: 'flex' | 'batch' | 'priority') => priceUsd({ ...long, details: { serviceTier } });
    expect([priceUsd(long), cost('flex'), cost('batch'), cost('priority')]).toEqual([1.5, 0.75, 0.75, 1.5]);
  });

  it('change no price of an organization, and none of the sender', () => {
    const set = compileOverrides([createOverride({ model: 'gpt-5', inputPicoUsd: 1_000_000 })], null);
    const query = { model: 'gpt-5', tokens: { prompt: 1000 }, details: { serviceTier: 'flex' } } as const;
    expect(pricing.price(ask(query), set).costNanoUsd).toBe(1_000_000);
    const spanRates = { inputUsdPerToken: 0.000002, outputUsdPerToken: 0 };
    expect(pricing.price(ask({ ...query, spanRates })).costNanoUsd).toBe(2_000_000);
  });
});

describe('cached tokens', () => {
  const cached = { prompt: 1000, cacheRead: 400 };
  it.each([
    { why: 'are part of the prompt', model: 'gpt-4o', flag: null, usd: 0.002 },
    { why: 'are beside the prompt when the span says so', model: 'gpt-4o', flag: false, usd: 0.003 },
    { why: 'are beside the prompt for Anthropic', model: sonnet, flag: null, usd: 0.00312 },
    { why: 'are within the prompt of Anthropic when the span says so', model: sonnet, flag: true, usd: 0.00192 },
    { why: 'are beside the prompt for Claude at Google', model: `vertex_ai/${sonnet}`, flag: null, usd: 0.00312 },
    {
      why: 'are beside the prompt for Claude at AWS',
      model: `us.anthropic.${sonnet}-20250929`,
      flag: null,
      usd: 0.003432,
    },
  ])('$why', ({ model, flag, usd }) => {
    expect(priceUsd({ model, tokens: cached, cachedTokensInPrompt: flag })).toBe(usd);
  });

  it.each([true, false, null])('are beside a prompt smaller than they are, even when the span says %s', (flag) => {
    const tokens = { prompt: 100, cacheRead: 300, cacheCreation: 100 };
    expect(priceUsd({ model: 'gpt-4o', tokens, cachedTokensInPrompt: flag })).toBe(0.000875);
  });

  it('may make up the whole prompt', () => {
    expect(priceUsd({ model: 'gpt-4o', tokens: { prompt: 400, cacheRead: 400 } })).toBe(0.0005);
  });

  it('count towards the tier of a span', () => {
    const tokens = { prompt: 199_000, cacheRead: 1000, cacheCreation: 1 };
    expect(priceUsd({ model: sonnet, tokens })).toBe(1.1946075);
    expect(priceUsd({ model: sonnet, tokens: { ...tokens, cacheCreation: 0 } })).toBe(0.5973);
  });

  it('cost the input rate where the list has no rate for them', () => {
    const tokens = { prompt: 1000, cacheRead: 400, cacheCreation: 100 };
    expect(priceUsd({ model: 'gpt-4o-2024-05-13', tokens })).toBe(0.005);
  });
});
