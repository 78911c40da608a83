/** The published SDK, unmodified, runs experiments against a running server. */

import { LangWatch } from 'langwatch';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import type { Body } from '../../support/surfaces.ts';
import { createClient } from './experiments-client.ts';

let app: TestApp;
let langwatch: LangWatch;
let printed: string[];
beforeAll(async () => {
  app = await startApp();
  langwatch = new LangWatch({ apiKey: app.projectKey, endpoint: app.address });
  printed = [];
  // The SDK prints the URL of the results.
  vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(String(line)));
});
afterAll(async () => {
  vi.restoreAllMocks();
  await app.close();
});

const { read, rest } = createClient(() => app);

it('langwatch runs an experiment on a dataset, and what came of it reads back complete', async () => {
  const entries = [
    { input: 'capital of Norway', expected_output: 'Oslo' },
    { input: 'capital of Chad', expected_output: "N'Djamena" },
    { input: 'fails', expected_output: '' },
  ];
  const made = (await rest('POST', '/api/dataset', { name: 'Capitals', entries })).body;
  const dataset = await langwatch.datasets.get(made.slug);
  const experiment = await langwatch.experiments.init('Capitals of states');
  expect(printed.some((line) => line.includes('/experiments/capitals-of-states?runId='))).toBe(true);

  await experiment.run(dataset.entries, async ({ item, index }) => {
    const { input, expected_output: expected } = item.entry as { input: string; expected_output: string };
    if (input === 'fails') throw new Error('no such state');
    const data = { output: 'Oslo', expected_output: expected };
    await experiment.evaluate('langevals/exact_match', { index, data, name: 'Same' });
    experiment.log('length', { index, score: 4, details: 'of Oslo', cost: 0.25, label: 'short' });
  });

  const runs = (await rest('GET', '/api/experiments/capitals-of-states/runs')).body.data;
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({ name: 'Capitals of states', total: 3, done: 3, result_count: 3 });
  expect(runs[0].finished_at).toEqual(expect.any(String));
  const { data, summary } = await read('capitals-of-states', runs[0].id);
  expect(data).toHaveLength(3);
  for (const [index, result] of data.entries()) {
    // The server recognises entries of its own dataset.
    expect(result).toMatchObject({ index, entry_id: `${made.id}-${index}`, entry: { entry: entries[index] } });
    expect(result.duration).toEqual(expect.any(Number));
  }
  const [right, wrong, failed] = data;
  const nameOf = ({ name }: Body) => name;
  expect(right.evaluations.map(nameOf).toSorted()).toEqual(['Same', 'length']);
  const evaluationOf = (result: Body, name: string) => result.evaluations.find((each: Body) => each.name === name);
  expect(evaluationOf(right, 'Same')).toMatchObject({ status: 'processed', passed: true, score: 1 });
  expect(evaluationOf(wrong, 'Same')).toMatchObject({ status: 'processed', passed: false, score: 0 });
  expect(evaluationOf(wrong, 'Same').inputs).toEqual({ output: 'Oslo', expected_output: "N'Djamena" });
  const length = { score: 4, details: 'of Oslo', cost: 0.25, label: 'short', status: 'processed' };
  expect(evaluationOf(right, 'length')).toMatchObject(length);
  expect(failed).toMatchObject({ error: 'no such state', evaluations: [] });
  expect(summary).toMatchObject({ results: 3, errors: 1, evaluation_cost: 0.5 });
  expect(summary.evaluators).toMatchObject([
    { name: 'Same', processed: 2, mean_score: 0.5, pass_rate: 0.5 },
    { name: 'length', processed: 2, mean_score: 4, pass_rate: null },
  ]);
});

it('langwatch tries several targets on each entry', async () => {
  const experiment = await langwatch.experiments.init('Targets');
  await experiment.run(['a', 'b'], async () => {
    for (const model of ['small', 'large']) {
      await experiment.withTarget(model, { model }, async () => {
        // Inside a target the SDK knows the index.
        experiment.log('quality', { score: model === 'large' ? 1 : 0 } as Parameters<typeof experiment.log>[1]);
        return { output: `by ${model}` };
      });
    }
  });
  const [run] = (await rest('GET', '/api/experiments/targets/runs')).body.data;
  expect(run).toMatchObject({ total: 2, done: 2, result_count: 4 });
  expect((await read('targets', run.id)).targets).toEqual(
    ['small', 'large'].map((id) => ({ id, name: id, type: 'custom', metadata: { model: id } })),
  );
  const { data } = await read('targets', run.id);
  const shown = data.map(({ index, target_id: target, predicted, entry, evaluations }: Body) => [
    ...[index, target, predicted, entry, evaluations.map(({ score }: Body) => score)],
  ]);
  expect(shown).toEqual([
    [0, 'large', { output: 'by large' }, 'a', [1]],
    [0, 'small', { output: 'by small' }, 'a', [0]],
    [1, 'large', { output: 'by large' }, 'b', [1]],
    [1, 'small', { output: 'by small' }, 'b', [0]],
  ]);
});

it('langwatch reports a wrong key', async () => {
  const wrongKeyClient = new LangWatch({ apiKey: 'sk-lw-wrong', endpoint: app.address });
  await expect(wrongKeyClient.experiments.init('Nobody')).rejects.toThrow('Invalid API key');
});
