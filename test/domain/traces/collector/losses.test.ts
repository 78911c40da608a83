import { expect, it } from 'vitest';
import { createLosses, DROPPED_FIELDS } from '../../../../src/domain/traces/collector/losses.ts';

function watchLosses() {
  const counted: Record<string, number> = {};
  const logged: object[] = [];
  const count = (name: string, by: number) => {
    counted[name] = (counted[name] ?? 0) + by;
  };
  const losses = createLosses({
    meter: { fieldsDropped: count, spansRefused: (by) => count('spans', by) },
    log: { warn: (fields) => void logged.push(fields) },
  });
  const note = (projectId: string, nowMs: number, refusedSpans: number, ...dropped: readonly string[]) =>
    losses.note({ projectId, nowMs, refusedSpans, dropped });
  return { note, counted, logged };
}

it('counts refused spans, and fields by their name in the table', () => {
  const { note, counted } = watchLosses();
  note('p', 0, 2, 'model', 'metrics.prompt_tokens', 'metrics.mine', 'error.stacktrace', 'contexts[3].content');
  note('p', 1, 1, 'input.value', 'outputs[0].value', 'rates.input', 'of the sender', 'model');
  expect(counted).toEqual({
    spans: 3,
    model: 2,
    'metrics.prompt_tokens': 1,
    metrics: 1,
    error: 1,
    contexts: 1,
    input: 1,
    output: 1,
    rates: 1,
    other: 1,
  });
  const names: ReadonlySet<string> = new Set(['spans', ...DROPPED_FIELDS]);
  expect(Object.keys(counted).filter((name) => !names.has(name))).toEqual([]);
});

it('logs a project at most once a minute, with all that it lost since', () => {
  const { note, logged } = watchLosses();
  note('p', 1_000, 1, 'model');
  note('p', 2_000, 2, 'model', 'name');
  note('q', 2_000, 0, 'name');
  note('p', 60_999, 0, 'name');
  note('p', 61_000, 4);
  expect(logged).toEqual([
    { projectId: 'p', spansRefused: 1, fieldsDropped: { model: 1 } },
    { projectId: 'q', spansRefused: 0, fieldsDropped: { name: 1 } },
    { projectId: 'p', spansRefused: 6, fieldsDropped: { model: 1, name: 2 } },
  ]);
});

it('says nothing where nothing is lost', () => {
  const { note, counted, logged } = watchLosses();
  note('p', 0, 0);
  expect([counted, logged]).toEqual([{}, []]);
});
