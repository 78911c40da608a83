import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceShareService } from '../../../gen/spandrel/v1/trace_shares_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';

const { createTraceShare, listTraceShares, revokeTraceShare, getSharedTrace } = TraceShareService.method;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let app: TestApp;
let nowMs = Date.now();
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const post = (path: string, body: object) => callRest(app.address, { verb: 'POST', path, body, headers: key() });
const open = (token: string, query = '') => callRest(app.address, { path: `/api/shared-traces/${token}${query}` });

async function send(traceId = hex(32)): Promise<string> {
  expect((await post('/api/collector', llmTrace(nowMs, traceId))).status).toBe(200);
  return traceId;
}

async function share(traceId: string, more: object = {}): Promise<Body> {
  const { status, body, text } = await post('/api/trace-shares', { traceId, ...more });
  expect(status, text).toBe(201);
  return body;
}

const revoke = (id: string) =>
  callRest(app.address, { verb: 'DELETE', path: `/api/trace-shares/${id}`, headers: key() });

describe('a link to a trace', () => {
  it('shows the trace to anyone, as the API shows it, and says when it was made in the audit log', async () => {
    const traceId = await send();
    const made = await share(traceId);
    expect(made).toMatchObject({ traceId, createdBy: null, url: `${app.address}/shared/${made.token}` });
    expect(made.id).toMatch(/^traceshare_[0-9A-Za-z]{21}$/);
    expect(Date.parse(made.expiresAt) - nowMs).toBe(30 * DAY_MS);
    const whole = await callRest(app.address, { path: `/api/traces/${traceId}`, headers: key() });
    const { platformUrl: _, ascii_tree: __, ...shown } = whole.body;
    await expectEverywhere(app.address, {
      name: 'open',
      headers: {},
      rest: { path: `/api/shared-traces/${made.token}` },
      rpc: { method: getSharedTrace, request: { token: made.token } },
      status: 200,
      check: (trace) => expect(trace).toMatchObject({ trace_id: shown.trace_id, spans: shown.spans }),
    });
    const audit = await callRest(app.address, {
      path: `/api/audit-log?targetId=${made.id}`,
      headers: { 'x-auth-token': app.adminKey },
    });
    expect(audit.body.data).toMatchObject([{ action: 'traceShare.create', actorKind: 'project_key' }]);
    expect(app.logged.join('\n')).not.toContain(made.token);
  });

  it('is made the same over every surface, and listed without its secret', async () => {
    const traceId = await send();
    await expectEverywhere(app.address, {
      name: 'create',
      headers: key(),
      rest: { verb: 'POST', path: '/api/trace-shares', body: { traceId } },
      rpc: { method: createTraceShare, request: { traceId } },
      status: 201,
      check: (made) => expect(made.token).toMatch(/^[0-9A-Za-z]{48}$/),
    });
    await expectEverywhere(app.address, {
      name: 'list',
      headers: key(),
      rest: { path: `/api/trace-shares?traceId=${traceId}` },
      rpc: { method: listTraceShares, request: { traceId } },
      status: 200,
      check: ({ shares }) => {
        expect(shares.length).toBeGreaterThan(1);
        expect(shares.every((each: Body) => each.traceId === traceId && each.token === undefined)).toBe(true);
      },
    });
  });

  it('leads nowhere once it is revoked, expired, or the trace is gone, alike for all', async () => {
    const traceId = await send();
    const [revoked, expired, gone] = [
      await share(traceId),
      await share(traceId, { expiresAt: nowMs + HOUR_MS }),
      await share(traceId),
    ];
    await expectEverywhere(app.address, {
      name: 'revoke an unknown one',
      headers: key(),
      rest: { verb: 'DELETE', path: `/api/trace-shares/${revoked.id}x` },
      rpc: { method: revokeTraceShare, request: { traceShareId: `${revoked.id}x` } },
      status: 404,
      code: 'trace_share_not_found',
    });
    expect((await revoke(revoked.id)).status).toBe(200);
    expect((await revoke(revoked.id)).status).toBe(404);
    nowMs += HOUR_MS;
    await callRest(app.address, { verb: 'DELETE', path: `/api/traces/${traceId}`, headers: key() });
    const answers = await Promise.all([revoked, expired, gone].map(({ token }) => open(token)));
    nowMs += 1_000;
    await send(traceId);
    answers.push(await open(gone.token), await open('0'.repeat(48)), await open('short'));
    for (const { status, body } of answers) {
      expect([status, body.error]).toEqual([404, 'trace_share_not_found']);
      expect(body.message).toBe(answers[0]?.body.message);
    }
  });

  it.each([
    ['whose id begins with it', () => hex(32), (id: string) => id.slice(0, 12)],
    ['that has its id with leading zeros', () => '0'.repeat(12) + hex(20), (id: string) => id.slice(12)],
  ])('opens no trace %s, once its own is gone', async (_name, newId, shorten) => {
    const other = await send(newId());
    const own = await send(shorten(other));
    nowMs += 1_000;
    const { token } = await share(own);
    expect((await open(token)).body.trace_id).toBe(own);
    await callRest(app.address, { verb: 'DELETE', path: `/api/traces/${own}`, headers: key() });
    const { status, body } = await open(token);
    expect([status, body.error]).toEqual([404, 'trace_share_not_found']);
  });

  it('works where the clock of its process is behind that of the one that received the trace', async () => {
    const traceId = await send();
    nowMs -= 1_000;
    const { token } = await share(traceId);
    expect((await open(token)).status).toBe(200);
    nowMs += 1_000;
    await callRest(app.address, { verb: 'DELETE', path: `/api/traces/${traceId}`, headers: key() });
    nowMs += 1;
    await send(traceId);
    expect((await open(token)).status).toBe(404);
  });

  it.each([
    ['an expiry that is past', () => ({ expiresAt: nowMs - 1 }), 422],
    ['an expiry in more than a year', () => ({ expiresAt: nowMs + 367 * DAY_MS }), 422],
    ['an unknown member', () => ({ expires: 1 }), 422],
  ])('is refused with %s', async (_name, more, status) => {
    const answer = await post('/api/trace-shares', { traceId: await send(), ...more() });
    expect(answer.status, answer.text).toBe(status);
  });

  it('is refused for an unknown trace', async () => {
    const { status, body } = await post('/api/trace-shares', { traceId: hex(32) });
    expect([status, body.error]).toEqual([404, 'Trace not found.']);
  });

  it('gives the spans in pages', async () => {
    const traceId = await send();
    await post('/api/collector', llmTrace(nowMs, traceId));
    const { token } = await share(traceId);
    const first = await open(token, '?spansLimit=1');
    expect(first.body.spans).toHaveLength(1);
    const second = await open(token, `?spansLimit=1&spansCursor=${first.body.spans_next_cursor}`);
    expect(second.body.spans).toHaveLength(1);
    expect(second.body.spans[0].span_id).not.toBe(first.body.spans[0].span_id);
  });
});

it('links are neither made nor opened where sharing is off', async () => {
  const traceId = await send();
  const { token } = await share(traceId);
  const off = await startApp({
    database: app.database,
    environment: { SPANDREL_TRACE_SHARING: 'off' },
    wrapStore: () => app.store,
  });
  const headers = key();
  const made = await callRest(off.address, { verb: 'POST', path: '/api/trace-shares', body: { traceId }, headers });
  expect([made.status, made.body.error]).toEqual([409, 'trace_sharing_off']);
  expect((await callRest(off.address, { path: `/api/shared-traces/${token}` })).status).toBe(404);
  await off.stop();
});
