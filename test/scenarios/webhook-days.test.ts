import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectFlawless } from '../support/delivery-audit.ts';
import { type Reaction, TAKEN } from '../support/receiver.ts';
import { report } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { startWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const AT_ONCE = { max_batch_delay_ms: 0 };

const reactions = new Map<string, Reaction>();
let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
  world.receiver.react = ({ path }) => reactions.get(path) ?? TAKEN;
});
afterAll(() => world.close());

const answering = (status: number, headers: { readonly [name: string]: string } = {}): Reaction => ({
  kind: 'answer',
  status,
  headers,
});

/** Until so many requests have come, and what became of them is stored. */
async function arrived(path: string, endpointId: string, count: number): Promise<void> {
  await until(() => world.receiver.of(path).length >= count);
  await until(async () => (await world.health(endpointId)).extras.in_flight === 0);
}

it('410 disables the endpoint at once and ends the delivery, which can be sent again when it is enabled', async () => {
  const path = '/gone';
  reactions.set(path, answering(410));
  const { id, secret } = await world.create(world.receiver.url(path), AT_ONCE);
  const ids = await world.report(1);
  await arrived(path, id, 1);
  expect(await world.find(id)).toMatchObject({ status: 'disabled', disabled_reason: 'receiver_gone' });
  const [dead] = await world.deadLetters(id);
  expect(dead).toMatchObject({ state: 'dead', dead_reason: 'receiver_gone', response_status: 410, event_ids: ids });
  await world.report(1);
  await world.pass(HOUR_MS);
  expect(world.receiver.of(path)).toHaveLength(1);
  reactions.set(path, TAKEN);
  await world.change(id, { status: 'active' });
  await world.redeliver(id, dead.dispatch_id);
  await arrived(path, id, 2);
  expect(await world.delivery(id, dead.dispatch_id)).toMatchObject({ state: 'delivered', dead_reason: null });
  expectFlawless({ pushes: world.receiver.of(path), subscribed: ids, secrets: [secret] });
  await world.archive(id);
});

it('a receiver that answers 410 to a test stays enabled, and nothing of its figures moves', async () => {
  const path = '/test';
  reactions.set(path, answering(410));
  const { id, secret } = await world.create(world.receiver.url(path), AT_ONCE);
  const before = await world.health(id);
  expect(await world.test(id)).toMatchObject({ delivered: false, response_status: 410, response_body: 'HTTP 410' });
  expect(await world.health(id)).toEqual(before);
  expect(await world.find(id)).toMatchObject({ status: 'active', failing_since: null, last_failure_at: null });
  expectFlawless({ pushes: world.receiver.of(path), subscribed: [], secrets: [secret] });
  await world.archive(id);
});

it.each([429, 503])('a receiver that answers %i is asked again no sooner than it wants', async (status) => {
  const path = `/patience-${status}`;
  reactions.set(path, answering(status, { 'retry-after': '2000' }));
  const { id, secret } = await world.create(world.receiver.url(path), AT_ONCE);
  const ids = await world.report(1);
  await arrived(path, id, 1);
  const dispatchId = world.receiver.of(path)[0]?.dispatchId ?? '';
  const delivery = await world.delivery(id, dispatchId);
  const waitMs = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.last_attempt_at);
  expect(delivery).toMatchObject({ state: 'retrying', response_status: status, error: `HTTP ${status}` });
  expect(waitMs).toBeGreaterThanOrEqual(2_000_000);
  expect(waitMs).toBeLessThan(2_000_000 + MINUTE_MS);
  reactions.set(path, TAKEN);
  await world.pass(30 * MINUTE_MS);
  expect(world.receiver.of(path)).toHaveLength(1);
  await world.pass(4 * MINUTE_MS);
  await arrived(path, id, 2);
  expectFlawless({ pushes: world.receiver.of(path), subscribed: ids, secrets: [secret] });
  await world.archive(id);
});

it('what fails is tried again on the ladder with the same bytes, and delivered once the receiver is back', async () => {
  const path = '/ladder';
  reactions.set(path, answering(404));
  const { id, secret } = await world.create(world.receiver.url(path), AT_ONCE);
  const ids = await world.report(1);
  for (const [index, waitMs] of [1, 5, 30].map((minutes) => minutes * MINUTE_MS).entries()) {
    await arrived(path, id, index + 1);
    const delivery = await world.delivery(id, world.receiver.of(path)[0]?.dispatchId ?? '');
    const dueMs = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.last_attempt_at);
    expect(delivery.terminal_hint).toBe(true);
    expect(dueMs).toBeGreaterThanOrEqual(waitMs * 0.9);
    expect(dueMs).toBeLessThanOrEqual(waitMs * 1.1 + 5_000);
    if (index === 2) reactions.set(path, TAKEN);
    await world.pass(waitMs * 1.2);
  }
  await arrived(path, id, 4);
  expect(world.receiver.of(path).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  expect(await world.find(id)).toMatchObject({ status: 'active', failing_since: null });
  expectFlawless({ pushes: world.receiver.of(path), subscribed: ids, secrets: [secret] });
  await world.archive(id);
});

it('an endpoint that fails for 72 hours is disabled, what waits is held, and resumes when it is enabled', async () => {
  const path = '/days';
  reactions.set(path, answering(500));
  const { id, secret } = await world.create(world.receiver.url(path), AT_ONCE);
  const ids = [...(await world.report(1))];
  await arrived(path, id, 1);
  await world.pass(71 * HOUR_MS);
  await arrived(path, id, 2);
  ids.push(...(await world.report(1)));
  await arrived(path, id, 3);
  expect(await world.find(id)).toMatchObject({ status: 'active' });
  await world.pass(2 * HOUR_MS);
  await until(async () => (await world.find(id)).status === 'disabled');
  await until(async () => (await world.health(id)).extras.in_flight === 0);
  expect(await world.find(id)).toMatchObject({ disabled_reason: 'auto_failures_72h' });
  const held = (await world.health(id)).extras.held;
  expect(held).toBeGreaterThan(0);
  const heldIds = world.receiver.of(path).map(({ dispatchId }) => dispatchId);
  reactions.set(path, TAKEN);
  const sent = world.receiver.of(path).length;
  await world.pass(HOUR_MS);
  expect(world.receiver.of(path)).toHaveLength(sent);
  await world.change(id, { status: 'active' });
  await world.untilIdle(id);
  for (const { dispatch_id: dispatchId } of await world.deadLetters(id)) {
    expect(heldIds).toContain(dispatchId);
    await world.redeliver(id, dispatchId);
  }
  await world.untilIdle(id);
  expect(await world.find(id)).toMatchObject({ status: 'active', failing_since: null, disabled_reason: null });
  report({ id: 'disabled after 72 h', seed: 0, n: ids.length, ...{ held }, lost: 0, dup: 0, pass: true });
  expectFlawless({ pushes: world.receiver.of(path), subscribed: ids, secrets: [secret] });
  await world.archive(id);
});

it('after an outage of three hours a replay sends exactly what the log holds of it', async () => {
  const path = '/outage';
  const { id, secret } = await world.create(world.receiver.url(path), AT_ONCE);
  const before = await world.report(5);
  await world.untilIdle(id);
  await world.change(id, { status: 'disabled' });
  const missed: string[] = [];
  for (let hour = 0; hour < 3; hour += 1) {
    await passAnInstant();
    missed.push(...(await world.report(120)));
    await world.pass(HOUR_MS);
  }
  await passAnInstant();
  await world.change(id, { status: 'active' });
  const after = await world.report(5);
  await world.untilIdle(id);
  expect(world.receiver.of(path).flatMap(({ eventIds }) => eventIds)).toHaveLength(before.length + after.length);
  const gap = (await world.logged()).filter((event) => missed.includes(event.id));
  expect(gap).toHaveLength(missed.length);
  const range = { from: gap.at(-1)?.createdAtMs ?? 0, to: gap[0]?.createdAtMs ?? 0 };
  const { matched, replay_id: replayId } = await world.replay(id, { ...range, type: 'gateway.request.*' });
  expect(matched).toBe(missed.length);
  await until(async () => (await world.replayed(id, replayId)).status === 'completed');
  expect(await world.replayed(id, replayId)).toMatchObject({ matched, enqueued: matched, delivered: matched, dead: 0 });
  report({ id: 'outage of three hours', seed: 0, n: matched, lost: 0, dup: 0, pass: true });
  const subscribed = [...before, ...missed, ...after];
  expectFlawless({ pushes: world.receiver.of(path), subscribed, secrets: [secret] });
  await world.archive(id);
});

/** By the clock of whoever gives events their time. */
async function passAnInstant(): Promise<void> {
  const startedAtMs = Date.now();
  await until(() => Date.now() > startedAtMs + 1);
}

it('once the attempts of an hour are made, deliveries wait for the next, without a trace in the log', async () => {
  const capped = await startWebhookWorld({ environment: { SPANDREL_WEBHOOK_MAX_PER_HOUR: '5' } });
  try {
    const path = '/capped';
    const { id, secret } = await capped.create(capped.receiver.url(path), { ...AT_ONCE, max_batch_size: 1 });
    // So that the hour does not end by itself.
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
