import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BudgetDemand, demandsOf } from '../../../src/domain/gateway/budget-demands.ts';
import {
  createRecentOutputs,
  dearestRates,
  estimateCost,
  estimateExpected,
  estimateWorst,
  type RequestSize,
} from '../../../src/domain/gateway/estimate.ts';
import { ask, pricing, registry } from '../../support/pricing.ts';
import { runsOf } from '../../support/scenario.ts';
import { bucketOf } from './lease-model.ts';

const AT_MS = Date.parse('2026-11-01T12:00:00Z');

function sizeOf(size: Partial<RequestSize> = {}): RequestSize {
  return {
    textBytes: 400,
    arrayTokens: 0,
    textTokens: null,
    choices: 1,
    outputTokensMax: null,
    modelOutputTokensMax: null,
    unboundedParams: [],
    ...size,
  };
}

function ratesOf(model: string, vendor: string | null = null) {
  const match = pricing.match(model, vendor, AT_MS);
  if (match === null) throw new Error(`no price of ${model}`);
  return dearestRates([match]);
}

const FREE = ratesOf('meta-llama/llama-3.3-70b-instruct:free');
const PRICED = ratesOf('gpt-4o-mini');

describe('an `expected` estimate', () => {
  it('a large max_tokens blocks no key that spent nothing: it counts 256 tokens while there are few outcomes', () => {
    expect(estimateExpected(sizeOf({ outputTokensMax: 1_000_000 }), null)).toEqual({ input: 100, output: 256 });
  });

  it('is four times the median of the recent outcomes, or max_tokens where that is less', () => {
    expect(estimateExpected(sizeOf({ outputTokensMax: 1_000_000 }), 30)).toEqual({ input: 100, output: 120 });
    expect(estimateExpected(sizeOf({ outputTokensMax: 50 }), 30)).toEqual({ input: 100, output: 50 });
    expect(estimateExpected(sizeOf({ modelOutputTokensMax: 40, outputTokensMax: 50 }), 30).output).toBe(40);
  });

  it('counts every answer that is asked for', () => {
    expect(estimateExpected(sizeOf({ choices: 5 }), 30).output).toBe(600);
  });

  it('takes the tokens of a tokenizer, and of arrays by their length', () => {
    expect(estimateExpected(sizeOf({ textTokens: 77 }), null).input).toBe(77);
    expect(estimateExpected(sizeOf({ textBytes: 0, arrayTokens: 9, outputTokensMax: 0 }), null)).toEqual({
      input: 9,
      output: 0,
    });
  });
});

describe('a `worst` estimate', () => {
  it('is a token for each byte, and max_tokens or what the model can for each answer', () => {
    expect(estimateWorst(sizeOf({ arrayTokens: 3, outputTokensMax: 500, choices: 2 }))).toEqual({
      input: 403,
      output: 1000,
    });
    expect(estimateWorst(sizeOf({ modelOutputTokensMax: 700 }))).toEqual({ input: 400, output: 700 });
  });

  it('names the parameter that nothing bounds', () => {
    expect(estimateWorst(sizeOf({ outputTokensMax: 5, unboundedParams: ['previous_response_id'] }))).toEqual({
      unboundedParam: 'previous_response_id',
    });
    expect(estimateWorst(sizeOf())).toEqual({ unboundedParam: 'max_tokens' });
  });

  it('is never below the price of an outcome within it, of any model, service tier and kind of token', () => {
    const rows = [...registry.rows.values()].flat();
    const anyShare = fc.double({ min: 0, max: 1, noNaN: true });
    const anyOutcome = fc.record({
      row: fc.constantFrom(...rows),
      bytes: fc.integer({ min: 1, max: 2_000_000 }),
      outputMax: fc.integer({ min: 0, max: 200_000 }),
      shares: fc.array(anyShare, { minLength: 6, maxLength: 6 }),
      serviceTier: fc.constantFrom('flex' as const, 'batch' as const, 'priority' as const, null),
    });
    fc.assert(
      fc.property(anyOutcome, ({ row, bytes, outputMax, shares, serviceTier }) => {
        const match = pricing.match(row.id, row.provider, AT_MS);
        if (match === null) return;
        const worst = estimateWorst(sizeOf({ textBytes: bytes, outputTokensMax: outputMax }));
        if ('unboundedParam' in worst) throw new Error('this request is bounded');
        const estimate = estimateCost(worst, dearestRates([match]));
        const [used = 0, cached = 0, written = 0, audioIn = 0, audioOut = 0, answered = 0] = shares;
        const input = Math.floor(bytes * used);
        const read = Math.floor(input * cached);
        const creation = Math.floor((input - read) * written);
        const completion = Math.floor(outputMax * answered);
        const cost = pricing.price(
          ask({
            model: row.id,
            vendor: row.provider,
            startedAtMs: AT_MS,
            cachedTokensInPrompt: true,
            tokens: { prompt: input, completion, cacheRead: read, cacheCreation: creation },
            details: {
              serviceTier,
              requests: 1,
              inputAudio: Math.floor(input * audioIn),
              outputAudio: Math.floor(completion * audioOut),
              cacheWrite1h: creation,
            },
          }),
        ).costNanoUsd;
        expect(estimate).toBeGreaterThanOrEqual(cost ?? 0);
      }),
      { numRuns: runsOf(1_000) },
    );
  });
});

describe('the cost of an estimate', () => {
  it('is 0 only where the price is zero', () => {
    expect(estimateCost({ input: 1000, output: 1000 }, FREE)).toBe(0);
    expect(estimateCost({ input: 0, output: 0 }, PRICED)).toBeGreaterThan(0);
  });

  it('is at the dearest tier of the price list', () => {
    const sonnet = estimateCost({ input: 0, output: 1000 }, ratesOf('claude-sonnet-4-5'));
    // Above 200,000 tokens of input an output token costs 22.5 USD per million, below it 15.
    expect(sonnet).toBe(22_500_000);
  });
});

const UNLIMITED = [{ nanoUsd: 0, isLimited: false }];

function listed(demands: ReturnType<typeof demandsOf>): readonly BudgetDemand[] {
  if ('code' in demands) throw new Error(demands.code);
  return demands;
}

describe('demands', () => {
  const request = { size: sizeOf(), rates: PRICED, medianOutputTokens: null, allowsUnpriced: false };

  it('an unknown price lets no request pass a block budget, unless the key allows it', () => {
    expect(demandsOf({ ...request, rates: null }, [bucketOf('budget_1')])).toMatchObject({
      code: 'budget_exceeded',
      httpStatus: 402,
      reason: 'price_unknown',
    });
    expect(demandsOf({ ...request, rates: null, allowsUnpriced: true }, [bucketOf('budget_1')])).toMatchObject(
      UNLIMITED,
    );
    expect(demandsOf({ ...request, rates: null }, [bucketOf('budget_1', { onBreach: 'warn' })])).toMatchObject(
      UNLIMITED,
    );
  });

  it('a model whose price is zero is not blocked', () => {
    expect(demandsOf({ ...request, rates: FREE }, [bucketOf('budget_1', { reserve: 'worst' })])).toMatchObject(
      UNLIMITED,
    );
  });

  it('a budget that warns never refuses', () => {
    const [demand] = listed(demandsOf(request, [bucketOf('budget_1', { onBreach: 'warn', reserve: 'worst' })]));
    expect(demand).toMatchObject({ isLimited: false });
    expect(demand?.nanoUsd).toBeGreaterThan(0);
  });

  it('are of the kind that each budget reserves', () => {
    const buckets = [bucketOf('budget_1'), bucketOf('budget_2', { reserve: 'worst' })];
    const demands = listed(demandsOf({ ...request, size: sizeOf({ outputTokensMax: 10_000 }) }, buckets));
    const [expected, worst] = demands.map(({ nanoUsd }) => nanoUsd);
    expect(worst).toBeGreaterThan(expected ?? 0);
  });

  it('refuse with unbounded_request what `worst` cannot bound', () => {
    expect(demandsOf(request, [bucketOf('budget_1', { reserve: 'worst' })])).toEqual({
      code: 'unbounded_request',
      httpStatus: 400,
      param: 'max_tokens',
    });
  });
});

describe('the recent outputs of a key', () => {
  it('have a median from twenty outcomes on', () => {
    const outputs = createRecentOutputs(2);
    for (let outcome = 1; outcome < 20; outcome += 1) outputs.note('a', outcome);
    expect(outputs.medianOf('a')).toBeNull();
    outputs.note('a', 20);
    expect(outputs.medianOf('a')).toBe(11);
  });

  it('are kept for so many keys only, and of each key the newest', () => {
    const outputs = createRecentOutputs(2);
    for (const key of ['a', 'b', 'c']) for (let outcome = 0; outcome < 100; outcome += 1) outputs.note(key, outcome);
    expect(outputs.medianOf('a')).toBeNull();
    expect(outputs.medianOf('c')).toBe(68);
  });
});
