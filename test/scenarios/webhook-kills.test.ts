import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { audit } from '../support/delivery-audit.ts';
import { createKilledSenders, repeatsOf } from '../support/killed-senders.ts';
import { drawSeed, isFullTier, report, seeded } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { startLoad } from '../support/trace-sender.ts';

const KILLS = isFullTier ? 100 : 6;
const REPLAYED = isFullTier ? 50_000 : 600;
/** Enough batches that a kill hits between them. */
const REPLAYED_TOGETHER = isFullTier ? 50 : 10;
const REPLAY_KILLS = isFullTier ? 10 : 2;
/** The delay between two reports: few events should wait at a kill. */
const REPORT_PAUSE_MS = 15;
const IN_FLIGHT_MAX = 4;
const FIRST_PUSH_MAX_MS = 30_000;
const SINCE_MS = Date.now() - 60_000;
const UNTIL_MS = Date.now() + 86_400_000;

it(`W2: nothing is lost when the sender is killed ${KILLS} times, and what comes twice was under way and is the same`, async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const senders = await createKilledSenders();
  const { receiver } = senders;
  receiver.react = () => ({ kind: 'answer', status: 200, delayMs: 5 + Math.floor(random() * 60) });
  const kills: number[] = [];
  const underWay: number[] = [];
  try {
    await senders.start();
    const { id, secret } = await senders.create(receiver.url('/w2'), {
      max_batch_size: 15,
      max_batch_delay_ms: 10,
      max_in_flight: IN_FLIGHT_MAX,
    });
    for (let round = 0; round < KILLS; round += 1) {
      if (round > 0) await senders.start();
      // A report to a killed process has an unknown outcome.
      const load = startLoad(1, async () => {
        await senders.report(20, `${round}_`).catch(() => undefined);
        await delay(REPORT_PAUSE_MS);
      });
      // Even on a slow machine the kill hits while batches are sent.
      const pushed = receiver.of('/w2').length;
      await until(() => receiver.of('/w2').length > pushed, FIRST_PUSH_MAX_MS);
      await delay(random() * 150);
      underWay.push(receiver.inProgress());
      await senders.kill();
      await load.stop();
      kills.push(Date.now());
    }
    // A batch that five senders lost waits for minutes.
    await senders.endBackoff();
    await senders.start();
    await senders.untilIdle(id);
    const subscribed = (await senders.logged()).map((event) => event.id);
    const pushes = receiver.of('/w2');
    const found = audit({ pushes, subscribed, secrets: [secret] });
    const repeats = repeatsOf(pushes, kills);
    const pass = found.lost + found.altered + found.foreign === 0 && Math.max(...repeats) <= IN_FLIGHT_MAX;
    report({ id: 'W2', seed, n: subscribed.length, lost: found.lost, dup: found.repeatedBatches, pass });
    expect(found).toMatchObject({ lost: 0, foreign: 0, altered: 0, unsigned: 0, repeatedEvents: 0 });
    expect(Math.max(...repeats), `${repeats}`).toBeLessThanOrEqual(IN_FLIGHT_MAX);
    expect(repeats.at(-1), 'batches that came twice without a kill').toBe(0);
    expect(receiver.peakOf('/w2')).toBeLessThanOrEqual(2 * IN_FLIGHT_MAX);
    expect(underWay.filter((count) => count > 0).length, 'kills with sends under way').toBeGreaterThan(KILLS / 3);
    expect(found.repeatedBatches, 'batches that came twice').toBeGreaterThan(0);
    expect(await senders.find(id)).toMatchObject({ status: 'active', failing_since: null });
    expect(await senders.kill('SIGTERM')).toBe(0);
  } finally {
    await senders.close();
  }
});

it(`a replay of ${REPLAYED} events continues after ${REPLAY_KILLS} kills, sends each once, and does not delay new events`, async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const senders = await createKilledSenders();
  const { receiver } = senders;
  receiver.react = () => ({ kind: 'answer', status: 200, delayMs: 10 + Math.floor(random() * 40) });
  const kills: number[] = [];
  try {
    await senders.start();
    const old = await senders.report(REPLAYED, 'old_');
    const { id, secret } = await senders.create(receiver.url('/replay'), {
      max_batch_size: REPLAYED_TOGETHER,
      max_batch_delay_ms: 0,
      max_in_flight: IN_FLIGHT_MAX,
    });
    const { replay_id: replayId, matched } = await senders.replay(id, { from: SINCE_MS, to: UNTIL_MS });
    expect(matched).toBe(REPLAYED);
    const fresh: string[] = [];
    const progress = await senders.replayed(id, replayId).then((first) => [first]);
    const isOver = () => ['completed', 'cancelled'].includes(progress.at(-1).status);
    while (!isOver()) {
      const share = progress.at(-1).delivered / REPLAYED;
      if (kills.length < REPLAY_KILLS && share > (kills.length + 0.5) / (REPLAY_KILLS + 1)) {
        await senders.kill();
        kills.push(Date.now());
        await senders.start();
      }
      fresh.push(...(await senders.report(3, 'fresh_')));
      await delay(20);
      progress.push(await senders.replayed(id, replayId));
    }
    await senders.untilIdle(id);
    const pushes = receiver.of('/replay');
    const found = audit({ pushes, subscribed: [...old, ...fresh], secrets: [secret] });
    const falls = progress.filter((now, index) => {
      const before = progress[index - 1];
      return before !== undefined && (now.enqueued < before.enqueued || now.delivered < before.delivered);
    });
    const freshLags = pushes.flatMap(({ eventIds, createdAtMs, atMs }) =>
      eventIds.flatMap((each, index) => (each.includes('fresh_') ? [atMs - (createdAtMs[index] ?? 0)] : [])),
    );
    const p99 = freshLags.toSorted((one, other) => one - other)[Math.floor(freshLags.length * 0.99)] ?? 0;
    report({
      id: 'replay',
      seed,
      n: REPLAYED,
      lost: found.lost,
      dup: found.repeatedBatches,
      p99,
      pass: found.lost === 0,
    });
    expect(found).toMatchObject({ lost: 0, foreign: 0, altered: 0, unsigned: 0, repeatedEvents: 0 });
    expect(falls, 'progress that went back').toEqual([]);
    expect(progress.at(-1)).toMatchObject({
      status: 'completed',
      matched,
      enqueued: matched,
      delivered: matched,
      dead: 0,
    });
    const repeats = repeatsOf(pushes, kills);
    expect(Math.max(...repeats), `${repeats}`).toBeLessThanOrEqual(IN_FLIGHT_MAX);
    expect(repeats.at(-1), 'batches that came twice without a kill').toBe(0);
    expect(kills).toHaveLength(REPLAY_KILLS);
    expect(fresh.length).toBeGreaterThan(0);
  } finally {
    await senders.close();
  }
});
