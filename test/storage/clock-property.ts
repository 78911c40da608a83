/**
 * Clocks that jump ahead and back while a store is written to, and processes that start again meanwhile. The harm that a
 * wrong clock does must end with it.
 */

import { expect } from 'vitest';
import type { DispatchEndpoint } from '../../src/domain/delivery/webhook-store.ts';
import { createRetentionClock, type RetentionClock } from '../../src/domain/management/retention-clock.ts';
import { createRetention } from '../../src/domain/retention.ts';
import { erasedBeforeMs } from '../../src/domain/retention-terms.ts';
import { drawSeed, report, runsOf, seeded } from '../support/scenario.ts';
import { ORGANIZATION, PROJECT, randomHex, sampleAppend, sampleRequest } from './conformance/samples.ts';
import type { Subject } from './conformance/subject.ts';
import { FAILURE, type Harness, MINUTE_MS, SUCCESS, withHarness } from './conformance/webhook-harness.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STEPS = 60;
const PAGE = 7;
/** Less in all than the day after which a clock counts as right, however wrong it is. */
const STEP_MAX_MS = 20 * MINUTE_MS;

/** `setClock` sets the clock that dates events. */
export type ClockSubject = Subject & { setClock(nowMs: number): void | Promise<void> };

export async function expectHarmlessClocks(open: () => Promise<ClockSubject>): Promise<void> {
  const seed = drawSeed();
  const runs = runsOf(30);
  for (let run = 0; run < runs; run += 1) {
    const subject = await open();
    await withHarness(
      async () => subject,
      (harness) => runOnce(harness, { setClock: subject.setClock, random: seeded(seed + run) }),
    )();
  }
  report({ id: 'random clocks', seed, n: runs * STEPS, pass: true });
}

type Run = { readonly setClock: ClockSubject['setClock']; readonly random: () => number };

async function runOnce(harness: Harness, { setClock, random }: Run): Promise<void> {
  const { store } = harness;
  /** How many spans each trace has. */
  const traces = new Map<string, number>();
  const eventIds: string[] = [];
  const deliveries: { readonly endpoint: DispatchEndpoint; readonly dispatchId: string }[] = [];
  let trueMs = Date.now();
  let wrongByMs = 0;
  let passedMs = 0;
  const nowMs = () => trueMs + wrongByMs;
  const draw = (max: number) => Math.floor(random() * max);
  let clock = await start();

  async function start(): Promise<RetentionClock> {
    const log = { warn: () => undefined, info: () => undefined };
    const begun = createRetentionClock({ store: store.clock, clock: nowMs, monotonicMs: () => passedMs, log });
    await begun.check();
    return begun;
  }

  async function pass(ms: number): Promise<void> {
    trueMs += ms;
    passedMs += ms;
    await setClock(nowMs());
  }

  async function append(): Promise<void> {
    // One each: an endpoint that fails before and after a jump of three days is disabled, as after a long stop.
    const endpoint = await harness.addEndpoint();
    const gatewayRequestId = `gw-${randomHex(12)}`;
    const sent = sampleAppend({ receivedAtMs: nowMs(), requests: [sampleRequest({ gatewayRequestId })] });
    await store.traces.append(sent);
    traces.set(sent.traceId, sent.spans.length);
    eventIds.push(`${gatewayRequestId}:completed`);
    const [entry, ...others] = await store.deliveries.events(harness.organizationNumber, {
      afterSeq: eventIds.length - 1,
      limit: 1,
    });
    expect([entry?.seq, others.length], 'the position of the event').toEqual([eventIds.length, 0]);
    expect(entry?.createdAtMs, 'ahead of the clock').toBeLessThanOrEqual(nowMs() + MINUTE_MS);
    if (entry === undefined) return;
    const claimed = await harness.send(await harness.read(endpoint.id), [entry], nowMs());
    deliveries.push({ endpoint, dispatchId: claimed.dispatchId });
    await harness.finish(endpoint, claimed, random() < 0.5 ? SUCCESS : FAILURE, nowMs());
  }

  /** A late span, for which a trace past its term gives way. */
  async function extend(): Promise<void> {
    const [traceId, spans] = [...traces].at(draw(traces.size)) ?? [];
    if (traceId === undefined || spans === undefined) return;
    const term = { traceDefaultDays: 30, retentionNowMs: clock.nowMs };
    const expiredBeforeMs = erasedBeforeMs(term, { traceRetentionDays: null });
    await store.traces.append(sampleAppend({ traceId, receivedAtMs: nowMs(), expiredBeforeMs, requests: [] }));
    traces.set(traceId, spans + 1);
  }

  async function removeOld(): Promise<void> {
    const retention = createRetention({
      store,
      clock,
      traceDefaultDays: 30,
      auditDays: 30,
      pause: async () => undefined,
    });
    await retention.run(new AbortController().signal);
    const oldMs = Math.min(nowMs(), clock.nowMs()) - 30 * DAY_MS;
    await maintain(harness, { nowMs: nowMs(), endedBeforeMs: oldMs });
  }

  const steps = [
    append,
    append,
    extend,
    () => pass(draw(STEP_MAX_MS)),
    async () => {
      wrongByMs = DAY_MS + HOUR_MS + draw(500 * DAY_MS);
      await pass(0);
    },
    async () => {
      wrongByMs = -draw(10 * DAY_MS);
      await pass(0);
    },
    async () => {
      wrongByMs = 0;
      await pass(0);
    },
    async () => {
      clock = await start();
    },
    removeOld,
  ];
  await pass(0);
  for (let step = 0; step < STEPS; step += 1) {
    await steps[draw(steps.length)]?.();
    await clock.check();
  }
  wrongByMs = 0;
  await pass(MINUTE_MS);
  await clock.check();
  await removeOld();
  for (const [traceId, spanCount] of traces) {
    expect(await store.traces.find(PROJECT.number, traceId)).toMatchObject({ spanCount });
  }
  expect((await walk(harness)).toSorted()).toEqual(eventIds.toSorted());
  for (const { endpoint, dispatchId } of deliveries) {
    const { status, failures, dueAtMs, attempt } = await harness.delivery(endpoint, dispatchId);
    if (status === 'delivered') continue;
    expect([status, failures, attempt]).toEqual(['retrying', 1, 1]);
    expect(dueAtMs, 'the wait for the second attempt').toBeLessThanOrEqual(nowMs() + 2 * MINUTE_MS);
  }
}

/** The ids of all events, read page by page. */
async function walk({ store }: Harness): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: { createdAtMs: number; id: string } | null = null; ; ) {
    const range = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER - 1, type: null };
    const page = await store.events.list({ ...range, after, limit: PAGE });
    ids.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (last === undefined) return ids;
    after = last;
  }
}

async function maintain({ store }: Harness, at: { nowMs: number; endedBeforeMs: number }): Promise<void> {
  const query = { ...at, eventsBeforeMs: 0, rowsMax: 500 };
  while ((await store.deliveries.maintain(query)).more);
}
