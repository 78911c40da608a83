import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { unavailableFault } from '../../src/domain/fault.ts';
import type { Store } from '../../src/domain/store.ts';
import { audit, expectFlawless, FLAWLESS, lagsOf, quantile } from '../support/delivery-audit.ts';
import { createKilledSenders } from '../support/killed-senders.ts';
import { type Receiver, TAKEN } from '../support/receiver.ts';
import { drawSeed, isFullTier, report, seeded } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { readTurns, slowdown } from '../support/turns.ts';
import { startWebhookFixture } from '../support/webhook-fixture.ts';

const LEASE_MS = 30_000;
const LEASES_MAX = 6;
const QUIET_MS = 600;
/** A hanging stop would take ten seconds. */
const STOP_MAX_MS = isFullTier ? 2_500 : 7_500;
const AT_ONCE = { max_batch_delay_ms: 0 };

type Deliveries = Store['deliveries'];

/** A store with a changed DeliveryStore. */
function wrapDeliveries(change: (deliveries: Deliveries) => Partial<Deliveries>): (store: Store) => Store {
  return (store) => ({ ...store, deliveries: { ...store.deliveries, ...change(store.deliveries) } });
}

it('a log that takes a moment to read delays no batch beyond its time', async () => {
  const slow = wrapDeliveries(({ events }) => ({
    async events(organizationNumber, range) {
      await delay(20);
      return await events(organizationNumber, range);
    },
  }));
  const fixture = await startWebhookFixture({ wrapStore: slow });
  try {
    const { id, secret } = await fixture.create(fixture.receiver.url('/slow'), { max_batch_delay_ms: 100 });
    const before = readTurns(process.pid);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push(...(await fixture.report(1)));
      await until(() => fixture.receiver.pushes.length > index);
    }
    await fixture.untilIdle(id);
    const lateMs = quantile(lagsOf(fixture.receiver.pushes), 0.5) - 100;
    expect(lateMs / slowdown(before, readTurns(process.pid))).toBeLessThanOrEqual(100);
    expectFlawless({ pushes: fixture.receiver.pushes, subscribed: ids, secrets: [secret] });
  } finally {
    await fixture.close();
  }
});

it('a clock that is set back delays no batch, although events were created later than now', async () => {
  const fixture = await startWebhookFixture();
  try {
    const { id, secret } = await fixture.create(fixture.receiver.url('/back'), { max_batch_delay_ms: 100 });
    await fixture.pass(-60_000);
    const ids = await fixture.report(3);
    await fixture.untilIdle(id, 10_000);
    expectFlawless({ pushes: fixture.receiver.pushes, subscribed: ids, secrets: [secret] });
  } finally {
    await fixture.close();
  }
});

it('a log that cannot be read is read again, although nothing new occurs', async () => {
  let failures = 0;
  const failing = wrapDeliveries(({ events }) => ({
    async events(organizationNumber, range) {
      if (failures++ === 0) throw unavailableFault('The store is away.', 1);
      return await events(organizationNumber, range);
    },
  }));
  const fixture = await startWebhookFixture({ wrapStore: failing });
  try {
    const { id, secret } = await fixture.create(fixture.receiver.url('/unread'), AT_ONCE);
    const ids = await fixture.report(1);
    await fixture.untilIdle(id, 5_000);
    expect(failures).toBeGreaterThan(1);
    expectFlawless({ pushes: fixture.receiver.pushes, subscribed: ids, secrets: [secret] });
  } finally {
    await fixture.close();
  }
});

it('what was claimed without an answer is sent when the lease is over', async () => {
  let claims = 0;
  const answerless = wrapDeliveries(({ apply }) => ({
    async apply(work, at) {
      const outcomes = await apply(work, at);
      if (work.some(({ kind }) => kind === 'advance') && claims++ === 0)
        throw unavailableFault('The store is away.', 1);
      return outcomes;
    },
  }));
  const fixture = await startWebhookFixture({ wrapStore: answerless });
  try {
    const { id, secret } = await fixture.create(fixture.receiver.url('/claimed'), AT_ONCE);
    const ids = await fixture.report(1);
    await until(async () => (await fixture.health(id)).extras.in_flight === 1);
    await delay(500);
    expect(fixture.receiver.pushes).toEqual([]);
    await fixture.pass(LEASE_MS);
    await fixture.untilIdle(id, 5_000);
    const attempts = await fixture.attempts(id);
    expect(attempts.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['success', null],
      ['retryable', 'sender_lost'],
    ]);
    expectFlawless({ pushes: fixture.receiver.pushes, subscribed: ids, secrets: [secret] });
  } finally {
    await fixture.close();
  }
});

it('an attempt that went to an earlier url says nothing about the new one', async () => {
  const fixture = await startWebhookFixture();
  fixture.receiver.react = ({ path }) => (path === '/old' ? { kind: 'answer', status: 410, delayMs: 400 } : TAKEN);
  try {
    const { id, secret } = await fixture.create(fixture.receiver.url('/old'), AT_ONCE);
    const ids = await fixture.report(1);
    await until(() => fixture.receiver.of('/old').length === 1);
    await fixture.change(id, { url: fixture.receiver.url('/new') });
    await until(async () => (await fixture.health(id)).extras.in_flight === 0);
    expect(await fixture.find(id)).toMatchObject({ status: 'active', failing_since: null, last_failure_at: null });
    expect((await fixture.attempts(id))[0]).toMatchObject({ outcome: 'retryable', response_status: 410 });
    await fixture.pass(70_000);
    await fixture.untilIdle(id);
    expect(fixture.receiver.of('/new')).toHaveLength(1);
    expectFlawless({ pushes: fixture.receiver.pushes, subscribed: ids, secrets: [secret] });
  } finally {
    await fixture.close();
  }
});

/** Fails at random, before or after the operation is done. */
function createFaults(random: () => number) {
  const faults = { share: 0, before: 0, after: 0 };
  function faulty<Args extends readonly unknown[], Answer>(verb: (...args: Args) => Promise<Answer>) {
    return async (...args: Args): Promise<Answer> => {
      const fails = random() < faults.share;
      if (fails && random() < 0.5) {
        faults.before += 1;
        throw unavailableFault('The store is away.', 1);
      }
      const answer = await verb(...args);
      if (!fails) return answer;
      faults.after += 1;
      throw unavailableFault('The store is away.', 1);
    };
  }
  const wrapStore = wrapDeliveries(({ changes, heads, events, envelopes, due, apply }) => ({
    changes: faulty(changes),
    heads: faulty(heads),
    events: faulty(events),
    envelopes: faulty(envelopes),
    due: faulty(due),
    apply: faulty(apply),
  }));
  return { faults, wrapStore };
}

/** Waits until no attempt is in progress: a clock jump during an attempt would end its lease. */
async function untilQuiet({ pushes, inProgress }: Receiver): Promise<void> {
  for (let before = -1; before !== pushes.length || inProgress() > 0; await delay(QUIET_MS)) before = pushes.length;
}

it('when the store fails for a while, nothing is lost, and deliveries resume automatically', async () => {
  const seed = drawSeed();
  const { faults, wrapStore } = createFaults(seeded(seed));
  const fixture = await startWebhookFixture({ wrapStore });
  try {
    const options = { ...AT_ONCE, max_batch_size: 3 };
    const endpoints = await Promise.all(
      ['/a', '/b', '/c'].map(async (path) => ({
        path,
        ...(await fixture.create(fixture.receiver.url(path), options)),
      })),
    );
    const ids: string[] = [];
    for (const share of [0.3, 1, 0.5]) {
      faults.share = share;
      for (let index = 0; index < 10; index += 1) {
        ids.push(...(await fixture.report(2)));
        await delay(10);
      }
    }
    faults.share = 0;
    const areIdle = async () => {
      const figures = await Promise.all(endpoints.map(({ id }) => fixture.health(id)));
      return figures.every(({ oldest_undelivered_age_ms: age }) => age === null);
    };
    // A delivery whose claim got no answer has no sender until its lease ends.
    for (let leases = 0; leases < LEASES_MAX && !(await areIdle()); leases += 1) {
      await untilQuiet(fixture.receiver);
      await fixture.pass(LEASE_MS + 1_000);
      await untilQuiet(fixture.receiver);
    }
    expect(await areIdle()).toBe(true);
    for (const { path, secret } of endpoints) {
      const found = audit({ pushes: fixture.receiver.of(path), subscribed: ids, secrets: [secret] });
      report({
        id: 'store away',
        seed,
        n: ids.length,
        lost: found.lost,
        dup: found.repeatedBatches,
        pass: found.lost === 0,
      });
      // Only a result that could not be stored in time causes a repeat.
      expect({ ...found, repeatedBatches: 0 }).toEqual(FLAWLESS);
    }
    for (const { id } of endpoints)
      expect(await fixture.find(id)).toMatchObject({ status: 'active', failing_since: null });
    expect(faults.before).toBeGreaterThan(0);
    expect(faults.after).toBeGreaterThan(0);
  } finally {
    await fixture.close();
  }
});

it('a stop lets attempts finish, breaks off those that hang, and loses nothing', async () => {
  const senders = await createKilledSenders();
  const { receiver } = senders;
  let isHanging = true;
  receiver.react = ({ path }) => {
    if (path === '/hangs' && isHanging) return { kind: 'hang' };
    return path === '/slow' ? { kind: 'answer', status: 200, delayMs: 300 } : TAKEN;
  };
  try {
    await senders.start({ SPANDREL_DRAIN_MS: '1500' });
    const slow = await senders.create(receiver.url('/slow'), AT_ONCE);
    const hangs = await senders.create(receiver.url('/hangs'), AT_ONCE);
    const ids = await senders.report(5);
    await until(() => receiver.of('/slow').length > 0 && receiver.of('/hangs').length > 0);
    const startedAtMs = performance.now();
    expect(await senders.kill('SIGTERM')).toBe(0);
    const tookMs = performance.now() - startedAtMs;
    expect(tookMs).toBeLessThan(STOP_MAX_MS);
    expect(receiver.of('/slow').every(({ status }) => status === 200)).toBe(true);
    isHanging = false;
    await senders.start();
    await senders.untilIdle(slow.id);
    await senders.untilIdle(hangs.id);
    for (const [path, { id, secret }] of [
      ['/slow', slow],
      ['/hangs', hangs],
    ] as const) {
      expectFlawless({ pushes: receiver.of(path), subscribed: ids, secrets: [secret] });
      expect(await senders.find(id)).toMatchObject({ status: 'active', failing_since: null, last_failure_at: null });
    }
    const attempts = await senders.attempts(hangs.id);
    const lost = attempts.filter(({ error }) => error === 'sender_lost');
    expect(lost.map(({ outcome }) => outcome)).toEqual(lost.map(() => 'retryable'));
    expect(lost.length).toBeGreaterThan(0);
    report({ id: 'stop', seed: 0, n: ids.length, lost: 0, dup: 0, p99: Math.round(tookMs), pass: true });
  } finally {
    await senders.close();
  }
});
