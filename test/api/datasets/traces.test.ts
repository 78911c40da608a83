/** Dataset entries made of found traces. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { mint, restrictedTo } from '../keys/keys-client.ts';

const { addTracesToDataset } = DatasetService.method;
const STARTED_AT_MS = Date.now() - 60_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await collect({ trace_id: 'first', input: 'q1', output: 'a1', metadata: { user_id: 'u', n: 1.5 } }, 1);
  await collect({ trace_id: 'second', input: 'q2', output: 'a2', expected_output: 'right' }, 2);
  await collect({ trace_id: 'third', input: 'q3', output: 'a3', metadata: { labels: ['x'] } }, 3);
});
afterAll(() => app.close());

const key = () => ({ 'x-auth-token': app.projectKey });
const post = (path: string, body: unknown) =>
  callRest(app.address, { verb: 'POST', path, body, headers: key() }).then((answer) => answer.body);

async function collect({ input, output, ...trace }: Body, second: number): Promise<void> {
  const timestamps = { started_at: STARTED_AT_MS + second * 1000, finished_at: STARTED_AT_MS + second * 1000 + 5 };
  const text = (value: string) => ({ type: 'text', value });
  const span = { span_id: 's', type: 'span', input: text(input), output: text(output), timestamps };
  await post('/api/collector', { ...trace, spans: [span] });
}

async function fill(body: object, id?: string): Promise<Body> {
  const dataset = id ?? (await post('/api/dataset', { name: 'From traces' })).id;
  return post(`/api/dataset/${dataset}/traces`, body);
}

async function entriesOf(id: string): Promise<Body[]> {
  const { body } = await callRest(app.address, { path: `/api/dataset/${id}`, headers: key() });
  return body.data.map(({ entry }: Body) => entry);
}

describe('a dataset takes traces', () => {
  it('with what went in, what was expected or came out, and their metadata', async () => {
    const { dataset, ...counts } = await fill({});
    expect(counts).toEqual({ added: 3, leftOut: 0, isLeftOutExact: true });
    expect(dataset).toMatchObject({ version: 2, entryCount: 3 });
    const entries = await entriesOf(dataset.id);
    expect(entries).toEqual([
      { input: 'q3', expected_output: 'a3', metadata: expect.objectContaining({ labels: ['x'] }), trace_id: 'third' },
      { input: 'q2', expected_output: 'right', metadata: expect.any(Object), trace_id: 'second' },
      {
        input: 'q1',
        expected_output: 'a1',
        metadata: expect.objectContaining({ user_id: 'u', n: 1.5 }),
        trace_id: 'first',
      },
    ]);
  });

  it('no more than requested, and reports how many were left out', async () => {
    const { dataset, ...counts } = await fill({ limit: 1 });
    expect(counts).toEqual({ added: 1, leftOut: 2, isLeftOutExact: true });
    expect((await entriesOf(dataset.id)).map(({ trace_id: id }) => id)).toEqual(['third']);
  });

  it('no more than have room', async () => {
    const { id } = await post('/api/dataset', { name: 'Nearly full', jsonl: '{}\n'.repeat(9_999) });
    const { dataset, ...counts } = await fill({}, id);
    expect(counts).toEqual({ added: 1, leftOut: 2, isLeftOutExact: true });
    expect(dataset.entryCount).toBe(10_000);
    expect(await fill({}, id)).toMatchObject({ dataset: { version: dataset.version }, added: 0, leftOut: 3 });
  });

  it('as its entries, in a new version, only where there is one, over REST and gRPC', async () => {
    const { id } = await post('/api/dataset', { name: 'n' });
    const adding = (
      search: object,
      expected: Partial<SurfaceCase> & { status: number },
      slugOrId = id,
    ): SurfaceCase => ({
      name: `add ${JSON.stringify(search)}`,
      headers: key(),
      rest: { verb: 'POST', path: `/api/dataset/${slugOrId}/traces`, body: search },
      rpc: { method: addTracesToDataset, request: { slugOrId, ...search } },
      ...expected,
    });
    const ask = (each: SurfaceCase) => expectEverywhere(app.address, each);
    await ask(
      adding(
        { traceIds: ['none'] },
        { status: 200, check: (body) => expect(body).toMatchObject({ dataset: { version: 1 }, added: 0, leftOut: 0 }) },
      ),
    );
    await ask(adding({ traceIds: ['first'] }, { status: 200, check: ({ added }) => expect(added).toBe(1) }));
    await ask(adding({ limit: 1001 }, { status: 422, code: 'validation_error' }));
    await ask(adding({}, { status: 404, code: 'dataset_not_found' }, 'unknown'));
    await ask(adding({}, { status: 401, code: 'missing_credentials', headers: {} }));
    await ask(adding({}, { status: 401, code: 'invalid_credentials', headers: { 'x-auth-token': 'sk-lw-wrong' } }));
    for (const permission of ['datasets:update', 'traces:view']) {
      const { token } = await mint(app, restrictedTo(app, permission));
      const headers = { authorization: `Bearer ${token}`, 'x-project-id': app.projectId };
      await ask(adding({}, { status: 403, code: 'api_key_permission_denied', headers }));
    }
  });
});
