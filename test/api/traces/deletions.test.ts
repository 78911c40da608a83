import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceDeletionService } from '../../../gen/spandrel/v1/trace_deletions_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { mint, restrictedTo } from '../keys/keys-client.ts';

const { previewTraceDeletion, createTraceDeletion, getTraceDeletion, listTraceDeletions, cancelTraceDeletion } =
  TraceDeletionService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const get = (path: string) => callRest(app.address, { path, headers: key() });
const post = (path: string, body: object) => callRest(app.address, { verb: 'POST', path, body, headers: key() });

async function send(user: string, more: object = {}): Promise<string> {
  const traceId = hex(32);
  const answer = await post('/api/collector', {
    ...llmTrace(Date.now(), traceId),
    metadata: { user_id: user },
    ...more,
  });
  expect(answer.status, answer.text).toBe(200);
  return traceId;
}

async function ended(id: string): Promise<Body> {
  let deletion: Body = {};
  await until(async () => {
    deletion = (await get(`/api/trace-deletions/${id}`)).body;
    return deletion.status !== 'running';
  });
  return deletion;
}

const ofUser = (user: string) => ({ filters: { 'metadata.user_id': [user] } });
const asked = (user: string) => ({ filters: [{ name: 'metadata.user_id', values: [user] }] });

describe('the deletion of the traces of a user, over REST and gRPC', () => {
  it('counts them first, deletes them whenever they began, and leaves those of others', async () => {
    const long = Date.UTC(2024, 1, 3);
    const mine = await Promise.all(Array.from({ length: 25 }, () => send('erased')));
    const old = hex(32);
    await post('/api/collector', { ...llmTrace(long, old), metadata: { user_id: 'erased' } });
    const other = await send('kept');
    await expectEverywhere(app.address, {
      name: 'preview',
      headers: key(),
      rest: { verb: 'POST', path: '/api/trace-deletions/preview', body: ofUser('erased') },
      rpc: { method: previewTraceDeletion, request: asked('erased') },
      status: 200,
      check: (size) => expect([Number(size.tracesFound), size.isFoundExactly]).toEqual([26, true]),
    });
    const { status, body } = await post('/api/trace-deletions', ofUser('erased'));
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'running', deleted: 0, tracesFound: null, error: null });
    expect(body.id).toMatch(/^tracedeletion_[0-9A-Za-z]{21}$/);
    expect(await ended(body.id)).toMatchObject({ status: 'completed', deleted: 26, tracesFound: 26 });
    for (const traceId of [...mine.slice(0, 3), old]) expect((await get(`/api/traces/${traceId}`)).status).toBe(404);
    expect((await get(`/api/traces/${other}`)).status).toBe(200);
    const found = await post('/api/traces/search', ofUser('erased'));
    expect(found.body.traces).toEqual([]);
    const audit = await callRest(app.address, {
      path: `/api/audit-log?targetId=${body.id}`,
      headers: { 'x-auth-token': app.adminKey },
    });
    expect(audit.body.data).toMatchObject([
      { action: 'traceDeletion.create', outcome: 'success', status: 201, fields: ['filters'] },
    ]);
  });

  it('answers the same over every surface, and ends at once where there is nothing', async () => {
    let id = '';
    await expectEverywhere(app.address, {
      name: 'create',
      headers: key(),
      rest: { verb: 'POST', path: '/api/trace-deletions', body: ofUser('nobody') },
      rpc: { method: createTraceDeletion, request: asked('nobody') },
      status: 201,
      check: (deletion) => {
        id = deletion.id;
        expect(deletion.status).toBe('running');
      },
    });
    expect(await ended(id)).toMatchObject({ status: 'completed', deleted: 0, tracesFound: 0 });
    await expectEverywhere(app.address, {
      name: 'get',
      headers: key(),
      rest: { path: `/api/trace-deletions/${id}` },
      rpc: { method: getTraceDeletion, request: { traceDeletionId: id } },
      status: 200,
      check: (deletion) => expect([deletion.id, deletion.status]).toEqual([id, 'completed']),
    });
    await expectEverywhere(app.address, {
      name: 'cancel one that has ended',
      headers: key(),
      rest: { verb: 'POST', path: `/api/trace-deletions/${id}/cancel`, body: {} },
      rpc: { method: cancelTraceDeletion, request: { traceDeletionId: id } },
      status: 200,
      check: (deletion) => expect(deletion.status).toBe('completed'),
    });
    await expectEverywhere(app.address, {
      name: 'list',
      headers: key(),
      rest: { path: '/api/trace-deletions?limit=1' },
      rpc: { method: listTraceDeletions, request: { pageSize: 1 } },
      status: 200,
      check: ({ deletions }) => expect(deletions.map((each: Body) => each.id)).toEqual([id]),
    });
  });

  it('takes the traces of a range alone', async () => {
    const day = Date.UTC(2025, 4, 6);
    const within = hex(32);
    const after = hex(32);
    await post('/api/collector', llmTrace(day + 1_000, within));
    await post('/api/collector', llmTrace(day + 90_000_000, after));
    const { body } = await post('/api/trace-deletions', { startDate: '2025-05-06', endDate: '2025-05-06' });
    expect(await ended(body.id)).toMatchObject({ status: 'completed', deleted: 1 });
    expect((await get(`/api/traces/${within}`)).status).toBe(404);
    expect((await get(`/api/traces/${after}`)).status).toBe(200);
  });

  it.each([
    ['nothing that says which traces', {}],
    ['a negation alone', { negateFilters: true }],
    ['a filter without values', { filters: { 'metadata.user_id': [] } }],
    ['a filter without values beside another', { filters: { 'metadata.user_id': ['x'], 'metadata.labels': [] } }],
    ['a text of blanks', { query: ' ' }],
    ['dates in the wrong order', { startDate: 2, endDate: 1 }],
    ['an unknown filter', { filters: { 'metadata.userid': ['x'] } }],
    ['an unknown member', { ...ofUser('x'), filter: {} }],
  ])('refuses %s', async (_name, body) => {
    for (const path of ['/api/trace-deletions', '/api/trace-deletions/preview']) {
      const answer = await post(path, body);
      expect([answer.status, answer.body.error], answer.text).toEqual([422, 'validation_error']);
    }
  });

  it('refuses a filter without values over every surface', async () => {
    for (const [path, method] of [
      ['/api/trace-deletions', createTraceDeletion],
      ['/api/trace-deletions/preview', previewTraceDeletion],
    ] as const) {
      await expectEverywhere(app.address, {
        name: path,
        headers: key(),
        rest: { verb: 'POST', path, body: { filters: { 'metadata.user_id': [] } } },
        rpc: { method, request: { filters: [{ name: 'metadata.user_id', values: [] }] } },
        status: 422,
        code: 'validation_error',
      });
    }
  });

  it('is hidden from other projects, and needs project:manage', async () => {
    const { body } = await post('/api/trace-deletions', ofUser('nobody'));
    await expectEverywhere(app.address, {
      name: 'unknown',
      headers: key(),
      rest: { path: `/api/trace-deletions/${body.id}x` },
      rpc: { method: getTraceDeletion, request: { traceDeletionId: `${body.id}x` } },
      status: 404,
      code: 'trace_deletion_not_found',
    });
    const project = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      body: { name: 'Other' },
      headers: { 'x-auth-token': app.adminKey },
    });
    const foreign = { 'x-auth-token': project.body.apiKey };
    const hidden = await callRest(app.address, { path: `/api/trace-deletions/${body.id}`, headers: foreign });
    expect(hidden.status).toBe(404);
    const { token } = await mint(app, restrictedTo(app, 'traces:view', 'traces:update'));
    await expectEverywhere(app.address, {
      name: 'without the permission',
      headers: { authorization: `Bearer ${token}`, 'x-project-id': app.projectId },
      rest: { verb: 'POST', path: '/api/trace-deletions', body: ofUser('x') },
      rpc: { method: createTraceDeletion, request: asked('x') },
      status: 403,
      code: 'api_key_permission_denied',
    });
  });
});
