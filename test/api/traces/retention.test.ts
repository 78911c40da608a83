import { afterAll, beforeAll, expect, it } from 'vitest';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { createRetention } from '../../../src/domain/retention.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';

const DAY_MS = 86_400_000;
const { getTrace } = TraceService.method;

let app: TestApp;
// Long ago: traces within their term by the database's clock stay, whatever the server's clock says.
let nowMs = Date.now() - 100 * DAY_MS;
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs, environment: { SPANDREL_TRACE_RETENTION_DAYS: '10' } });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

async function send(body: object): Promise<void> {
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
}

async function choose(traceRetentionDays: number | null): Promise<void> {
  const path = '/api/project/settings';
  const answer = await callRest(app.address, { verb: 'PATCH', path, headers: key(), body: { traceRetentionDays } });
  expect(answer.status, answer.text).toBe(200);
}

async function expectTrace(traceId: string, check: (body: Body) => void): Promise<void> {
  const rest = { path: `/api/traces/${traceId}` };
  const rpc = { method: getTrace, request: { traceId } };
  await expectEverywhere(app.address, { name: traceId, headers: key(), rest, rpc, status: 200, check });
}

/** Expects 404 in both formats on both surfaces. */
async function expectUnknown(traceId: string): Promise<void> {
  const refused = { name: traceId, headers: key(), status: 404, code: 'trace_not_found' };
  for (const [query, request] of [
    ['', { traceId }],
    ['?llmMode=true', { traceId, llmMode: 'true' }],
  ] as const) {
    const rest = { path: `/api/traces/${traceId}${query}` };
    await expectEverywhere(app.address, { ...refused, rest, rpc: { method: getTrace, request } });
  }
}

async function runRetention(): Promise<number> {
  const retention = createRetention({
    store: app.store,
    clock: { check: async () => {}, nowMs: () => nowMs },
    traceDefaultDays: 10,
    auditDays: null,
    pause: async () => undefined,
  });
  return (await retention.run(new AbortController().signal)).removed.traces;
}

it('a trace past its term is unknown at once, by every name, and is there again for a longer term', async () => {
  const prefix = hex(10);
  const [old, young] = [`${prefix}${hex(22)}`, `${prefix}${hex(22)}`];
  const sentAtMs = nowMs;
  await send(llmTrace(nowMs, old));
  nowMs = sentAtMs + 10 * DAY_MS;
  await expectTrace(old, (body) => expect(body.trace_id).toBe(old));
  await expectTrace(prefix, (body) => expect(body.trace_id).toBe(old));
  await send(llmTrace(nowMs, young));
  nowMs = sentAtMs + 10 * DAY_MS + 1;
  await expectUnknown(old);
  await expectUnknown(old.slice(0, 31));
  // The prefix now matches one trace.
  await expectTrace(prefix, (body) => expect(body.trace_id).toBe(young));
  await choose(11);
  await expectTrace(old, (body) => expect(body.timestamps.inserted_at).toBe(sentAtMs));
  nowMs = sentAtMs + 12 * DAY_MS;
  await choose(null);
  await expectTrace(old, (body) => expect(body.span_count).toBe(1));
  await choose(1);
  await expectUnknown(old);
  await expectUnknown(young);
  expect(await runRetention()).toBe(2);
  await choose(null);
  await expectUnknown(old);
});

it('a span for a trace past its term begins the trace anew, and its event is emitted once', async () => {
  await choose(5);
  const traceId = hex(32);
  const first = llmTrace(nowMs, traceId);
  const sentAtMs = nowMs;
  await send(first);
  nowMs = sentAtMs + 5 * DAY_MS + 1;
  await expectUnknown(traceId);
  await send({ ...llmTrace(nowMs, traceId), metadata: { user_id: 'late' } });
  const check = (body: Body) => {
    expect(body).toMatchObject({ trace_id: traceId, span_count: 1, metadata: { user_id: 'late' } });
    expect(body.timestamps.inserted_at).toBe(nowMs);
    expect(body.spans).toHaveLength(1);
  };
  await expectTrace(traceId, check);
  await runRetention();
  await expectTrace(traceId, check);
  await send(first);
  const path = `/api/webhooks/v1/events?from=0&to=${Number.MAX_SAFE_INTEGER}&limit=200`;
  const { body } = await callRest(app.address, { path, headers: { authorization: `Bearer ${app.adminKey}` } });
  const spans = body.data.filter((event: Body) => event.data.trace_id === traceId);
  expect(spans).toHaveLength(2);
});

it('a server removes what is past its term soon after its start, says so, and stops in the middle of it', async () => {
  const waits: { readonly delayMs: number; readonly pass: () => void }[] = [];
  const startedAtMs = nowMs;
  const server = await startApp({
    clock: () => nowMs,
    wait: (delayMs, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        waits.push({ delayMs, pass: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
  });
  const { projectKey } = server;
  const headers = { 'x-auth-token': projectKey };
  const call = (verb: string, path: string, body: object) => callRest(server.address, { verb, path, headers, body });
  await call('PATCH', '/api/project/settings', { traceRetentionDays: 1 });
  await call('POST', '/api/collector', llmTrace(nowMs));
  nowMs = startedAtMs + 2 * DAY_MS;
  expect(waits.map((each) => each.delayMs)).toContain(10_000);
  const isFarAway = (each: { readonly delayMs: number }) => each.delayMs > 3_600_000;
  // Ends pauses until the job waits for its next run, whose delay is longer than any pause.
  await until(() => {
    for (const each of waits) if (each.delayMs <= 10_000) each.pass();
    return waits.some(isFarAway);
  });
  const line = server.logged.find((each) => each.startsWith('retention removed data'));
  expect(line).toContain('"traces":1');
  waits.find(isFarAway)?.pass();
  await server.close();
});

it('a clock that jumps ahead erases nothing: traces, links and idempotency keys are there again once it is right', async () => {
  let wrongByMs = 0;
  const startedAtMs = Date.now();
  const server = await startApp({
    clock: () => startedAtMs + wrongByMs,
    passedMs: () => 0,
    environment: { SPANDREL_TRACE_RETENTION_DAYS: '30' },
  });
  const headers = { 'x-auth-token': server.projectKey };
  const call = async (path: string, body: object, more: Record<string, string> = {}) => {
    const answer = await callRest(server.address, { verb: 'POST', path, headers: { ...headers, ...more }, body });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const traceId = hex(32);
  await call('/api/collector', llmTrace(startedAtMs, traceId));
  const { token } = await call('/api/trace-shares', { traceId });
  const asAdmin = { 'x-auth-token': server.adminKey, 'idempotency-key': 'made-once' };
  const made = await call('/api/api-keys', { name: 'k', keyType: 'service' }, asAdmin);

  wrongByMs = 460 * DAY_MS;
  await call('/api/collector', llmTrace(startedAtMs, traceId));
  const data = { output: 'a', expected_output: 'a' };
  await call('/api/evaluations/langevals/exact_match/evaluate', { data, trace_id: traceId });
  const later = hex(32);
  await call('/api/collector', llmTrace(startedAtMs, later));
  await call('/api/trace-shares', { traceId: later });
  expect(await call('/api/api-keys', { name: 'k', keyType: 'service' }, asAdmin)).toEqual(made);

  wrongByMs = 0;
  const { body } = await callRest(server.address, { path: `/api/traces/${traceId}`, headers });
  expect(body).toMatchObject({ span_count: 2, timestamps: { inserted_at: startedAtMs } });
  expect(body.evaluations).toHaveLength(1);
  expect((await callRest(server.address, { path: `/api/shared-traces/${token}` })).status).toBe(200);
  await server.close();
});
