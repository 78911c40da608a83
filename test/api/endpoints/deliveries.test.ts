import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import {
  BASE,
  call,
  create,
  invoke,
  NOBODY_URL,
  type Receiver,
  SURFACES,
  startReceiver,
  startSending,
} from './endpoints-client.ts';

let app: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startSending();
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const quiet = (url = receiver.url) => ({ url, enabled_events: ['gateway.virtual_key.*'] });

describe.each(SURFACES)('a test over %s', (surface) => {
  it('arrives signed, and its delivery shows the outcome', async () => {
    receiver.answer = { status: 202, body: 'taken' };
    const { id, secret } = await create(app, quiet());
    const { data } = await invoke(app, [surface, 'testEndpoint'], { id });
    expect(data).toEqual({ delivered: true, response_status: 202, response_body: 'taken' });
    const { headers, body } = receiver.received.at(-1) ?? { headers: {}, body: '' };
    expect(headers['x-langwatch-test-fire']).toBe('true');
    expect(headers['webhook-id']).toMatch(/^test:[0-9a-f-]{36}$/);
    new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(JSON.parse(body)).toEqual({
      batch: [
        {
          id: expect.stringMatching(/^evt_test_[0-9a-f-]{36}$/),
          type: 'test.ping',
          created: instant,
          schema_version: '1',
          data: { message: expect.any(String) },
        },
      ],
    });
  });

  it('that is refused changes nothing about the endpoint', async () => {
    receiver.answer = { status: 410, body: 'never again' };
    const { id, secret: _, ...made } = await create(app, quiet());
    const { data } = await invoke(app, [surface, 'testEndpoint'], { id });
    expect(data).toEqual({ delivered: false, response_status: 410, response_body: 'HTTP 410' });
    expect((await invoke(app, [surface, 'getEndpoint'], { id })).data).toEqual({ id, ...made });
    const health = await invoke(app, [surface, 'getEndpointHealth'], { id });
    expect(health.data).toEqual({
      status: 'active',
      disabled_reason: null,
      failing_since: null,
      last_success_at: null,
      last_failure_at: null,
      oldest_undelivered_age_ms: null,
      dlq_depth: 0,
      sends_per_minute: 0,
      success_rate: null,
      p95_latency_ms: null,
      extras: {
        queued_events: 0,
        retrying: 0,
        held: 0,
        in_flight: 0,
        consecutive_failures: 0,
        previous_secret_expires_at: null,
        description: null,
      },
    });
    expect((await invoke(app, [surface, 'listDeadLetters'], { id })).data).toEqual([]);
    const [attempt] = (await invoke(app, [surface, 'listDeliveries'], { id })).data;
    expect(attempt).toMatchObject({
      outcome: 'terminal',
      response_status: 410,
      response_body: 'never again',
      test: true,
    });
  });

  it('that does not arrive says no more than that, and its attempt says why', async () => {
    const { id } = await create(app, quiet(NOBODY_URL));
    const { data } = await invoke(app, [surface, 'testEndpoint'], { id });
    expect(data).toEqual({
      delivered: false,
      response_status: null,
      error: "The request could not be completed. See this endpoint's delivery log.",
    });
    const list = await invoke(app, [surface, 'listDeliveries'], { id });
    expect(list.next_cursor).toBeNull();
    expect(list.data).toEqual([
      {
        id: expect.any(String),
        dispatch_id: expect.stringMatching(/^test:/),
        attempt: 1,
        event_count: 1,
        outcome: 'terminal',
        response_status: null,
        latency_ms: expect.any(Number),
        error: 'connect_failed',
        fired_at: instant,
        response_body: null,
        test: true,
        event_ids: [expect.stringMatching(/^evt_test_/)],
        terminal_hint: false,
      },
    ]);
    expect(Object.keys(list.data[0])).toEqual([
      'id',
      'dispatch_id',
      'attempt',
      'event_count',
      'outcome',
      'response_status',
      'latency_ms',
      'error',
      'fired_at',
      'response_body',
      'test',
      'event_ids',
      'terminal_hint',
    ]);
  });

  it('has a delivery of its own, which cannot be sent again', async () => {
    receiver.answer = { status: 200, body: '' };
    const { id } = await create(app, quiet());
    await invoke(app, [surface, 'testEndpoint'], { id });
    const [attempt] = (await invoke(app, [surface, 'listDeliveries'], { id })).data;
    const parameters = { dispatch_id: attempt.dispatch_id };
    const { data } = await invoke(app, [surface, 'getDelivery'], { id, parameters });
    expect(Object.keys(data)).toEqual([
      'dispatch_id',
      'endpoint_id',
      'state',
      'dead_reason',
      'test',
      'replay_id',
      'event_ids',
      'event_count',
      'attempt_count',
      'response_status',
      'error',
      'terminal_hint',
      'created_at',
      'first_attempt_at',
      'last_attempt_at',
      'next_attempt_at',
      'ended_at',
      'expires_at',
      'attempts',
    ]);
    expect(data).toMatchObject({
      dispatch_id: attempt.dispatch_id,
      endpoint_id: id,
      state: 'delivered',
      test: true,
      event_count: 1,
      attempt_count: 1,
      response_status: 200,
      next_attempt_at: null,
      attempts: [attempt],
    });
    const kept = Date.parse(data.expires_at) - Date.parse(data.ended_at);
    expect(kept).toBe(30 * 86_400_000);
    await invoke(app, [surface, 'redeliverDelivery'], { id, parameters }, '400 webhook_delivery_not_redeliverable');
    const unknown = { dispatch_id: `${id}:0123456789abcdef` };
    await invoke(app, [surface, 'getDelivery'], { id, parameters: unknown }, '404 webhook_delivery_not_found');
    await invoke(app, [surface, 'redeliverDelivery'], { id, parameters: unknown }, '404 webhook_delivery_not_found');
  });

  it('may be made ten times a minute', async () => {
    const { id } = await create(app, quiet());
    for (let made = 0; made < 10; made += 1) await invoke(app, [surface, 'testEndpoint'], { id });
    const error = await invoke(app, [surface, 'testEndpoint'], { id }, '429 rate_limited');
    expect(error.meta).toEqual({ limit: 10, window_seconds: 60 });
    const { headers } = await call(app, 'POST', `${BASE}/${id}/test`);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const page = await invoke(app, [surface, 'listDeliveries'], { id, query: { limit: '4' } });
    const rest = await invoke(app, [surface, 'listDeliveries'], { id, query: { cursor: page.next_cursor } });
    expect(rest.next_cursor).toBeNull();
    const firedAts = [...page.data, ...rest.data].map(({ fired_at }: Body) => fired_at);
    expect(firedAts).toHaveLength(10);
    expect(firedAts).toEqual(firedAts.toSorted().reverse());
  });
});

it('the id of a delivery may be spelled either way in a path', async () => {
  receiver.answer = { status: 200, body: '' };
  const { id } = await create(app, quiet());
  await invoke(app, ['REST', 'testEndpoint'], { id });
  const [attempt] = (await invoke(app, ['REST', 'listDeliveries'], { id })).data;
  const raw = attempt.dispatch_id;
  for (const spelled of [raw, encodeURIComponent(raw), raw.replace(':', '%3a')]) {
    const { status, body } = await call(app, 'GET', `${BASE}/${id}/deliveries/${spelled}`);
    expect(status).toBe(200);
    expect(body.data.dispatch_id).toBe(raw);
  }
});

describe.each(SURFACES)('a replay over %s', (surface) => {
  const window = { from: 0, to: 253_402_300_799_999 };

  it('takes the events of the window that the endpoint gets', async () => {
    const headers = { 'x-auth-token': app.projectKey };
    await callRest(app.address, { verb: 'POST', path: '/api/collector', body: llmTrace(Date.now()), headers });
    const { id } = await create(app, { url: NOBODY_URL, enabled_events: ['gateway.request.*', 'gateway.budget.*'] });
    const { body } = await call(app, 'GET', `/api/webhooks/v1/events?from=0&to=${window.to}&limit=200`);
    const { data } = await invoke(app, [surface, 'replayEvents'], { id, body: window });
    expect(Object.keys(data)).toEqual(['replay_id', 'matched']);
    expect(data.matched).toBe(body.data.length);
    const parameters = { replay_id: data.replay_id };
    const replay = await invoke(app, [surface, 'getReplay'], { id, parameters });
    expect(Object.keys(replay.data)).toEqual([
      'replay_id',
      'endpoint_id',
      'status',
      'from',
      'to',
      'type',
      'matched',
      'enqueued',
      'delivered',
      'dead',
      'created_at',
      'completed_at',
    ]);
    expect(replay.data).toMatchObject({
      replay_id: data.replay_id,
      endpoint_id: id,
      status: 'running',
      ...window,
      type: null,
      matched: data.matched,
      delivered: 0,
      dead: 0,
      created_at: instant,
      completed_at: null,
    });
    const narrow = await invoke(app, [surface, 'replayEvents'], { id, body: { ...window, type: 'gateway.budget.*' } });
    expect(narrow.data.matched).toBe(0);
    const other = (await create(app, quiet(NOBODY_URL))).id;
    await invoke(app, [surface, 'getReplay'], { id: other, parameters }, '404 webhook_replay_not_found');
    await invoke(app, [surface, 'updateEndpoint'], { id, body: { status: 'disabled' } });
    expect((await invoke(app, [surface, 'getReplay'], { id, parameters })).data.status).toBe('paused');
    await invoke(app, [surface, 'replayEvents'], { id, body: window }, '409 webhook_endpoint_disabled');
  });

  it('is one of at most four that are unfinished', async () => {
    const headers = { 'x-auth-token': app.projectKey };
    await callRest(app.address, { verb: 'POST', path: '/api/collector', body: llmTrace(Date.now()), headers });
    const { id } = await create(app, { url: NOBODY_URL, enabled_events: ['gateway.request.*'] });
    for (let begun = 0; begun < 4; begun += 1) await invoke(app, [surface, 'replayEvents'], { id, body: window });
    await invoke(app, [surface, 'replayEvents'], { id, body: window }, '409 too_many_replays');
  });

  it.each<readonly [string, object, readonly string[]]>([
    ['no range', {}, ['from', 'to']],
    ['a range upside down', { from: 2, to: 1 }, ['(root)']],
    ['a negative end', { from: -1, to: 1 }, ['from']],
    ['a type that is none', { ...window, type: 'test.ping' }, ['type']],
  ])('with %s is refused, for an unknown endpoint too', async (_, body, fields) => {
    const error = await invoke(app, [surface, 'replayEvents'], { id: 'unknown', body }, '400 validation_error');
    expect(error.meta).toMatchObject({ target: 'json', fields });
  });
});

it('a replay over REST takes a type that is null for none', async () => {
  const { id } = await create(app, { url: NOBODY_URL, enabled_events: ['gateway.request.*'] });
  const path = `${BASE}/${id}/replay`;
  const { status, body } = await call(app, 'POST', path, { body: { from: 0, to: 1, type: null } });
  expect([status, body.error]).toEqual([200, undefined]);
  const { body: replay } = await call(app, 'GET', `${BASE}/${id}/replays/${body.data.replay_id}`);
  expect(replay.data.type).toBeNull();
  const { body: refused } = await call(app, 'POST', path, { body: { from: null, to: 1 } });
  expect(refused.error).toMatchObject({ code: 'validation_error', meta: { fields: ['from'] } });
});

it('every change is in the audit log, with what it changed', async () => {
  const { id } = await create(app, quiet());
  await invoke(app, ['REST', 'updateEndpoint'], { id, body: { max_in_flight: 1, description: 'x' } });
  await invoke(app, ['REST', 'rollEndpointSecret'], { id });
  await invoke(app, ['REST', 'testEndpoint'], { id });
  await invoke(app, ['REST', 'replayEvents'], { id, body: { from: 0, to: 1 } });
  await invoke(app, ['REST', 'archiveEndpoint'], { id });
  const { body } = await call(app, 'GET', `/api/audit-log?targetId=${id}`);
  const entries = body.data.map(({ action, targetType, status, fields }: Body) => [action, targetType, status, fields]);
  expect(entries.toSorted()).toEqual(
    [
      ['webhookEndpoint.create', 'webhookEndpoint', 201, []],
      ['webhookEndpoint.update', 'webhookEndpoint', 200, ['max_in_flight', 'description']],
      ['webhookEndpoint.rollSecret', 'webhookEndpoint', 200, []],
      ['webhookEndpoint.replay', 'webhookEndpoint', 200, []],
      ['webhookEndpoint.archive', 'webhookEndpoint', 200, []],
    ].toSorted(),
  );
});
