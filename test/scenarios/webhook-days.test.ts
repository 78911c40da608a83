import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectFlawless } from '../support/delivery-audit.ts';
import { type Reaction, TAKEN } from '../support/receiver.ts';
import { report } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { startWebhookFixture, type WebhookFixture } from '../support/webhook-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const AT_ONCE = { max_batch_delay_ms: 0 };

const reactions = new Map<string, Reaction>();
let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await startWebhookFixture();
  fixture.receiver.react = ({ path }) => reactions.get(path) ?? TAKEN;
});
afterAll(() => fixture.close());

const answering = (status: number, headers: { readonly [name: string]: string } = {}): Reaction => ({
  kind: 'answer',
  status,
  headers,
});

/** Waits until this many requests have arrived and their results are stored. */
async function arrived(path: string, endpointId: string, count: number): Promise<void> {
  await until(() => fixture.receiver.of(path).length >= count);
  await until(async () => (await fixture.health(endpointId)).extras.in_flight === 0);
}

it('410 disables the endpoint at once and ends the delivery, which can be sent again when it is enabled', async () => {
  const path = '/gone';
  reactions.set(path, answering(410));
  const { id, secret } = await fixture.create(fixture.receiver.url(path), AT_ONCE);
  const ids = await fixture.report(1);
  await arrived(path, id, 1);
  expect(await fixture.find(id)).toMatchObject({ status: 'disabled', disabled_reason: 'receiver_gone' });
  const [dead] = await fixture.deadLetters(id);
  expect(dead).toMatchObject({ state: 'dead', dead_reason: 'receiver_gone', response_status: 410, event_ids: ids });
  await fixture.report(1);
  await fixture.pass(HOUR_MS);
  expect(fixture.receiver.of(path)).toHaveLength(1);
  reactions.set(path, TAKEN);
  await fixture.change(id, { status: 'active' });
  await fixture.redeliver(id, dead.dispatch_id);
  await arrived(path, id, 2);
  expect(await fixture.delivery(id, dead.dispatch_id)).toMatchObject({ state: 'delivered', dead_reason: null });
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
  await fixture.archive(id);
});

it('a receiver that answers 410 to a test stays enabled, and nothing of its figures moves', async () => {
  const path = '/test';
  reactions.set(path, answering(410));
  const { id, secret } = await fixture.create(fixture.receiver.url(path), AT_ONCE);
  const before = await fixture.health(id);
  expect(await fixture.test(id)).toMatchObject({ delivered: false, response_status: 410, response_body: 'HTTP 410' });
  expect(await fixture.health(id)).toEqual(before);
  expect(await fixture.find(id)).toMatchObject({ status: 'active', failing_since: null, last_failure_at: null });
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed: [], secrets: [secret] });
  await fixture.archive(id);
});

it.each([429, 503])('a receiver that answers %i gets no attempt before its Retry-After', async (status) => {
  const path = `/patience-${status}`;
  reactions.set(path, answering(status, { 'retry-after': '2000' }));
  const { id, secret } = await fixture.create(fixture.receiver.url(path), AT_ONCE);
  const ids = await fixture.report(1);
  await arrived(path, id, 1);
  const dispatchId = fixture.receiver.of(path)[0]?.dispatchId ?? '';
  const delivery = await fixture.delivery(id, dispatchId);
  const waitMs = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.last_attempt_at);
  expect(delivery).toMatchObject({ state: 'retrying', response_status: status, error: `HTTP ${status}` });
  expect(waitMs).toBeGreaterThanOrEqual(2_000_000);
  expect(waitMs).toBeLessThan(2_000_000 + MINUTE_MS);
  reactions.set(path, TAKEN);
  await fixture.pass(30 * MINUTE_MS);
  expect(fixture.receiver.of(path)).toHaveLength(1);
  await fixture.pass(4 * MINUTE_MS);
  await arrived(path, id, 2);
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
  await fixture.archive(id);
});

it('what fails is tried again on the ladder with the same bytes, and delivered once the receiver is back', async () => {
  const path = '/ladder';
  reactions.set(path, answering(404));
  const { id, secret } = await fixture.create(fixture.receiver.url(path), AT_ONCE);
  const ids = await fixture.report(1);
  for (const [index, waitMs] of [1, 5, 30].map((minutes) => minutes * MINUTE_MS).entries()) {
    await arrived(path, id, index + 1);
    const delivery = await fixture.delivery(id, fixture.receiver.of(path)[0]?.dispatchId ?? '');
    const dueMs = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.last_attempt_at);
    expect(delivery.terminal_hint).toBe(true);
    expect(dueMs).toBeGreaterThanOrEqual(waitMs * 0.9);
    expect(dueMs).toBeLessThanOrEqual(waitMs * 1.1 + 5_000);
    if (index === 2) reactions.set(path, TAKEN);
    await fixture.pass(waitMs * 1.2);
  }
  await arrived(path, id, 4);
  expect(fixture.receiver.of(path).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  expect(await fixture.find(id)).toMatchObject({ status: 'active', failing_since: null });
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
  await fixture.archive(id);
});

it('an endpoint that fails for 72 hours is disabled, what waits is held, and resumes when it is enabled', async () => {
  const path = '/days';
  reactions.set(path, answering(500));
  const { id, secret } = await fixture.create(fixture.receiver.url(path), AT_ONCE);
  const ids = [...(await fixture.report(1))];
  await arrived(path, id, 1);
  await fixture.pass(71 * HOUR_MS);
  await arrived(path, id, 2);
  ids.push(...(await fixture.report(1)));
  await arrived(path, id, 3);
  expect(await fixture.find(id)).toMatchObject({ status: 'active' });
  await fixture.pass(2 * HOUR_MS);
  await until(async () => (await fixture.find(id)).status === 'disabled');
  await until(async () => (await fixture.health(id)).extras.in_flight === 0);
  expect(await fixture.find(id)).toMatchObject({ disabled_reason: 'auto_failures_72h' });
  const held = (await fixture.health(id)).extras.held;
  expect(held).toBeGreaterThan(0);
  const heldIds = fixture.receiver.of(path).map(({ dispatchId }) => dispatchId);
  reactions.set(path, TAKEN);
  const sent = fixture.receiver.of(path).length;
  await fixture.pass(HOUR_MS);
  expect(fixture.receiver.of(path)).toHaveLength(sent);
  await fixture.change(id, { status: 'active' });
  await fixture.untilIdle(id);
  for (const { dispatch_id: dispatchId } of await fixture.deadLetters(id)) {
    expect(heldIds).toContain(dispatchId);
    await fixture.redeliver(id, dispatchId);
  }
  await fixture.untilIdle(id);
  expect(await fixture.find(id)).toMatchObject({ status: 'active', failing_since: null, disabled_reason: null });
  report({ id: 'disabled after 72 h', seed: 0, n: ids.length, ...{ held }, lost: 0, dup: 0, pass: true });
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
  await fixture.archive(id);
});

it('after an outage of three hours a replay sends exactly what the log holds of it', async () => {
  const path = '/outage';
  const { id, secret } = await fixture.create(fixture.receiver.url(path), AT_ONCE);
  const before = await fixture.report(5);
  await fixture.untilIdle(id);
  await fixture.change(id, { status: 'disabled' });
  const missed: string[] = [];
  for (let hour = 0; hour < 3; hour += 1) {
    await passAnInstant();
    missed.push(...(await fixture.report(120)));
    await fixture.pass(HOUR_MS);
  }
  await passAnInstant();
  await fixture.change(id, { status: 'active' });
  const after = await fixture.report(5);
  await fixture.untilIdle(id);
  expect(fixture.receiver.of(path).flatMap(({ eventIds }) => eventIds)).toHaveLength(before.length + after.length);
  const gap = (await fixture.logged()).filter((event) => missed.includes(event.id));
  expect(gap).toHaveLength(missed.length);
  const range = { from: gap.at(-1)?.createdAtMs ?? 0, to: gap[0]?.createdAtMs ?? 0 };
  const { matched, replay_id: replayId } = await fixture.replay(id, { ...range, type: 'gateway.request.*' });
  expect(matched).toBe(missed.length);
  await until(async () => (await fixture.replayed(id, replayId)).status === 'completed');
  expect(await fixture.replayed(id, replayId)).toMatchObject({
    matched,
    enqueued: matched,
    delivered: matched,
    dead: 0,
  });
  report({ id: 'outage of three hours', seed: 0, n: matched, lost: 0, dup: 0, pass: true });
  const subscribed = [...before, ...missed, ...after];
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed, secrets: [secret] });
  await fixture.archive(id);
});

/** By the clock that gives events their time. */
async function passAnInstant(): Promise<void> {
  const startedAtMs = Date.now();
  await until(() => Date.now() > startedAtMs + 1);
}

it('once the attempts of an hour are made, deliveries wait for the next, without a trace in the log', async () => {
  const capped = await startWebhookFixture({ environment: { SPANDREL_WEBHOOK_MAX_PER_HOUR: '5' } });
  try {
    const path = '/capped';
    const { id, secret } = await capped.create(capped.receiver.url(path), { ...AT_ONCE, max_batch_size: 1 });
    // Leaves enough of the hour, so that it does not end by itself.
    if (HOUR_MS - (capped.now() % HOUR_MS) < MINUTE_MS) await capped.pass(2 * MINUTE_MS);
    const ids = await capped.report(8);
    await until(() => capped.receiver.of(path).length === 5);
    await until(async () => (await capped.health(id)).extras.in_flight === 0);
    expect(await capped.attempts(id)).toHaveLength(5);
    expect(await capped.health(id)).toMatchObject({ failing_since: null, extras: { queued_events: 3 } });
    expect(await capped.test(id)).toMatchObject({ delivered: true });
    await capped.pass(HOUR_MS);
    await capped.untilIdle(id);
    expectFlawless({ pushes: capped.receiver.of(path), subscribed: ids, secrets: [secret] });
  } finally {
    await capped.close();
  }
});
