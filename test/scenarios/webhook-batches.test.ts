import { afterAll, beforeAll, expect, it } from 'vitest';
import { dispatchIdOf } from '../../src/delivery/claims.ts';
import { audit, expectFlawless, FLAWLESS, lagsOf, quantile } from '../support/delivery-audit.ts';
import { type Push, TAKEN } from '../support/receiver.ts';
import { isFullTier, report } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { readTurns, slowdown } from '../support/turns.ts';
import { startWebhookFixture, type WebhookFixture } from '../support/webhook-fixture.ts';

let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await startWebhookFixture({ writer: 'in its thread' });
});
afterAll(() => fixture.close());

const EVENTS = isFullTier ? 100_000 : 1_200;
const ENDPOINTS = isFullTier ? 1 : 2;
/** How much later than its delay a batch may arrive. */
const LATE_MAX_MS = 100;

async function taken(path: string, count: number, deadlineMs = 30_000): Promise<readonly Push[]> {
  const events = () => fixture.receiver.of(path).reduce((sum, { eventIds }) => sum + eventIds.length, 0);
  await until(() => events() >= count, deadlineMs);
  return fixture.receiver.of(path);
}

it('W1: every event reaches every healthy receiver exactly once, signed by both families', async () => {
  const paths = Array.from({ length: ENDPOINTS }, (_, index) => `/w1-${index}`);
  const endpoints = await Promise.all(paths.map((path) => fixture.create(fixture.receiver.url(path))));
  const startedAtMs = performance.now();
  const ids = await fixture.report(EVENTS);
  for (const path of paths) await taken(path, EVENTS, 300_000);
  const seconds = (performance.now() - startedAtMs) / 1000;
  for (const { id } of endpoints) await fixture.untilIdle(id);
  for (const [index, path] of paths.entries()) {
    const pushes = fixture.receiver.of(path);
    expectFlawless({ pushes, subscribed: ids, secrets: [endpoints[index]?.secret ?? ''] });
    expect(fixture.receiver.peakOf(path)).toBeLessThanOrEqual(4);
    expect(Math.max(...pushes.map(({ eventIds }) => eventIds.length))).toBeLessThanOrEqual(100);
  }
  const lags = lagsOf(fixture.receiver.of('/w1-0'));
  const rate = Math.round((EVENTS * ENDPOINTS) / seconds);
  report({
    id: `W1 at ${rate}/s`,
    seed: 0,
    n: EVENTS * ENDPOINTS,
    lost: 0,
    dup: 0,
    p99: quantile(lags, 0.99),
    pass: true,
  });
  for (const { id } of endpoints) await fixture.archive(id);
}, 400_000);

it('a batch is cut as soon as it is full, and the rest of the events after the delay', async () => {
  const path = '/full';
  const { id, secret } = await fixture.create(fixture.receiver.url(path), {
    max_batch_size: 100,
    max_batch_delay_ms: 1_000,
  });
  const ids = await fixture.report(250);
  const [one, two, rest] = await taken(path, 250);
  expect([one, two, rest].map((push) => push?.eventIds.length)).toEqual([100, 100, 50]);
  expect((two?.atMs ?? 0) - (two?.createdAtMs.at(-1) ?? 0)).toBeLessThan(500);
  const [oldest] = rest?.createdAtMs ?? [];
  expect((rest?.atMs ?? 0) - (oldest ?? 0)).toBeGreaterThanOrEqual(1_000);
  const batches = [ids.slice(0, 100), ids.slice(100, 200), ids.slice(200)];
  expect(new Set(fixture.receiver.of(path).map(({ dispatchId }) => dispatchId))).toEqual(
    new Set(batches.map((batch) => dispatchIdOf(id, batch, null))),
  );
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
  await fixture.archive(id);
});

it('an event that is alone waits for its delay and hardly longer, and not at all without a delay', async () => {
  for (const delayMs of [150, 0]) {
    const path = `/delay-${delayMs}`;
    const { id, secret } = await fixture.create(fixture.receiver.url(path), { max_batch_delay_ms: delayMs });
    const before = readTurns(process.pid);
    const ids: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      ids.push(...(await fixture.report(1)));
      await taken(path, ids.length);
    }
    const pushes = fixture.receiver.of(path);
    const lags = lagsOf(pushes);
    // An overloaded machine delays one or the other.
    const late = (quantile(lags, 0.5) - delayMs) / slowdown(before, readTurns(process.pid));
    report({ id: `batch delay ${delayMs}`, seed: 0, n: lags.length, p99: lags.at(-1) ?? 0, pass: late <= LATE_MAX_MS });
    expect(lags[0]).toBeGreaterThanOrEqual(delayMs);
    expect(late, `${lags}`).toBeLessThanOrEqual(LATE_MAX_MS);
    expectFlawless({ pushes, subscribed: ids, secrets: [secret] });
    await fixture.archive(id);
  }
});

it('batches grow while the slots are taken, in the order of the log, with no more sends at once than allowed', async () => {
  const path = '/pressure';
  fixture.receiver.react = (push) => (push.path === path ? { kind: 'answer', status: 200, delayMs: 60 } : TAKEN);
  const { id, secret } = await fixture.create(fixture.receiver.url(path), {
    max_batch_delay_ms: 0,
    max_in_flight: 1,
    max_batch_size: 40,
  });
  const ids: string[] = [];
  for (let index = 0; index < 120; index += 1) ids.push(...(await fixture.report(1)));
  const pushes = await taken(path, ids.length);
  expect(pushes.flatMap(({ eventIds }) => eventIds)).toEqual(ids);
  expect(fixture.receiver.peakOf(path)).toBe(1);
  const sizes = pushes.map(({ eventIds }) => eventIds.length);
  expect(Math.max(...sizes)).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(40);
  await fixture.untilIdle(id);
  expectFlawless({ pushes, subscribed: ids, secrets: [secret] });
  await fixture.archive(id);
});

it('sends in progress never exceed what the endpoint allows', async () => {
  const path = '/slots';
  fixture.receiver.react = (push) => (push.path === path ? { kind: 'answer', status: 200, delayMs: 10 } : TAKEN);
  const { id, secret } = await fixture.create(fixture.receiver.url(path), {
    max_batch_delay_ms: 0,
    max_in_flight: 3,
    max_batch_size: 5,
  });
  const ids = await fixture.report(500);
  await taken(path, ids.length);
  await fixture.untilIdle(id);
  expect(fixture.receiver.peakOf(path)).toBe(3);
  expectFlawless({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
  await fixture.archive(id);
});

it('what is redelivered has the same id, the same bytes and the next attempt number', async () => {
  const path = '/again';
  const { id, secret } = await fixture.create(fixture.receiver.url(path), { max_batch_delay_ms: 0 });
  const ids = await fixture.report(3);
  await taken(path, 3);
  await fixture.untilIdle(id);
  const [first] = fixture.receiver.of(path);
  const { state } = await fixture.redeliver(id, first?.dispatchId ?? '');
  expect(state).toBe('retrying');
  await until(() => fixture.receiver.of(path).length > (first?.attempt ?? 0));
  await fixture.untilIdle(id);
  const again = fixture.receiver.of(path).filter(({ dispatchId }) => dispatchId === first?.dispatchId);
  expect(again.map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(again[1]?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  const delivery = await fixture.delivery(id, first?.dispatchId ?? '');
  expect(delivery).toMatchObject({ state: 'delivered', attempt_count: 2 });
  const found = audit({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
  expect(found).toEqual({ ...FLAWLESS, repeatedBatches: 1 });
  await fixture.archive(id);
});
