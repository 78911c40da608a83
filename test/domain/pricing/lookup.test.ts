import { calcPrice, type MatchLogic, waitForUpdate } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { ask, createListed, pricing, registry } from '../../support/pricing.ts';
import { WILD_NAMES } from '../../support/wild-names.ts';

const at = Date.parse('2026-11-01T12:00:00Z');
const RATES = ['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok'];

type Row = { readonly provider: string; readonly id: string };

/** The row by which the package charges a token; null when its own lookup finds no row with a rate. */
function lookUp(name: string, vendor: string | null): Row | null {
  const found = calcPrice({ input_tokens: 1 }, name, {
    timestamp: new Date(at),
    ...(vendor === null ? {} : { providerId: vendor }),
  });
  if (found === null) return null;
  const isCharged = RATES.some((rate) => found.model_price[rate] !== undefined) || found.model.id.endsWith(':free');
  return isCharged ? { provider: found.provider.id, id: found.model.id } : null;
}

function textsOf(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(textsOf);
  if ('and' in match) return match.and.flatMap(textsOf);
  if ('regex' in match) return [];
  return Object.values(match);
}

describe('the lookup of the package', () => {
  it('finds the row of our own lookup for every id, alias and clause, except for exact names', async () => {
    const unpriced: string[] = [];
    const different: string[] = [];
    let compared = 0;
    for (const provider of (await waitForUpdate()) ?? []) {
      const texts = new Set(provider.models.flatMap(({ id, match }) => [id, ...textsOf(match)]));
      const names = [...texts].flatMap((text) => [text, `${text}-x`]);
      for (const name of names) {
        for (const vendor of [null, provider.id]) {
          const expected = lookUp(name, vendor);
          if (expected === null) continue;
          compared += 1;
          const found = pricing.match(name, vendor, at);
          if (found === null) unpriced.push(`${name} of ${vendor}`);
          // The package lists a provider's fallbacks under the name of the provider.
          else if (found.id !== expected.id && !registry.rows.has(found.matchedForm))
            different.push(`${name} of ${vendor}`);
        }
      }
    }
    expect({ unpriced, different }).toEqual({ unpriced: [], different: [] });
    expect(compared).toBeGreaterThan(2_000);
  });

  it('finds a price for the same of two hundred real names as our own lookup', () => {
    expect(WILD_NAMES.length).toBeGreaterThanOrEqual(200);
    const priced = WILD_NAMES.filter((name) => lookUp(name, null) !== null);
    expect(priced.filter((name) => pricing.match(name, null, at)?.id !== lookUp(name, null)?.id)).toEqual([]);
    expect(priced.length).toBeGreaterThan(100);
  });
});

describe('a name that no provider of the order lists', () => {
  it.each([
    ['claude-3-5-sonnet-latest', null, 'anthropic', 'claude-3-5-sonnet'],
    ['gemini-1.5-flash-002', null, 'google', 'gemini-1.5-flash'],
    ['gemini-2.5-pro-preview-06-05', null, 'google', 'gemini-2.5-pro'],
    ['claude-2.1', null, 'anthropic', 'claude-2'],
    [' Claude-2.1 ', 'Anthropic', 'anthropic', 'claude-2'],
    ['anthropic/claude-3-5-sonnet-latest', null, 'anthropic', 'claude-3-5-sonnet'],
    ['some/proxy/claude-2.1', null, 'anthropic', 'claude-2'],
    ['claude-3-5-sonnet-latest', 'google-vertex', 'google', 'claude-3-5-sonnet'],
    ['claude-2.1', 'azure', 'anthropic', 'claude-2'],
    ['@cf/openai/gpt-oss-120b', null, 'cloudflare', '@cf/openai/gpt-oss-120b'],
    ['composer-2.5[fast=true]', null, 'cursor', 'composer-2.5-fast'],
  ])('%s of %s is %s %s', (model, vendor, provider, id) => {
    expect(pricing.match(model, vendor, at)).toMatchObject({ provider, id });
  });

  it.each(['gpt', 'gpt-', 'claude', 'gemini', 'gpt-55', 'gpt-5-foo', 'gpt-4.9-super', 'o1-foo', 'gpt-4o-mini:free'])(
    '%s has no price, because no clause matches it',
    (model) => {
      expect(pricing.match(model, null, at)).toBeNull();
    },
  );

  it('as a free variant behind a path is not taken for the paid model', () => {
    expect(pricing.match('anthropic/claude-3-5-sonnet-latest:free', null, at)).toBeNull();
  });

  it('matches the first model whose clause fits, even one without a token price', () => {
    const listed = createListed('openai', [
      { id: 'by-image', match: { starts_with: 'draw-' }, prices: { requests_kcount: 1 } },
      { id: 'all', match: { and: [{ contains: '-' }, { regex: '\\d$' }] }, prices: { input_mtok: 1 } },
    ]);
    const cost = (model: string) => listed.price(ask({ model, vendor: 'openai', tokens: { prompt: 1 } })).costNanoUsd;
    expect(['draw-1', 'write-1', 'write-a'].map(cost)).toEqual([null, 1000, null]);
  });

  it('is also tried with its date spelled in parts, unless there is no such day', () => {
    const match = { regex: '^m-2025-0\\d-\\d\\d:x$' };
    const listed = createListed('openai', [{ id: 'dated', match, prices: { input_mtok: 1 } }]);
    const ids = ['m-20250131:x', 'm-20250230:x'].map((model) => listed.match(model, 'openai', at)?.id);
    expect(ids).toEqual(['dated', undefined]);
  });
});
