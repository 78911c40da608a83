import { describe, expect, it } from 'vitest';
import type { PriceOverride } from '../../../src/domain/pricing/pricing.ts';
import { ask, createOverride, pricing } from '../../support/pricing.ts';

describe('overrides', () => {
  const tokens = { prompt: 1 };
  const at = '2026-01-01T00:00:00Z';
  const asked = ask({ model: 'openai/GPT-5-2025-08-07', tokens, at });

  function chosen(...overrides: PriceOverride[]): number | null {
    const { costNanoUsd, source } = pricing.price(asked, overrides);
    return source === 'override' ? costNanoUsd : null;
  }

  it.each(['openai/gpt-5-2025-08-07', 'GPT-5-2025-08-07', 'gpt-5', 'openai/gpt-5'])('find a model as %s', (model) => {
    expect(chosen(createOverride({ model }))).toBe(1);
  });

  it.each(['gpt', 'gpt-5-', 'openai', '2025-08-07'])('do not find it by a part of its name, %s', (model) => {
    expect(chosen(createOverride({ model }))).toBeNull();
  });

  it('prefer the sent name to its shorter forms', () => {
    const short = createOverride({ model: 'gpt-5', inputPicoUsd: 2000n, createdAtMs: 9 });
    expect(chosen(short, createOverride({ model: 'openai/gpt-5-2025-08-07' }))).toBe(1);
  });

  it('prefer exact to regex, then the newest', () => {
    const regex = createOverride({ match: 'regex', inputPicoUsd: 2000n, createdAtMs: 9, matches: () => true });
    const older = createOverride({ model: asked.model ?? '', inputPicoUsd: 3000n, createdAtMs: 1 });
    const newer = createOverride({ model: asked.model ?? '', inputPicoUsd: 4000n, createdAtMs: 2 });
    expect(chosen(regex, older, newer)).toBe(4);
    expect(chosen(regex, older)).toBe(3);
    expect(chosen(regex)).toBe(2);
  });

  it('hand a regex the raw model first and then its forms', () => {
    const seen: string[] = [];
    const matches = (model: string) => {
      seen.push(model);
      return model === 'gpt-5';
    };
    expect(chosen(createOverride({ match: 'regex', matches }))).toBe(1);
    expect(seen[0]).toBe(asked.model);
    expect(seen).toContain('gpt-5-2025-08-07');
  });

  it('of the same millisecond are always chosen the same way', () => {
    const pair = ['a', 'b'].map((id, index) =>
      createOverride({ id, model: 'gpt-5', inputPicoUsd: BigInt(index + 1) * 1000n }),
    );
    expect(chosen(...pair)).toBe(chosen(...pair.reverse()));
  });

  it('hold from their instant on', () => {
    const startMs = Date.parse(at);
    expect(chosen(createOverride({ model: 'gpt-5', effectiveFromMs: startMs }))).toBe(1);
    expect(chosen(createOverride({ model: 'gpt-5', effectiveFromMs: startMs + 1 }))).toBeNull();
  });

  it('have no rate version and charge cached tokens the input rate unless told', () => {
    const cached = ask({ model: 'in-house', tokens: { prompt: 10, cacheRead: 4, cacheCreation: 4, completion: 1 } });
    const plain = createOverride({ model: 'in-house', outputPicoUsd: 5000n });
    expect(pricing.price(cached, [plain])).toEqual({ costNanoUsd: 15, source: 'override', rateVersion: null });
    const rated = { ...plain, cacheReadPicoUsd: 0n, cacheWritePicoUsd: 2000n };
    expect(pricing.price(cached, [rated]).costNanoUsd).toBe(15 - 4 + 4);
  });

  it.each([
    { model: 'my-Claude', vendor: null },
    { model: 'my-model', vendor: 'Anthropic' },
  ])('bill the cached tokens of Claude beside its prompt: %j', ({ model, vendor }) => {
    const cached = ask({ model, vendor, tokens: { prompt: 10, cacheRead: 4 } });
    expect(pricing.price(cached, [createOverride({ model })]).costNanoUsd).toBe(14);
  });
});
