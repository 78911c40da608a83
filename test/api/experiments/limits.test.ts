/** Refused parts of reports, over gRPC and REST. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { createClient, METHODS } from './experiments-client.ts';

let app: TestApp;
let slug: string;
beforeAll(async () => {
  app = await startApp();
  slug = await init('Limits');
});
afterAll(() => app.close());

const { init, key, log, read, rest } = createClient(() => app);
const logRpc = (runId: string, request: object) =>
  callRpc(app.address, {
    method: METHODS.logExperimentResults,
    request: { experimentSlug: slug, runId, ...request },
    headers: key(),
  });
/** Sends a report; returns the fields refused. */
async function refusedOf(runId: string, request: object): Promise<readonly string[]> {
  const answer = await logRpc(runId, request);
  if (!answer.ok) throw new Error(`${answer.code}: ${answer.error.details}`);
  return answer.body.refused.map(({ field }: Body) => field);
}

describe('the size of responses over gRPC', () => {
  it('is refused where it is not JSON, and costs its neighbours nothing', async () => {
    const dataset = [
      { index: 0, entryJson: '{"datasetId"' },
      { index: 1, predictedJson: '}' },
      { index: 2, entryJson: '['.repeat(200_000) },
      { index: 3, entryJson: '{"n":1.50}', evaluations: [{ name: 'e', inputsJson: '{"a":1' }] },
      { index: 4, entryJson: ' {"n":1.50}' },
    ];
    const targets = [
      { id: 'a', metadataJson: '}' },
      { id: 'b', metadataJson: '{},"id":"c"' },
      { id: 'd', metadataJson: '[1]' },
      { id: 'e', metadataJson: '{"model":"m"}' },
    ];
    const evaluations = [{ index: 4, name: 'x', inputsJson: 'no' }];
    expect(await refusedOf('json', { dataset, evaluations, targets })).toEqual([
      ...['dataset.0', 'dataset.1', 'dataset.2', 'dataset.3', 'evaluations.0', 'targets.0', 'targets.1', 'targets.2'],
    ]);
    const run = await read(slug, 'json');
    expect(run.data).toMatchObject([{ index: 4, entry: { n: 1.5 } }]);
    expect(run.targets).toEqual([{ id: 'e', metadata: { model: 'm' } }]);
  });

  it('is refused where a number is not finite or a text holds U+0000', async () => {
    const dataset = [
      { index: 0, cost: Number.NaN },
      { index: 1, duration: Number.POSITIVE_INFINITY },
      { index: 2, evaluations: [{ name: 'e', score: Number.NaN }] },
      { index: 3, evaluations: [{ name: 'e', label: 'a\0' }] },
      { index: 4 },
    ];
    const evaluations = [{ index: 4, name: 'a\0' }];
    expect(await refusedOf('odd', { dataset, evaluations, targets: [{ id: 'a\0' }] })).toEqual([
      ...['dataset.0', 'dataset.1', 'dataset.2', 'dataset.3', 'evaluations.0', 'targets.0'],
    ]);
    expect((await read(slug, 'odd')).data).toHaveLength(1);
    const headers = key();
    const calls = [
      callRpc(app.address, { method: METHODS.initExperiment, request: { experimentName: 'a\0' }, headers }),
      callRpc(app.address, {
        method: METHODS.createExperimentRun,
        request: { slugOrId: slug, name: 'a\0' },
        headers,
      }),
      logRpc('a\0', {}),
    ];
    for (const call of calls) expect(await call).toMatchObject({ ok: false, code: 'validation_error' });
  });
});

describe('the evaluations of a run', () => {
  it('have a limited number of names, so that what they come to stays small', async () => {
    const dataset = Array.from({ length: 3 }, (_, index) => ({
      index,
      evaluations: Array.from({ length: 80 }, (__, each) => ({ name: `e${index}-${each}`, score: 1 })),
    }));
    expect(await refusedOf('names', { dataset })).toEqual(['dataset.2']);
    expect(await refusedOf('names', { evaluations: [{ index: 2, name: 'e0-0' }] })).toEqual([]);
    expect((await read(slug, 'names')).summary.evaluators).toHaveLength(160);
  });
});

describe('the targets of a run', () => {
  it('keep every digit of their metadata over REST and gRPC, also when others are added', async () => {
    const metadataJson = '{"seed":12345678901234567890,"large":1e400,"__proto__":{"id":9007199254740993}}';
    const rest = '{"seed":12345678901234567890,"__proto__":{"id":9007199254740993}}';
    expect(await refusedOf('digits', { targets: [{ id: 'rpc', metadataJson }] })).toEqual([]);
    const body = `{"experiment_slug":"${slug}","run_id":"digits","targets":[{"id":"rest","metadata":${rest}}]}`;
    const logged = await callRest(app.address, {
      ...{ verb: 'POST', path: '/api/evaluations/batch/log_results', body, headers: key() },
    });
    expect(logged.body.refused).toEqual([]);
    const shown = await callRest(app.address, {
      ...{ verb: 'GET', path: `/api/experiments/${slug}/runs/digits`, headers: key() },
    });
    expect(shown.text).toContain(
      `"targets":[{"id":"rpc","metadata":${metadataJson}},{"id":"rest","metadata":${rest}}]`,
    );
  });

  it('have limits of their own, and are left out of lists', async () => {
    const long = 'x'.repeat(256);
    const targets = [
      { id: 'a', name: long },
      { id: 'b', type: long },
      { id: 'c', metadata: { text: 'x'.repeat(4096) } },
      { id: 'd', name: 'D' },
    ];
    const { refused } = await log(slug, 'targets', { targets });
    expect(refused.map(({ field }: Body) => field)).toEqual(['targets.0', 'targets.1', 'targets.2']);
    const wide = Array.from({ length: 20 }, (_, index) => ({ id: `w${index}`, metadata: { text: 'x'.repeat(4000) } }));
    expect((await log(slug, 'targets', { targets: wide })).refused).toHaveLength(4);
    expect((await read(slug, 'targets')).targets).toHaveLength(17);
    const { data } = (await rest('GET', `/api/experiments/${slug}/runs`)).body;
    expect(data.find(({ id }: Body) => id === 'targets').targets).toEqual([]);
  });
});
