/** Comparisons of two runs. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { createClient, type Expected, METHODS } from './experiments-client.ts';

let app: TestApp;
let slug: string;
let datasetId: string;
beforeAll(async () => {
  app = await startApp();
  slug = await init('Side by side');
  const entries = [{ q: 0 }, { q: 1 }, { q: 2 }, { q: 3 }];
  datasetId = (await rest('POST', '/api/dataset', { name: 'Cases', entries })).body.id;
  for (const id of ['monday', 'tuesday']) {
    await rest('POST', `/api/experiments/${slug}/runs`, { run_id: id, dataset: datasetId });
  }
  await log(slug, 'monday', {
    dataset: [result(0, { cost: 1, duration: 10 }), result(1, { cost: 2, duration: 30 }), result(2)],
    evaluations: [score(0, 0), score(1, 1), score(2, 0)],
  });
  await log(slug, 'tuesday', {
    dataset: [result(1, { cost: 4, duration: 50 }), result(2), result(3, { error: 'broke' })],
    evaluations: [score(1, 1), score(2, 1)],
  });
});
afterAll(() => app.close());

const { init, log, rest, surfaceCase } = createClient(() => app);
const result = (index: number, more: object = {}) => ({ index, predicted: { a: index }, ...more });
const score = (index: number, value: number, more: object = {}) => ({
  ...{ index, name: 'Same', evaluator: 'e', score: value, passed: value === 1, ...more },
});
const compare = async (query: string, of = slug): Promise<Body> =>
  (await rest('GET', `/api/experiments/${of}/compare?${query}`)).body;
/** Pairs of indexes of compared entries. */
const placesOf = ({ data }: Body) => data.map(({ base, other }: Body) => [base?.index ?? null, other?.index ?? null]);

describe('two runs of a dataset', () => {
  it('are compared entry by entry and in sum, with what only one of them has', async () => {
    const compared = await compare('base=monday&other=tuesday');
    expect(compared).toMatchObject({ in_both: 2, only_in_base: 1, only_in_other: 1, next_cursor: null });
    expect(placesOf(compared)).toEqual([
      [0, null],
      [1, 1],
      [2, 2],
      [null, 3],
    ]);
    expect(compared.base.run).toMatchObject({ id: 'monday', dataset_id: datasetId, total: 4 });
    expect(compared.base.summary).toMatchObject({ results: 3, errors: 0, cost: 3, mean_duration: 20 });
    expect(compared.base.summary.evaluators).toMatchObject([{ name: 'Same', mean_score: 1 / 3, pass_rate: 1 / 3 }]);
    expect(compared.other.summary).toMatchObject({ results: 3, errors: 1, cost: 4, mean_duration: 50 });
    expect(compared.other.summary.evaluators).toMatchObject([{ name: 'Same', mean_score: 1, pass_rate: 1 }]);
    expect(compared.data[2]).toMatchObject({
      base: { entry_id: `${datasetId}-2`, predicted: { a: 2 }, evaluations: [{ name: 'Same', score: 0 }] },
      other: { entry_id: `${datasetId}-2`, evaluations: [{ name: 'Same', score: 1, passed: true }] },
    });
    expect(compared.data[3]).toMatchObject({ base: null, other: { error: 'broke' } });
  });

  it('are compared page by page', async () => {
    const positions: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = `base=monday&other=tuesday&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page: Body = await compare(query);
      expect([page.in_both, page.base.summary.results]).toEqual([2, 3]);
      positions.push(...placesOf(page));
      cursor = page.next_cursor;
    }
    expect(positions).toEqual(placesOf(await compare('base=monday&other=tuesday')));
  });
});

describe('results are matched', () => {
  it('by the entry of the dataset, in any order', async () => {
    const shuffled = [
      { index: 0, entry: { id: `${datasetId}-2`, datasetId, entry: { q: 2 } } },
      { index: 1, entry_id: `${datasetId}-0` },
      // This entry has no id.
      { index: 2 },
    ];
    await log(slug, 'shuffled', { dataset: shuffled });
    expect(placesOf(await compare('base=monday&other=shuffled'))).toEqual([
      [0, 1],
      [1, null],
      [2, 0],
      [null, 2],
    ]);
  });

  it('by their index where only that is known, also those of another experiment', async () => {
    const other = await init('Another');
    await log(other, 'r', { dataset: [result(1), result(7)] });
    expect(placesOf(await compare(`base=monday&other=r&other_experiment=${other}`))).toEqual([
      [0, null],
      [1, 1],
      [2, null],
      [null, 7],
    ]);
  });

  it('with those of the same target, or of the two that are named', async () => {
    const of = await init('Targets');
    const both = (index: number) => ['small', 'large'].map((target) => result(index, { target_id: target }));
    await log(of, 'r', { dataset: [...both(0), ...both(1)] });
    await log(of, 's', { dataset: [result(0, { target_id: 'small' })] });
    const byTarget = await compare('base=r&other=s', of);
    expect([byTarget.in_both, byTarget.only_in_base, byTarget.only_in_other]).toEqual([1, 3, 0]);
    const named = await compare('base=r&other=r&base_target=small&other_target=large', of);
    expect(placesOf(named)).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(named.data[0]).toMatchObject({ base: { target_id: 'small' }, other: { target_id: 'large' } });
    expect(named.base.summary.results).toBe(2);
  });
});

describe('a comparison', () => {
  const comparisonCase = (base: string, other: string, expected: Expected, of = slug): SurfaceCase =>
    surfaceCase(
      ['GET', `/api/experiments/${of}/compare?base=${base}&other=${other}`],
      { method: METHODS.compareExperimentRuns, request: { slugOrId: of, base, other } },
      expected,
    );
  const ask = (each: SurfaceCase) => expectEverywhere(app.address, each);

  it('is the same over REST and gRPC', async () => {
    const expected = await compare('base=monday&other=tuesday');
    const check = (body: Body) => expect(placesOf(body)).toEqual(placesOf(expected));
    await ask(comparisonCase('monday', 'tuesday', { status: 200, check }));
  });

  it('is of runs of one dataset, which are there', async () => {
    const dataset = (await rest('POST', '/api/dataset', { name: 'Others' })).body.id;
    await rest('POST', `/api/experiments/${slug}/runs`, { run_id: 'foreign', dataset });
    await ask(comparisonCase('monday', 'foreign', { status: 422, code: 'experiment_runs_not_comparable' }));
    const check = (body: Body) => expect(body.message).toBe('There is no run "unknown" of the experiment.');
    const missing = { status: 404, code: 'experiment_run_not_found', check };
    await ask(comparisonCase('monday', 'unknown', missing));
    await ask(comparisonCase('unknown', 'monday', missing));
    await ask(comparisonCase('monday', 'tuesday', { status: 404, code: 'experiment_not_found' }, 'unknown'));
    await ask(comparisonCase('monday', 'tuesday', { status: 401, code: 'missing_credentials', headers: {} }));
    const wrong = { 'x-auth-token': 'sk-lw-wrong' };
    await ask(comparisonCase('monday', 'tuesday', { status: 401, code: 'invalid_credentials', headers: wrong }));
    const forged = await rest('GET', `/api/experiments/${slug}/compare?base=monday&other=tuesday&cursor=x`);
    expect([forged.status, forged.body.code]).toEqual([422, 'invalid_cursor']);
  });
});
