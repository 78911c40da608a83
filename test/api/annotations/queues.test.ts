import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnnotationQueueService } from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { mint, restrictedTo } from '../keys/keys-client.ts';

const { createAnnotationQueue, listAnnotationQueues, getAnnotationQueue, addAnnotationQueueItems } =
  AnnotationQueueService.method;
const { claimAnnotationQueueItem, completeAnnotationQueueItem } = AnnotationQueueService.method;
const MINUTE_MS = 60_000;

let app: TestApp;
let nowMs = Date.now();
let other = '';
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
  other = (await mint(app, restrictedTo(app, 'annotations:manage'))).token;
});
afterAll(async () => {
  await app.close();
});

type Headers = { readonly [name: string]: string };

const key = (): Headers => ({ 'x-auth-token': app.projectKey });
const reviewer = (): Headers => ({ authorization: `Bearer ${other}`, 'x-project-id': app.projectId });
const call = (verb: string, path: string, body?: object, headers = key()) =>
  callRest(app.address, { verb, path, ...(body && { body }), headers });

async function ok(verb: string, path: string, body?: object, headers = key()): Promise<Body> {
  const answer = await call(verb, path, body, headers);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function refused(path: string, headers = key(), body: object = {}): Promise<[number, string]> {
  const answer = await call('POST', path, body, headers);
  return [answer.status, answer.body.error];
}

async function send(): Promise<string> {
  const traceId = hex(32);
  await call('POST', '/api/collector', llmTrace(nowMs, traceId));
  return traceId;
}

/** A queue with some traces. */
async function opened(count: number): Promise<{ readonly path: string; readonly traceIds: readonly string[] }> {
  const { id } = await ok('POST', '/api/annotation-queues', { name: hex(8) });
  const traceIds = await Promise.all(Array.from({ length: count }, send));
  const path = `/api/annotation-queues/${id}`;
  expect(await ok('POST', `${path}/items`, { traceIds })).toEqual({ added: count, known: 0, unknown: 0 });
  return { path, traceIds };
}

const counts = async (path: string) => {
  const { pending, claimed, done } = await ok('GET', path);
  return [pending, claimed, done];
};

describe('a queue', () => {
  it('is made, listed, changed and deleted alike over every surface', async () => {
    const name = hex(8);
    await expectEverywhere(app.address, {
      ...{ name: 'create', headers: key(), status: 200 },
      rest: { verb: 'POST', path: '/api/annotation-queues', body: { name, description: 'Look at the tone.' } },
      rpc: { method: createAnnotationQueue, request: { name: `${name} too`, description: 'Look at the tone.' } },
      check: (queue) => expect(queue).toMatchObject({ description: 'Look at the tone.', scoreIds: [], pending: 0 }),
    });
    const listed = await ok('GET', '/api/annotation-queues');
    const { id } = listed.find((queue: Body) => queue.name === name);
    await expectEverywhere(app.address, {
      ...{ name: 'get', headers: key(), status: 200 },
      rest: { path: `/api/annotation-queues/${id}` },
      rpc: { method: getAnnotationQueue, request: { id } },
      check: (queue) => expect(queue.name).toBe(name),
    });
    await expectEverywhere(app.address, {
      ...{ name: 'list', headers: key(), status: 200 },
      rest: { path: '/api/annotation-queues' },
      rpc: { method: listAnnotationQueues, request: {} },
      check: (queues) => expect(queues.map((queue: Body) => queue.id)).toContain(id),
    });
    const path = `/api/annotation-queues/${id}`;
    const score = await ok('POST', '/api/annotation-scores', { name: hex(8), dataType: 'BOOLEAN' });
    const changed = await ok('PATCH', path, { name: `${name}!`, description: null, scoreIds: [score.id] });
    expect(changed).toMatchObject({ name: `${name}!`, description: '', scoreIds: [score.id] });
    expect((await call('PATCH', path, { scoreIds: ['other'] })).status).toBe(422);
    expect(await call('PATCH', path, { name: null })).toMatchObject({
      status: 422,
      body: { error: 'validation_error' },
    });
    expect((await call('PATCH', path, { name: `${name} too` })).body.error).toBe('annotation_queue_name_taken');
    await ok('DELETE', `/api/annotation-scores/${score.id}`);
    const renamed = await ok('PATCH', path, { name: `${name}?`, scoreIds: [score.id] });
    expect(renamed).toMatchObject({ name: `${name}?`, scoreIds: [score.id] });
    expect((await call('PATCH', path, { scoreIds: [score.id, 'other'] })).status).toBe(422);
    expect(await ok('DELETE', path)).toEqual({ success: true });
    expect((await call('GET', path)).body.error).toBe('annotation_queue_not_found');
    const audit = await callRest(app.address, {
      path: `/api/audit-log?targetId=${id}`,
      headers: { 'x-auth-token': app.adminKey },
    });
    const actions = audit.body.data.map(({ action }: Body) => action);
    const changes = ['annotationQueue.update', 'annotationQueue.update'];
    expect(actions.toSorted()).toEqual(['annotationQueue.create', 'annotationQueue.delete', ...changes]);
  });

  it('takes each trace once, and counts what it has', async () => {
    const { path, traceIds } = await opened(2);
    const [first = ''] = traceIds;
    const third = await send();
    const more = { traceIds: [first.toUpperCase(), hex(32), third, third.toUpperCase()] };
    expect(await ok('POST', `${path}/items`, more)).toEqual({ added: 1, known: 1, unknown: 1 });
    expect(await counts(path)).toEqual([3, 0, 0]);
    await expectEverywhere(app.address, {
      ...{ name: 'add to an unknown one', headers: key(), status: 404, code: 'annotation_queue_not_found' },
      rest: { verb: 'POST', path: '/api/annotation-queues/none/items', body: { traceIds } },
      rpc: { method: addAnnotationQueueItems, request: { id: 'none', traceIds: [...traceIds] } },
    });
    expect(await refused(`${path}/items`, key(), { traceIds: [] })).toEqual([422, 'validation_error']);
    const tooMany = { traceIds: Array.from({ length: 1_001 }, () => 'x') };
    expect(await refused(`${path}/items`, key(), tooMany)).toEqual([422, 'validation_error']);
  });

  it('gives each of many reviewers at once another item', async () => {
    const { path, traceIds } = await opened(8);
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) => ok('POST', `${path}/claim`, {}, index % 2 === 0 ? key() : reviewer())),
    );
    expect(claims.map(({ traceId }) => traceId).toSorted()).toEqual([...traceIds].toSorted());
    expect(await refused(`${path}/claim`)).toEqual([404, 'annotation_queue_empty']);
    expect(await counts(path)).toEqual([0, 8, 0]);
  });

  it('holds an item for ten minutes, and longer for who works on it', async () => {
    const { path } = await opened(1);
    const item = await ok('POST', `${path}/claim`);
    expect(item).toMatchObject({ status: 'claimed', doneAt: null });
    expect(Date.parse(item.claimedUntil) - nowMs).toBe(10 * MINUTE_MS);
    nowMs += 9 * MINUTE_MS;
    await ok('POST', `/api/annotations/trace/${item.traceId}`, { comment: 'at work' });
    nowMs += 9 * MINUTE_MS;
    expect(await refused(`${path}/claim`, reviewer())).toEqual([404, 'annotation_queue_empty']);
    expect((await ok('POST', `${path}/claim`, { resume: true })).id).toBe(item.id);
    nowMs += 10 * MINUTE_MS;
    expect(await counts(path)).toEqual([1, 0, 0]);
    expect((await ok('POST', `${path}/claim`, {}, reviewer())).id).toBe(item.id);
    const end = `${path}/items/${item.id}`;
    expect(await refused(`${end}/complete`)).toEqual([409, 'annotation_queue_item_not_claimed']);
    expect(await ok('POST', `${end}/release`, {}, reviewer())).toMatchObject({ status: 'pending', claimedUntil: null });
  });

  it('never gives an item again that is completed', async () => {
    const { path } = await opened(1);
    await expectEverywhere(app.address, {
      ...{ name: 'claim', headers: key(), status: 200 },
      rest: { verb: 'POST', path: `${path}/claim`, body: { resume: true } },
      rpc: { method: claimAnnotationQueueItem, request: { id: path.split('/').at(-1) ?? '', resume: true } },
      check: (item) => expect(item.status).toBe('claimed'),
    });
    const { id, queueId } = await ok('POST', `${path}/claim`, { resume: true });
    await expectEverywhere(app.address, {
      ...{ name: 'complete', headers: key(), status: 200 },
      rest: { verb: 'POST', path: `${path}/items/${id}/complete`, body: {} },
      rpc: { method: completeAnnotationQueueItem, request: { id: queueId, itemId: id } },
      check: (item) => expect([item.status, item.doneAt !== null]).toEqual(['done', true]),
    });
    nowMs += 60 * MINUTE_MS;
    expect(await refused(`${path}/claim`)).toEqual([404, 'annotation_queue_empty']);
    expect(await counts(path)).toEqual([0, 0, 1]);
    expect(await refused(`${path}/items/none/complete`)).toEqual([404, 'annotation_queue_item_not_found']);
  });

  it('loses a trace that is deleted', async () => {
    const { path, traceIds } = await opened(2);
    await ok('DELETE', `/api/traces/${traceIds[0]}`);
    expect(await counts(path)).toEqual([1, 0, 0]);
    expect((await ok('POST', `${path}/claim`)).traceId).toBe(traceIds[1]);
  });
});
