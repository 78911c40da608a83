/** The results of a run in the form in which LangWatch's SDK for Python makes its table of them. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { createClient, type Expected, METHODS } from './experiments-client.ts';

let app: TestApp;
let foreignKey: string;
let slug: string;
beforeAll(async () => {
  app = await startApp();
  const body = { name: 'Elsewhere' };
  const headers = { authorization: `Bearer ${app.adminKey}` };
  foreignKey = (await callRest(app.address, { verb: 'POST', path: '/api/projects', body, headers })).body.apiKey;
  slug = await init('Read by Python');
  await log(slug, 'a run/1', {
    dataset: [
      { index: 1, entry: { input: 'b' }, predicted: { output: 'B' }, cost: 0.5, duration: 20, trace_id: 'trace-1' },
      { index: 0, entry: { input: 'a', n: '12345678901234567890' }, predicted: 'A', error: 'broke' },
      { index: 1, target_id: 'other' },
    ],
    evaluations: [
      { index: 1, name: 'Same', evaluator: 'langevals/exact_match', score: 1, passed: true, inputs: { output: 'B' } },
      { index: 0, evaluator: 'judge', status: 'error', details: 'No answer', cost: 0.25, duration: 5 },
      { index: 1, target_id: 'other', name: 'Same', label: 'odd' },
    ],
  });
});
afterAll(async () => {
  await app.close();
});

const { init, log, rest, surfaceCase } = createClient(() => app);
const pathOf = (runId: string, experiment: string) =>
  `/api/evaluations/v3/runs/${encodeURIComponent(runId)}/results?experimentSlug=${experiment}`;
const ask = (runId: string, experiment: string, expected: Expected) => {
  const request = { method: METHODS.listExperimentRunResults, request: { runId, slugOrId: experiment } };
  return expectEverywhere(app.address, surfaceCase(['GET', pathOf(runId, experiment)], request, expected));
};
const read = async (query: string): Promise<Body> => (await rest('GET', pathOf('a run/1', slug) + query)).body;

it('the results and evaluations of a run are two lists, without what has no value', async () => {
  const { experimentId, ...answer } = await read('');
  expect(experimentId).toMatch(/^experiment_/);
  expect(answer).toEqual({
    runId: 'a run/1',
    dataset: [
      { index: 0, entry: { input: 'a', n: '12345678901234567890' }, predicted: 'A', error: 'broke' },
      { index: 1, entry: { input: 'b' }, predicted: { output: 'B' }, cost: 0.5, duration: 20, traceId: 'trace-1' },
      { index: 1, targetId: 'other' },
    ],
    evaluations: [
      { index: 0, name: 'judge', evaluator: 'judge', status: 'error', details: 'No answer', cost: 0.25, duration: 5 },
      {
        ...{ index: 1, name: 'Same', evaluator: 'langevals/exact_match', status: 'processed' },
        ...{ score: 1, passed: true, inputs: { output: 'B' } },
      },
      { index: 1, targetId: 'other', name: 'Same', evaluator: 'Same', status: 'processed', label: 'odd' },
    ],
    next_cursor: null,
  });
  await ask('a run/1', slug, { status: 200, check: ({ dataset }) => expect(dataset).toHaveLength(3) });
});

it('more results than fit a page continue at its cursor, and a large run is read whole', async () => {
  const first = await read('&limit=2');
  const second = await read(`&limit=2&cursor=${first.next_cursor}`);
  expect([first.dataset.length, first.evaluations.length, second.next_cursor]).toEqual([2, 2, null]);
  expect(second.dataset).toEqual([{ index: 1, targetId: 'other' }]);
  const dataset = Array.from({ length: 450 }, (_, index) => ({ index, predicted: { output: `o${index}` } }));
  await log(slug, 'large', { dataset });
  const { body } = await rest('GET', pathOf('large', slug));
  expect(body.dataset).toEqual(dataset);
});

it('pages hold all results, however the ids of their targets are ordered', async () => {
  const ids = ['a', '\u{1f600}', '\uff5e', '\ufffd', 'z', '\u{10000}'];
  await log(slug, 'astral', { dataset: ids.map((target_id) => ({ index: 0, target_id })) });
  const seen: unknown[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await rest('GET', `${pathOf('astral', slug)}&limit=1&cursor=${encodeURIComponent(cursor)}`);
    seen.push(...body.dataset.map(({ targetId }: { targetId: string }) => targetId));
    if (body.next_cursor === null) break;
    cursor = body.next_cursor;
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
});

it('results are refused where there are none, to others, and without the experiment', async () => {
  await ask('unknown', slug, { status: 404, code: 'experiment_run_not_found' });
  await ask('a run/1', 'unknown', { status: 404, code: 'experiment_not_found' });
  await ask('a run/1', slug, { status: 404, code: 'experiment_not_found', headers: { 'x-auth-token': foreignKey } });
  await ask('a run/1', slug, { status: 401, code: 'missing_credentials', headers: {} });
  await ask('a run/1', slug, { status: 401, code: 'invalid_credentials', headers: { 'x-auth-token': 'sk-lw-wrong' } });
  for (const [query, code] of [
    ['', 'validation_error'],
    [`?experimentSlug=${slug}&limit=10001`, 'validation_error'],
    [`?experimentSlug=${slug}&cursor=x`, 'invalid_cursor'],
  ] as const) {
    const { status, body } = await rest('GET', `/api/evaluations/v3/runs/a%20run%2F1/results${query}`);
    expect([status, body.code]).toEqual([422, code]);
  }
});
