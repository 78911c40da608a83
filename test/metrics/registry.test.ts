import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../src/metrics/registry.ts';

async function linesOf(registry: ReturnType<typeof createRegistry>): Promise<string[]> {
  return (await registry.text()).trimEnd().split('\n');
}

describe('a counter', () => {
  it('without labels is reported as zero at the start', async () => {
    const registry = createRegistry();
    registry.counter({ name: 'lost_total', help: 'Lost.' });
    expect(await registry.text()).toBe('# HELP lost_total Lost.\n# TYPE lost_total counter\nlost_total 0\n');
  });

  it('counts each combination of labels separately', async () => {
    const registry = createRegistry();
    const count = registry.counter({ name: 'tries_total', help: 'Tries.', labels: ['kind', 'outcome'] });
    count({ kind: 'http', outcome: 'success' });
    count({ outcome: 'success', kind: 'http' }, 2);
    count({ kind: 'sqs', outcome: 'success' });
    expect((await linesOf(registry)).slice(2)).toEqual([
      'tries_total{kind="http",outcome="success"} 3',
      'tries_total{kind="sqs",outcome="success"} 1',
    ]);
  });

  it('escapes what would break a line', async () => {
    const registry = createRegistry();
    registry.counter({ name: 'a_total', help: 'Back\\slash\nand line.', labels: ['reason'] })({ reason: 'a"b\\c\nd' });
    expect(await linesOf(registry)).toEqual([
      '# HELP a_total Back\\\\slash\\nand line.',
      '# TYPE a_total counter',
      'a_total{reason="a\\"b\\\\c\\nd"} 1',
    ]);
  });

  it('reports combinations beyond 200 as other', async () => {
    const registry = createRegistry();
    const count = registry.counter({ name: 'a_total', help: 'A.', labels: ['reason'] });
    for (let index = 0; index < 1_000; index += 1) count({ reason: `r${index}` });
    const lines = await linesOf(registry);
    expect(lines).toHaveLength(2 + 201);
    expect(lines.at(-1)).toBe('a_total{reason="other"} 800');
  });

  it('has a unique name', () => {
    const registry = createRegistry();
    registry.counter({ name: 'a_total', help: 'A.' });
    expect(() => registry.counter({ name: 'a_total', help: 'A.' })).toThrow('registered twice');
  });
});

describe('a histogram', () => {
  it('has cumulative buckets, bounds included, a sum and a count', async () => {
    const registry = createRegistry();
    const measure = registry.histogram({ name: 'a_seconds', help: 'A.', labels: ['kind'], bounds: [0.5, 1, 10] });
    for (const seconds of [0.5, 0.75, 1, 2, 100]) measure({ kind: 'x' }, seconds);
    expect(await linesOf(registry)).toEqual([
      '# HELP a_seconds A.',
      '# TYPE a_seconds histogram',
      'a_seconds_bucket{kind="x",le="0.5"} 1',
      'a_seconds_bucket{kind="x",le="1"} 3',
      'a_seconds_bucket{kind="x",le="10"} 4',
      'a_seconds_bucket{kind="x",le="+Inf"} 5',
      'a_seconds_sum{kind="x"} 104.25',
      'a_seconds_count{kind="x"} 5',
    ]);
  });
});

describe('a gauge', () => {
  it('is read at every scrape', async () => {
    const registry = createRegistry();
    let value = 0;
    registry.gauge({ name: 'now', help: 'Now.', read: async () => [{ labels: { of: 'it' }, value: ++value }] });
    expect((await linesOf(registry)).at(-1)).toBe('now{of="it"} 1');
    expect((await linesOf(registry)).at(-1)).toBe('now{of="it"} 2');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('away'))],
    ['is not a number', () => [{ value: Number.NaN }]],
  ])('is left out when it cannot be read, and hides nothing else: %s', async (_why, read) => {
    const registry = createRegistry();
    registry.gauge({ name: 'away', help: 'Away.', read });
    registry.counter({ name: 'here_total', help: 'Here.' });
    expect(await linesOf(registry)).toEqual(['# HELP here_total Here.', '# TYPE here_total counter', 'here_total 0']);
  });
});
