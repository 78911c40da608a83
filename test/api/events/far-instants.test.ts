import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { EventService } from '../../../gen/spandrel/v1/events_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { llmTrace } from '../../support/fixtures.ts';
import { callRest, callRpc } from '../../support/surfaces.ts';

const NOW = Date.now();
/** The first integer after the calendar of a Timestamp, and the largest that the interface takes. */
const AFTER = 253_402_300_800_000;
const LAST = Number.MAX_SAFE_INTEGER;

let app: TestApp;
let endpointId: string;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
  for (const index of [0, 1]) {
    const headers = { 'x-auth-token': app.projectKey };
    await callRest(app.address, { verb: 'POST', path: '/api/collector', body: llmTrace(NOW - index), headers });
  }
  const body = { url: 'https://billing.example.com/spandrel', enabled_events: ['gateway.budget.*'] };
  endpointId = (await manage('POST', '/api/webhooks/v1/endpoints', body)).body.data.id;
});
afterAll(async () => {
  await app.close();
});

const admin = () => ({ authorization: `Bearer ${app.adminKey}` });
const manage = (verb: string, path: string, body?: object) =>
  callRest(app.address, { verb, path, body, headers: admin() });
const list = (query: string) => manage('GET', `/api/webhooks/v1/events?${query}`);

describe('integers beyond the calendar', () => {
  it('are compared as integers', async () => {
    const { status, body } = await list(`from=${LAST}&to=${AFTER}`);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'validation_error', meta: { fields: ['(root)'] } });
    expect(body.error.meta.reasons[0].meta.type).toBe('custom');
    expect((await list(`from=${AFTER}&to=${AFTER}`)).status).toBe(200);
    const replay = await manage('POST', `/api/webhooks/v1/endpoints/${endpointId}/replay`, {
      from: LAST,
      to: LAST - 1,
    });
    expect(replay.status).toBe(400);
    expect(replay.body.error.code).toBe('validation_error');
  });

  it('bind a cursor', async () => {
    const first = await list(`from=0&to=${LAST}&limit=1`);
    const cursor = encodeURIComponent(first.body.next_cursor);
    expect((await list(`from=0&to=${LAST}&limit=1&cursor=${cursor}`)).status).toBe(200);
    const other = await list(`from=0&to=${LAST - 1}&limit=1&cursor=${cursor}`);
    expect([other.status, other.body.error?.code]).toEqual([400, 'invalid_cursor']);
  });

  it('are answered as they were sent, and over RPC as the end of the calendar', async () => {
    const path = `/api/webhooks/v1/endpoints/${endpointId}/replay`;
    const sent = { from: AFTER, to: LAST - 1 };
    const id = (await manage('POST', path, sent)).body.data.replay_id;
    expect((await manage('GET', `${path}s/${id}`)).body.data).toMatchObject(sent);

    const { getReplay } = EndpointService.method;
    const request = { id: endpointId, replayId: id };
    const inGrpc = await callRpc(app.address, { method: getReplay, request, headers: admin() });
    // The end of the calendar, in the form of REST.
    expect(inGrpc).toMatchObject({ ok: true, body: { data: { from: LAST, to: LAST } } });
    const inConnect = await fetch(`${app.address}/spandrel.v1.EndpointService/GetReplay`, {
      method: 'POST',
      headers: { ...admin(), 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    expect(await inConnect.json()).toMatchObject({ data: { createdTo: '9999-12-31T23:59:59.999999999Z' } });
  });

  it('are not instants over gRPC', async () => {
    const request = { createdFrom: { seconds: 0n }, createdTo: { seconds: BigInt(AFTER / 1000) } };
    const { listEvents } = EventService.method;
    const answer = await callRpc(app.address, { method: listEvents, request, headers: admin() });
    expect(answer).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['to'] } });
  });
});
