import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { mint, restrictedTo } from '../keys/keys-client.ts';
import { createClient, type Expected, METHODS } from './experiments-client.ts';

let app: TestApp;
let foreignKey: string;
beforeAll(async () => {
  app = await startApp();
  const body = { name: 'Elsewhere' };
  const headers = { authorization: `Bearer ${app.adminKey}` };
  foreignKey = (await callRest(app.address, { verb: 'POST', path: '/api/projects', body, headers })).body.apiKey;
});
afterAll(() => app.close());

const { init, log, read, rest, surfaceCase } = createClient(() => app);
const ask = (each: SurfaceCase) => expectEverywhere(app.address, each);
const create = (slug: string, body: object) => rest('POST', `/api/experiments/${slug}/runs`, body);
const result = (index: number, more: object = {}) => ({ index, entry: { q: index }, predicted: { a: index }, ...more });
const score = (index: number, more: object = {}) => ({ index, name: 'Same', evaluator: 'e', score: 0.5, ...more });

describe('an experiment', () => {
  it('is the same when its name is sent again', async () => {
    const sent = { experiment_name: ' Größe 1 ', experiment_slug: 'Größe 1', experiment_type: 'BATCH_EVALUATION_V2' };
    const first = await rest('POST', '/api/experiment/init', sent);
    expect(first.status).toBe(200);
    const { slug } = first.body;
    expect(slug).toMatch(/^gro-e-1-[0-9a-f]{8}$/);
    expect(first.body).toMatchObject({ name: 'Größe 1', project_id: app.projectId });
    expect(first.body.path.endsWith(`/experiments/${slug}`)).toBe(true);
    expect(await init(slug)).toBe(slug);
    const rpc = { method: METHODS.initExperiment, request: { experimentSlug: 'Größe 1' } };
    const check = ({ id }: Body) => expect(id).toBe(first.body.id);
    await ask(surfaceCase(['POST', '/api/experiment/init', sent], rpc, { status: 200, check }));
    await ask(
      surfaceCase(
        ['POST', '/api/experiment/init', {}],
        { method: METHODS.initExperiment, request: {} },
        { status: 422, code: 'validation_error' },
      ),
    );
  });

  it('differs from one whose name gives the same slug', async () => {
    const long = 'x'.repeat(50);
    const names = ['实验', '評価', '!', '?', 'Cafe', 'Café', `${long}1`, `${long}2`];
    const slugs: string[] = [];
    for (const name of names) slugs.push(await init(name));
    expect(new Set(slugs).size).toBe(names.length);
    expect(slugs[4]).toBe('cafe');
    for (const slug of slugs) expect(await init(slug)).toBe(slug);
  });

  it('is read, listed newest first, and removed with its runs when it is deleted', async () => {
    const slug = await init('Short lived');
    await log(slug, 'one', { dataset: [result(0)] });
    const { body } = await rest('GET', '/api/experiments');
    expect(body.data[0]).toMatchObject({ slug, name: 'Short lived' });
    const path = `/api/experiments/${slug}`;
    const reading = (expected: Expected) =>
      ask(surfaceCase(['GET', path], { method: METHODS.getExperiment, request: { slugOrId: slug } }, expected));
    await reading({ status: 200, check: (one) => expect(one).toEqual(body.data[0]) });
    expect((await rest('DELETE', path)).body).toEqual({ success: true });
    await reading({ status: 404, code: 'experiment_not_found' });
    const again = await init('Short lived');
    expect(again).toBe(slug);
    expect((await rest('GET', `${path}/runs`)).body).toEqual({ data: [], next_cursor: null });
  });
});

describe('a run', () => {
  it('belongs to a version of a dataset, and reports its progress', async () => {
    const slug = await init('Of a dataset');
    const entries = [{ q: 0 }, { q: 1 }, { q: 2 }];
    const dataset = (await rest('POST', '/api/dataset', { name: 'Cases', entries })).body;
    await rest('POST', `/api/dataset/${dataset.id}/entries`, { entries: [{ q: 3 }] });
    const made = await create(slug, { run_id: 'first', dataset: dataset.slug, dataset_version: 1 });
    expect(made.status).toBe(201);
    const run = { id: 'first', dataset_id: dataset.id, dataset_version: 1, total: 3, done: 0, finished_at: null };
    expect(made.body).toMatchObject({ ...run, name: 'Of a dataset', result_count: 0 });
    expect((await create(slug, { run_id: 'first', total: 99 })).body).toEqual(made.body);
    expect((await create(slug, { dataset: dataset.id })).body).toMatchObject({ dataset_version: 2, total: 4 });
    await log(slug, 'first', { dataset: [result(2), result(0)] });
    expect(await read(slug, 'first')).toMatchObject({
      done: 2,
      total: 3,
      data: [
        { index: 0, entry_id: `${dataset.id}-0` },
        { index: 2, entry_id: `${dataset.id}-2` },
      ],
    });
    const request = { slugOrId: slug, runId: 'first' };
    const finishing = surfaceCase(
      ['POST', `/api/experiments/${slug}/runs/first/finish`],
      { method: METHODS.finishExperimentRun, request },
      { status: 200, check: (ended) => expect(ended.finished_at).toEqual(expect.any(String)) },
    );
    await ask(finishing);
    const refused = [
      [{ dataset: 'unknown' }, 404, 'dataset_not_found'],
      [{ dataset: dataset.id, dataset_version: 3 }, 404, 'dataset_version_not_found'],
      [{ total: -1 }, 422, 'validation_error'],
    ] as const;
    for (const [sent, status, code] of refused) {
      expect(await create(slug, sent)).toMatchObject({ status, body: { code } });
    }
    const { token } = await mint(app, restrictedTo(app, 'experiments:update'));
    const headers = { authorization: `Bearer ${token}`, 'x-project-id': app.projectId };
    const hidden = surfaceCase(
      ['POST', `/api/experiments/${slug}/runs`, { dataset: dataset.id }],
      { method: METHODS.createExperimentRun, request: { slugOrId: slug, dataset: dataset.id } },
      { status: 403, code: 'api_key_permission_denied', headers },
    );
    await ask(hidden);
  });

  it('keeps its results when their dataset and their traces are deleted', async () => {
    const slug = await init('Survivors');
    const dataset = (await rest('POST', '/api/dataset', { name: 'Doomed', entries: [{ q: 0 }] })).body;
    const timestamps = { started_at: Date.now(), finished_at: Date.now() };
    const spans = [{ span_id: 'a', type: 'llm', timestamps }];
    await rest('POST', '/api/collector', { trace_id: 'doomed', spans });
    for (const run_id of ['before', 'after']) {
      await create(slug, { run_id, dataset: dataset.id });
      await log(slug, run_id, { dataset: [result(0, { trace_id: 'doomed', cost: 0.1 })], evaluations: [score(0)] });
    }
    const path = `/api/experiments/${slug}/compare?base=before&other=after`;
    const known = [await read(slug, 'after'), (await rest('GET', path)).body];
    expect((await rest('DELETE', `/api/dataset/${dataset.id}`)).status).toBe(200);
    expect((await rest('DELETE', '/api/traces/doomed')).status).toBe(200);
    expect([await read(slug, 'after'), (await rest('GET', path)).body]).toEqual(known);
    expect(known[1].data).toMatchObject([{ base: { trace_id: 'doomed' }, other: { entry_id: `${dataset.id}-0` } }]);
    const late = await log(slug, 'after', { dataset: [result(1)] });
    expect(late.refused ?? []).toEqual([]);
  });

  it('keeps results whole with their evaluations, whichever arrive first', async () => {
    const slug = await init('Whole');
    const evaluation = {
      ...{ name: 'Same', evaluator: 'langevals/exact_match', status: 'error', score: null, passed: false, label: 'l' },
      ...{ details: 'why', cost: 0.5, duration: 12, trace_id: 't', inputs: { b: 1, a: [1.5] } },
    };
    await log(slug, 'r', { evaluations: [{ ...evaluation, index: 7, target_id: null }] });
    const entry = { entry: { z: 1, a: 'Ü' }, predicted: { output: 'x' }, cost: 0.25, duration: 3.5, error: 'broke' };
    await log(slug, 'r', { dataset: [{ index: 7, trace_id: 'trace', ...entry }] });
    const { data, summary } = await read(slug, 'r');
    expect(data).toEqual([
      { index: 7, entry_id: null, target_id: null, trace_id: 'trace', ...entry, evaluations: [evaluation] },
    ]);
    expect(summary).toEqual({
      ...{ results: 1, errors: 1, cost: 0.25, evaluation_cost: 0.5, mean_duration: 3.5 },
      evaluators: [{ name: 'Same', processed: 0, skipped: 0, failed: 1, mean_score: null, pass_rate: null }],
    });
  });

  it('stays as it is when the same is sent again, and grows when there is more', async () => {
    const slug = await init('Again');
    const batch = {
      dataset: [result(0), result(0, { target_id: 'b' }), result(1)],
      evaluations: [score(0), score(1, { score: 1, passed: true })],
      targets: [{ id: 'b', name: 'B', type: 'custom', metadata: { model: 'gpt-5' } }],
      ...{ progress: 1, total: 2, timestamps: { created_at: 1_000, finished_at: null } },
    };
    const first = await log(slug, 'r', batch);
    expect(first).toMatchObject({ message: 'ok', refused: [], run: { result_count: 3, done: 1, total: 2 } });
    const stored = await read(slug, 'r');
    expect(stored.created_at).toBe('1970-01-01T00:00:01.000Z');
    expect(stored.targets).toEqual(batch.targets);
    expect(await log(slug, 'r', batch)).toEqual(first);
    expect(await read(slug, 'r')).toEqual(stored);
    const more = {
      evaluations: [score(0, { name: 'Other' }), score(1, { score: 0 })],
      progress: 2,
      dataset: [result(5)],
    };
    expect((await log(slug, 'r', { ...more, timestamps: { finished_at: 9_000 } })).run).toMatchObject({
      ...{ result_count: 4, done: 2, total: 2, finished_at: '1970-01-01T00:00:09.000Z' },
    });
    const { data, summary } = await read(slug, 'r');
    expect(data.map(({ index, evaluations }: Body) => [index, evaluations.length])).toEqual([
      [0, 2],
      [0, 0],
      [1, 1],
      [5, 0],
    ]);
    expect(summary.evaluators).toMatchObject([
      { name: 'Other', processed: 1, mean_score: 0.5, pass_rate: null },
      { name: 'Same', processed: 2, mean_score: 0.25, pass_rate: null },
    ]);
  });

  it('leaves out an item that cannot be kept, and says so, and keeps its neighbours', async () => {
    const slug = await init('Bad items');
    const long = 'x'.repeat(300 * 1024);
    const sent = {
      dataset: [result(0), { entry: 1 }, result(-1), result(1, { predicted: long }), result(2)],
      evaluations: [score(0), { index: 0 }, score(0, { status: 'scheduled' })],
    };
    const { refused } = await log(slug, 'r', sent);
    expect(refused.map(({ field }: Body) => field).toSorted()).toEqual([
      ...['dataset.1', 'dataset.2', 'dataset.3', 'evaluations.1', 'evaluations.2'],
    ]);
    expect((await read(slug, 'r')).data.map(({ index }: Body) => index)).toEqual([0, 2]);
  });

  it('is read page by page', async () => {
    const slug = await init('Pages');
    await log(slug, 'r', { dataset: Array.from({ length: 5 }, (_, index) => result(index)) });
    const seen: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Body = await read(slug, 'r', `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.summary.results).toBe(5);
      seen.push(...page.data.map(({ index }: Body) => index));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    const forged = surfaceCase(
      ['GET', `/api/experiments/${slug}/runs/r?cursor=x`],
      { method: METHODS.getExperimentRun, request: { slugOrId: slug, runId: 'r', pageToken: 'x' } },
      { status: 422, code: 'invalid_cursor' },
    );
    await ask(forged);
  });

  it('is listed in its experiment, newest first, until it is deleted', async () => {
    const slug = await init('Lists');
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      await log(slug, id, { timestamps: { created_at: 1_000 + index } });
    }
    const list = async (query: string) => (await rest('GET', `/api/experiments/${slug}/runs${query}`)).body;
    const first = await list('?limit=2');
    const idsOf = ({ data }: Body) => data.map(({ id }: Body) => id);
    expect(idsOf(first)).toEqual(['c', 'b']);
    expect(idsOf(await list(`?limit=2&cursor=${first.next_cursor}`))).toEqual(['a']);
    expect((await rest('DELETE', `/api/experiments/${slug}/runs/b`)).body).toEqual({ success: true });
    expect(idsOf(await list(''))).toEqual(['c', 'a']);
  });

  it('is hidden where there is none, from other projects, and without a credential', async () => {
    const slug = await init('Mine');
    await log(slug, 'r', { dataset: [result(0)] });
    const questions = (experiment: string, runId: string): readonly (readonly [string, string, object?])[] => [
      ['GET', `/api/experiments/${experiment}/runs/${runId}`],
      ['POST', `/api/experiments/${experiment}/runs/${runId}/finish`],
      ['DELETE', `/api/experiments/${experiment}/runs/${runId}`],
    ];
    const rpcs = [METHODS.getExperimentRun, METHODS.finishExperimentRun, METHODS.deleteExperimentRun];
    const refusals: readonly (readonly [string, string, Expected])[] = [
      [slug, 'unknown', { status: 404, code: 'experiment_run_not_found' }],
      ['unknown', 'r', { status: 404, code: 'experiment_not_found' }],
      [slug, 'r', { status: 404, code: 'experiment_not_found', headers: { 'x-auth-token': foreignKey } }],
      [slug, 'r', { status: 401, code: 'missing_credentials', headers: {} }],
      [slug, 'r', { status: 401, code: 'invalid_credentials', headers: { 'x-auth-token': 'sk-lw-wrong' } }],
    ];
    for (const [experiment, runId, expected] of refusals) {
      for (const [index, question] of questions(experiment, runId).entries()) {
        const method = rpcs[index] ?? METHODS.getExperimentRun;
        await ask(surfaceCase(question, { method, request: { slugOrId: experiment, runId } }, expected));
      }
    }
    const logging = { experimentSlug: 'unknown', runId: 'r' };
    const expected: Expected = { status: 404, code: 'experiment_not_found' };
    const path = '/api/evaluations/batch/log_results';
    const sent = { experiment_slug: 'unknown', run_id: 'r' };
    await ask(surfaceCase(['POST', path, sent], { method: METHODS.logExperimentResults, request: logging }, expected));
    expect((await read(slug, 'r')).data).toHaveLength(1);
  });
});
