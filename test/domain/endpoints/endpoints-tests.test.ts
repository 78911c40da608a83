import { describe, expect, it } from 'vitest';
import type { AttemptResult } from '../../../src/domain/endpoints/destination.ts';
import type { EndpointDraft } from '../../../src/domain/endpoints/endpoint-draft.ts';
import { percentile95 } from '../../../src/domain/endpoints/endpoint-health.ts';
import type { ReplayRange } from '../../../src/domain/endpoints/replays.ts';
import { maskOfSelectors } from '../../../src/domain/events/event-type.ts';
import { faultOf, NOW_MS } from '../keys/keys-fixture.ts';
import { ACCEPTED, createEndpointsFixture, HTTP, REFUSED, SQS } from './endpoints-fixture.ts';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

async function fire(result: AttemptResult, draft: EndpointDraft = HTTP) {
  const fixture = await createEndpointsFixture();
  const { endpoint } = await fixture.create(draft);
  fixture.receiver.result = result;
  return { fixture, id: endpoint.id, outcome: await fixture.endpoints.test(await fixture.target(endpoint.id)) };
}

describe('a test', () => {
  it('sends one sample event with its own id', async () => {
    const { fixture, id } = await fire(ACCEPTED);
    const [shot] = fixture.fired;
    expect(shot?.endpoint.id).toBe(id);
    expect(shot?.test.dispatchId).toMatch(new RegExp(`^test:${UUID}$`));
    expect(JSON.parse(shot?.test.envelope ?? '')).toEqual({
      id: expect.stringMatching(new RegExp(`^evt_test_${UUID}$`)),
      type: 'test.ping',
      created: new Date(NOW_MS).toISOString(),
      schema_version: '1',
      data: { message: expect.any(String) },
    });
    expect(Object.keys(JSON.parse(shot?.test.envelope ?? ''))).toEqual([
      'id',
      'type',
      'created',
      'schema_version',
      'data',
    ]);
  });

  const transport: AttemptResult = { ...REFUSED, responseStatus: null, responseText: null, error: 'connect_failed' };
  const NOT_COMPLETED = "The request could not be completed. See this endpoint's delivery log.";
  it.each<readonly [string, AttemptResult, EndpointDraft, object]>([
    ['is taken', ACCEPTED, HTTP, { delivered: true, responseStatus: 200, responseBody: 'thanks' }],
    [
      'is taken with many words',
      { ...ACCEPTED, responseText: '😀'.repeat(600) },
      HTTP,
      { delivered: true, responseStatus: 200, responseBody: '😀'.repeat(500) },
    ],
    ['is refused', REFUSED, HTTP, { delivered: false, responseStatus: 500, responseBody: 'HTTP 500' }],
    ['does not arrive', transport, HTTP, { delivered: false, responseStatus: null, error: NOT_COMPLETED }],
    [
      'goes to a host without an address',
      { ...transport, error: 'dns_failed' },
      HTTP,
      { delivered: false, responseStatus: null, error: `${NOT_COMPLETED} The host name does not resolve.` },
    ],
    [
      'is queued',
      { ...ACCEPTED, responseStatus: null, responseText: 'message-1' },
      SQS,
      { delivered: true, responseStatus: null, responseBody: 'message-1' },
    ],
    [
      'is refused by a queue',
      { ...transport, error: `AccessDenied: ${'no'.repeat(300)}` },
      SQS,
      { delivered: false, responseStatus: null, responseBody: `AccessDenied: ${'no'.repeat(300)}`.slice(0, 500) },
    ],
    [
      'does not reach a queue',
      { ...transport, error: 'tls_failed: X' },
      SQS,
      { delivered: false, responseStatus: null, error: NOT_COMPLETED },
    ],
  ])('that %s says so', async (_, result, draft, expected) => {
    expect((await fire(result, draft)).outcome).toEqual(expected);
  });

  it.each<readonly [string, Partial<typeof REFUSED>, number | null]>([
    ['refuses', {}, 4],
    ['wants no more', { isGone: true, responseStatus: 410, error: 'HTTP 410' }, 4],
    ['is not reached because of a sender fault', { isSenderFault: true, responseStatus: null }, null],
  ])('is recorded as a plain failure when the receiver %s', async (_, more, latencyMs) => {
    const { fixture, id } = await fire({ ...REFUSED, ...more });
    expect(fixture.ended).toMatchObject([
      { verdict: { kind: 'failure', latencyMs, responseBody: 'nope', retryAfterMs: null } },
    ]);
    expect(fixture.stored(id)).toMatchObject({ version: 1, status: 'active', failingSinceMs: null });
    expect(fixture.audit()).toHaveLength(1);
  });

  it('runs on a disabled endpoint', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    fixture.touch(endpoint.id, { status: 'disabled' });
    expect((await fixture.endpoints.test(await fixture.target(endpoint.id))).delivered).toBe(true);
  });

  it('is answered although its end could not be recorded', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    fixture.answers.endFails = true;
    expect((await fixture.endpoints.test(await fixture.target(endpoint.id))).delivered).toBe(true);
    expect(fixture.lost).toHaveLength(1);
  });

  it('beyond ten a minute says when to try again', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    fixture.answers.waitMs = 41_001;
    expect(await faultOf(fixture.endpoints.test(await fixture.target(endpoint.id)))).toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 42,
      meta: { limit: 10, windowSeconds: 60 },
    });
    expect(fixture.fired).toEqual([]);
  });
});

describe('a replay', () => {
  const RANGE: ReplayRange = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null };
  async function start(range: Partial<ReplayRange> = {}, draft = HTTP) {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create(draft);
    const begin = async () =>
      fixture.endpoints.startReplay({
        ...(await fixture.target(endpoint.id)),
        range: { ...RANGE, ...range },
      });
    return { fixture, id: endpoint.id, begin };
  }

  it('takes what it finds of what the endpoint gets', async () => {
    const { fixture, id, begin } = await start({ type: 'gateway.*' }, { ...HTTP, enabledEvents: ['gateway.budget.*'] });
    fixture.answers.matched = 3;
    const { replayId, matched } = await begin();
    expect(matched).toBe(3);
    expect(replayId).toMatch(/^replay_[0-9A-Za-z]{21}$/);
    const mask = maskOfSelectors(['gateway.budget.*']);
    expect(fixture.questions).toMatchObject([{ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, mask }]);
    expect(fixture.questions[0]?.sinceMs).toBe(Date.UTC(2022, 9, 1));
    expect(fixture.replays).toMatchObject([
      { id: replayId, fromSeq: 1, toSeq: 3, matched: 3, mask, type: 'gateway.*' },
    ]);
    expect(fixture.audit().at(-1)).toMatchObject({ action: 'webhookEndpoint.replay', targetId: id });
    const replay = await fixture.endpoints.replay(await fixture.target(id), replayId);
    expect(replay).toMatchObject({ id: replayId, endpointId: id, status: 'running', matched: 3 });
    fixture.touch(id, { status: 'disabled' });
    expect(await fixture.endpoints.replay(await fixture.target(id), replayId)).toMatchObject({ status: 'paused' });
  });

  it.each<readonly [string, Partial<ReplayRange>, readonly string[]]>([
    ['a range upside down', { fromMs: 2, toMs: 1 }, ['(root)']],
    ['a type that is none', { type: 'gateway.req*' }, ['type']],
    ['an empty type', { type: '' }, ['type']],
  ])('of %s is refused', async (_, range, fields) => {
    const { begin } = await start(range);
    expect(await faultOf(begin())).toMatchObject({ code: 'validation_error', meta: { target: 'json', fields } });
  });

  it('of a disabled endpoint is refused, and so is a fifth one', async () => {
    const { fixture, id, begin } = await start();
    fixture.answers.unfinished = 4;
    expect(await faultOf(begin())).toMatchObject({ code: 'too_many_replays' });
    fixture.touch(id, { status: 'disabled' });
    expect(await faultOf(begin())).toMatchObject({ code: 'webhook_endpoint_disabled' });
    expect(fixture.questions).toEqual([]);
  });

  it('that does not exist is not found', async () => {
    const { fixture, id } = await start();
    for (const replayId of ['unknown', 'a\0b', 'x'.repeat(300)]) {
      const request = fixture.endpoints.replay(await fixture.target(id), replayId);
      expect(await faultOf(request)).toMatchObject({ code: 'webhook_replay_not_found' });
    }
  });
});

describe('health', () => {
  it('of a fresh endpoint is null, 0, 0, null, null', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create({ ...HTTP, description: 'ours' });
    expect(await fixture.endpoints.health(await fixture.target(endpoint.id))).toEqual({
      status: 'active',
      disabledReason: null,
      failingSinceMs: null,
      lastSuccessAtMs: null,
      lastFailureAtMs: null,
      oldestUndeliveredAgeMs: null,
      dlqDepth: 0,
      sendsPerMinute: 0,
      successRate: null,
      p95LatencyMs: null,
      queuedEvents: 0,
      retrying: 0,
      held: 0,
      inFlight: 0,
      consecutiveFailures: 0,
      previousSecretExpiresAtMs: null,
      description: 'ours',
    });
  });

  it('is reckoned from the figures of the last hour', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    await fixture.roll(endpoint.id, 60);
    fixture.answers.figures = {
      ...fixture.answers.figures,
      oldestUndeliveredAtMs: NOW_MS - 1_500,
      finished: 90,
      succeeded: 60,
      latenciesMs: [30, 10, 20],
      dead: 2,
      held: 4,
    };
    expect(await fixture.endpoints.health(await fixture.target(endpoint.id))).toMatchObject({
      oldestUndeliveredAgeMs: 1_500,
      dlqDepth: 2,
      sendsPerMinute: 1.5,
      successRate: 2 / 3,
      p95LatencyMs: 30,
      held: 4,
      previousSecretExpiresAtMs: NOW_MS + 60_000,
    });
    fixture.advance(60_000);
    const later = await fixture.endpoints.health(await fixture.target(endpoint.id));
    expect(later.previousSecretExpiresAtMs).toBeNull();
  });

  it.each([
    [0, null],
    [1, 1],
    [19, 19],
    [20, 19],
    [21, 20],
    [100, 95],
    [500, 475],
  ])('the 95th percentile of 1 to %i is %s', (count, wanted) => {
    expect(percentile95(Array.from({ length: count }, (_, index) => count - index))).toBe(wanted);
  });
});
