import { describe, expect, it } from 'vitest';
import { compileOverrides, type PriceOverride } from '../../../src/domain/pricing/override.ts';
import { loadPatternEngine } from '../../../src/domain/pricing/patterns.ts';
import { ask, createOverride, pricing } from '../../support/pricing.ts';

const engine = await loadPatternEngine();
const compile = (overrides: readonly PriceOverride[]) => compileOverrides(overrides, engine.compile);

describe('overrides', () => {
  const tokens = { prompt: 1 };
  const at = '2026-01-01T00:00:00Z';
  const query = ask({ model: 'openai/GPT-5-2025-08-07', tokens, at });

  function chosen(...overrides: PriceOverride[]): number | null {
    const { costNanoUsd, source } = pricing.price(query, compile(overrides));
    return source === 'override' ? costNanoUsd : null;
  }

  it.each(['openai/gpt-5-2025-08-07', 'GPT-5-2025-08-07', 'gpt-5', 'openai/gpt-5'])('find a model as %s', (model) => {
    expect(chosen(createOverride({ model }))).toBe(1);
  });

  it.each(['gpt', 'gpt-5-', 'openai', '2025-08-07'])('do not find it by a part of its name, %s', (model) => {
    expect(chosen(createOverride({ model }))).toBeNull();
  });

  it('prefer the sent name to its shorter forms', () => {
    const short = createOverride({ model: 'gpt-5', inputPicoUsd: 2000, createdAtMs: 9 });
    expect(chosen(short, createOverride({ model: 'openai/gpt-5-2025-08-07' }))).toBe(1);
  });

  it('prefer exact to regex, then the newest', () => {
    const regex = createOverride({ match: 'regex', model: '.*', inputPicoUsd: 2000, createdAtMs: 9 });
    const older = createOverride({ model: query.model ?? '', inputPicoUsd: 3000, createdAtMs: 1 });
    const newer = createOverride({ model: query.model ?? '', inputPicoUsd: 4000, createdAtMs: 2 });
    expect(chosen(regex, older, newer)).toBe(4);
    expect(chosen(regex, older)).toBe(3);
    expect(chosen(regex)).toBe(2);
  });

  it.each(['openai/gpt-5-2025-08-07', 'OPENAI/gpt.*', 'gpt-5', '(?:gpt|o)-?[0-9]', 'gpt-5-[0-9-]+'])(
    'find a model by a regex for any of its whole spellings, %s',
    (model) => {
      expect(chosen(createOverride({ match: 'regex', model }))).toBe(1);
    },
  );

  it.each(['gpt', 'gpt-', '-5', 'openai', 'x*'])('do not find it by a regex for a part of them, %s', (model) => {
    expect(chosen(createOverride({ match: 'regex', model }))).toBeNull();
  });

  it('prefer the sent name to its shorter forms, whichever of them a regex matches', () => {
    const whole = createOverride({ id: 'whole', match: 'regex', model: 'openai/.*', inputPicoUsd: 2000 });
    const short = createOverride({ id: 'short', model: 'gpt-5', inputPicoUsd: 3000, createdAtMs: 9 });
    expect(chosen(short, whole)).toBe(2);
  });

  it('hold patterns that would take others for ever against long names within milliseconds', () => {
    const patterns = ['(a*)*b', '(a|aa)+c', '(.*)(.*)(.*)(.*)(.*)x', '(?:a?){200}a{200}'];
    const set = compile(patterns.map((model, index) => createOverride({ id: String(index), match: 'regex', model })));
    const { user: before } = process.cpuUsage();
    for (let index = 0; index < 20; index += 1) set.find(`${'a'.repeat(180)}${index}`, 0);
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(2000);
  });

  it('of the same millisecond are always chosen the same way', () => {
    const pair = ['a', 'b'].map((id, index) =>
      createOverride({ id, model: 'gpt-5', inputPicoUsd: (index + 1) * 1000 }),
    );
    expect(chosen(...pair)).toBe(chosen(...pair.reverse()));
  });

  it('hold from their instant on', () => {
    const startMs = Date.parse(at);
    expect(chosen(createOverride({ model: 'gpt-5', effectiveFromMs: startMs }))).toBe(1);
    expect(chosen(createOverride({ model: 'gpt-5', effectiveFromMs: startMs + 1 }))).toBeNull();
  });

  it('have no rate version and charge cached tokens the input rate by default', () => {
    const cached = ask({ model: 'in-house', tokens: { prompt: 10, cacheRead: 4, cacheCreation: 4, completion: 1 } });
    const plain = createOverride({ model: 'in-house', outputPicoUsd: 5000 });
    expect(pricing.price(cached, compile([plain]))).toEqual({ costNanoUsd: 15, source: 'override', rateVersion: null });
    const rated = { ...plain, cacheReadPicoUsd: 0, cacheWritePicoUsd: 2000 };
    expect(pricing.price(cached, compile([rated])).costNanoUsd).toBe(15 - 4 + 4);
  });

  it.each([
    { model: 'my-Claude', vendor: null },
    { model: 'my-model', vendor: 'Anthropic' },
  ])('bill the cached tokens of Claude beside its prompt: %j', ({ model, vendor }) => {
    const cached = ask({ model, vendor, tokens: { prompt: 10, cacheRead: 4 } });
    expect(pricing.price(cached, compile([createOverride({ model })])).costNanoUsd).toBe(14);
  });
});
