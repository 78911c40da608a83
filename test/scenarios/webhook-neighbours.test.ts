import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { audit, expectFlawless, FLAWLESS, lagsOf, quantile } from '../support/delivery-audit.ts';
import { type Push, type Reaction, startReceiver, TAKEN } from '../support/receiver.ts';
import { report } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { startWebhookFixture, type WebhookFixture } from '../support/webhook-fixture.ts';

const DEADLINE_MS = 10_000;
const LATE_MAX_MS = 250;
const CHANGE_MAX = 0.2;
const LOAD_MS = 20_000;
const PAUSE_MS = 10;
const WINDOW_MS = 1_200;
const WINDOWS_ALONE = 6;
const WINDOWS_BESIDE = 12;
const POISONED = 60;
const DEAD = 999;
const CREATED_AT_ONCE = 20;

function raw(serve: (response: ServerResponse) => void): Reaction {
  return { kind: 'other', serve };
}

const chunk = Buffer.alloc(16_384, 'x');

/** Writes as long as a reader runs. */
function pour(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

const HOSTILE: { readonly [name: string]: Reaction } = {
  hang: { kind: 'hang' },
  drip: raw((response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\n');
    const dripping = setInterval(() => response.socket?.write('x'), 200).unref();
    response.once('close', () => clearInterval(dripping));
  }),
  endless: raw((response) => {
    response.writeHead(500);
    pour(response);
  }),
  'reset-before': { kind: 'reset' },
  'reset-after': raw((response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('some');
    setImmediate(() => response.socket?.resetAndDestroy());
  }),
  headers: raw((response) => response.writeHead(200, { 'x-large': 'x'.repeat(100_000) }).end()),
  redirect: { kind: 'answer', status: 302, headers: { location: 'http://169.254.169.254/' } },
};

/** An event now and then, for so long. Returns their ids. */
async function load(fixture: WebhookFixture, forMs: number, pauseMs = PAUSE_MS): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const endMs = performance.now() + forMs; performance.now() < endMs; await delay(pauseMs)) {
    ids.push(...(await fixture.report(2)));
  }
  return ids;
}

it('W3: hostile receivers hold up no attempt beyond its deadline, and no neighbour', async () => {
  const fixture = await startWebhookFixture({ writer: 'in its thread' });
  fixture.receiver.react = ({ path }) => HOSTILE[path.slice(1)] ?? TAKEN;
  try {
    const healthy = await fixture.create(fixture.receiver.url('/healthy'));
    const ids: string[] = [];
    // By windows, so that a short stall of the machine spoils only one of them.
    const measure = async (windows: number) => {
      const p99s: number[] = [];
      for (let window = 0; window < windows; window += 1) {
        const before = fixture.receiver.of('/healthy').length;
        ids.push(...(await load(fixture, WINDOW_MS)));
        await fixture.untilIdle(healthy.id);
        p99s.push(quantile(lagsOf(fixture.receiver.of('/healthy').slice(before)), 0.99));
      }
      return p99s;
    };
    const alone = await measure(WINDOWS_ALONE);
    const options = { max_batch_delay_ms: 0 };
    const hostile = await Promise.all(
      Object.keys(HOSTILE).map((name) => fixture.create(fixture.receiver.url(`/${name}`), options)),
    );
    const finished = async (id: string) => (await fixture.attempts(id)).filter(({ outcome }) => outcome !== 'pending');
    const beside = await measure(WINDOWS_BESIDE);
    for (const { id } of hostile) await until(async () => (await finished(id)).length > 0);
    const attempts = (await Promise.all(hostile.map(({ id }) => finished(id)))).flat();
    const longestMs = Math.max(...attempts.map(({ latency_ms }) => latency_ms));
    await Promise.all(hostile.map(({ id }) => fixture.archive(id)));
    // The machine is no calmer before than after.
    alone.push(...(await measure(WINDOWS_ALONE)));
    const change = medianOf(beside) / medianOf(alone) - 1;
    const pass = change < CHANGE_MAX && longestMs <= DEADLINE_MS + LATE_MAX_MS;
    const figures = { alone: medianOf(alone), longestMs };
    report({ id: 'W3 neighbour', seed: 0, n: ids.length, lost: 0, p99: medianOf(beside), ...figures, pass });
    expectFlawless({ pushes: fixture.receiver.of('/healthy'), subscribed: ids, secrets: [healthy.secret] });
    expect(change).toBeLessThan(CHANGE_MAX);
    expect(longestMs).toBeLessThanOrEqual(DEADLINE_MS + LATE_MAX_MS);
    expect(attempts.filter(({ error }) => error === 'timeout').length, 'deadlines').toBeGreaterThan(0);
    for (const { error } of attempts) expect(error ?? 'timeout').toMatch(ERRORS);
  } finally {
    await fixture.close();
  }
});

function medianOf(values: readonly number[]): number {
  const ascending = values.toSorted((one, other) => one - other);
  return quantile(ascending, 0.5);
}

const ERRORS = /^(timeout|connection_reset|bad_response|HTTP \d{3}|sender_lost)$/;

it(`${DEAD} dead endpoints do not slow a healthy one`, async () => {
  const fixture = await startWebhookFixture({ writer: 'in its thread' });
  try {
    const { port, close } = await startReceiver();
    await close();
    const options = { max_batch_delay_ms: 0 };
    const dead = `http://127.0.0.1:${port}/dead`;
    // A caller has a limit of requests in progress.
    for (let made = 0; made < DEAD; made += CREATED_AT_ONCE) {
      const count = Math.min(CREATED_AT_ONCE, DEAD - made);
      await Promise.all(Array.from({ length: count }, () => fixture.create(dead, options)));
    }
    const { id, secret } = await fixture.create(fixture.receiver.url('/healthy'), options);
    const ids = await load(fixture, LOAD_MS);
    await fixture.untilIdle(id);
    const lags = lagsOf(fixture.receiver.of('/healthy'));
    const p99 = quantile(lags, 0.99);
    report({ id: `${DEAD} dead endpoints`, seed: 0, n: ids.length, lost: 0, p99, pass: p99 < 2_000 });
    expectFlawless({ pushes: fixture.receiver.of('/healthy'), subscribed: ids, secrets: [secret] });
    expect(p99).toBeLessThan(2_000);
  } finally {
    await fixture.close();
  }
});

it('fresh events pass by poisoned batches that are tried again, and by a replay', async () => {
  const fixture = await startWebhookFixture({ writer: 'in its thread' });
  let isPoisonous = true;
  const isPoisoned = ({ eventIds }: Push) => eventIds.some((each) => each.includes('poison'));
  fixture.receiver.react = (push) => ({
    kind: 'answer',
    status: isPoisonous && isPoisoned(push) ? 500 : 200,
    delayMs: 10,
  });
  const path = '/lanes';
  const { receiver } = fixture;
  try {
    const options = { max_batch_delay_ms: 0, max_batch_size: 1, max_in_flight: 2 };
    const { id, secret } = await fixture.create(receiver.url(path), options);
    const ids = [...(await fixture.report(POISONED, 'poison_'))];
    await until(async () => (await fixture.health(id)).extras.retrying === POISONED, 30_000);
    await fixture.pass(70_000);
    const from = receiver.of(path).length;
    const { replay_id: replayId } = await fixture.replay(id, { from: 0, to: 2 ** 45 });
    const fresh = await load(fixture, 1_500, 50);
    ids.push(...fresh);
    const freshPushes = () => receiver.of(path).filter(({ eventIds }) => fresh.includes(eventIds[0] ?? ''));
    await until(() => freshPushes().length >= fresh.length);
    const mixed = receiver.of(path).slice(from);
    const p99 = quantile(lagsOf(freshPushes()), 0.99);
    const retried = mixed.filter(({ attempt }) => attempt > 1).length;
    const replayed = mixed.filter((push) => push.attempt === 1 && isPoisoned(push)).length;
    report({ id: 'lanes', seed: 0, n: mixed.length, ...{ retried, replayed }, p99, pass: p99 < 2_000 });
    expect(p99).toBeLessThan(2_000);
    expect(retried, 'retries while fresh events came').toBeGreaterThan(10);
    expect(replayed, 'replayed ones while fresh events came').toBeGreaterThan(10);
    // Each poisoned event is sent twice by itself and once by the replay; a clock jump during an attempt would disturb that.
    await until(() => receiver.of(path).filter(isPoisoned).length === 3 * POISONED);
    await until(async () => (await fixture.health(id)).extras.in_flight === 0);
    isPoisonous = false;
    await fixture.pass(10 * 60_000);
    await fixture.untilIdle(id);
    expect(await fixture.replayed(id, replayId)).toMatchObject({ status: 'completed', delivered: POISONED, dead: 0 });
    expect(receiver.peakOf(path)).toBeLessThanOrEqual(2);
    const found = audit({ pushes: receiver.of(path), subscribed: ids, secrets: [secret] });
    // Once by itself, and once by the replay.
    expect(found).toEqual({ ...FLAWLESS, repeatedEvents: POISONED });
  } finally {
    await fixture.close();
  }
});
