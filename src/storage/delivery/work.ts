/** The operations of dispatchers and senders: each is one transaction, or a few for large maintenance. */

import { AHEAD_MAX_MS } from '../../domain/clock.ts';
import type { Verdict } from '../../domain/delivery/delivery.ts';
import { applyMaintenance, type MaintenanceItem } from '../../domain/delivery/delivery-maintenance.ts';
import { BUCKET_MS, HOUR_MS } from '../../domain/delivery/delivery-rows.ts';
import { DELAY_MAX_MS, LEASE_MS, RETRY_WINDOW_MS } from '../../domain/delivery/delivery-step.ts';
import { newTest } from '../../domain/delivery/delivery-test.ts';
import { applyWork } from '../../domain/delivery/delivery-work.ts';
import { createLoadedRows } from '../../domain/delivery/loaded-rows.ts';
import type {
  ApplyOptions,
  DeliveryStore,
  MaintenanceRequest,
  MaintenanceResult,
  NewTest,
  WebhookLog,
  WorkItem,
} from '../../domain/delivery/webhook-store.ts';
import type { Transact, Transaction } from '../transaction.ts';
import { endTests, keysOf, loadWork, newIdsOf, type RowKeys, writeWork } from './work-rows.ts';

type TestLimit = Parameters<WebhookLog['beginTest']>[1];

/** See DeliveryStore and WebhookLog. */
export type DeliveryWork = Pick<WebhookLog, 'beginTest' | 'endTest'> & {
  applyWork: DeliveryStore['apply'];
  maintainDeliveries(step: MaintenanceStep): Promise<MaintenanceDone>;
};

/** `isConflict` tells whether the key of an inserted row exists. */
export function createDeliveryWork(transact: Transact, isConflict: (error: unknown) => boolean): DeliveryWork {
  const apply = (work: readonly WorkItem[], at: ApplyOptions, newIds: RowKeys['newIds']) =>
    transact(async (tx) => {
      const rows = createLoadedRows(await loadWork(tx, { ...keysOf(work, at), newIds, lock: 'lockStates' }));
      const outcomes = applyWork(rows, work, at);
      await writeWork(tx, rows.changes());
      return outcomes;
    });
  return {
    async applyWork(work, at) {
      try {
        return await apply(work, at, []);
      } catch (error) {
        if (!isConflict(error)) throw error;
        // The id of a delivery is a short digest of ids that a tenant chooses, so two can be equal. Only then are ids looked up.
        return await apply(work, at, newIdsOf(work));
      }
    },
    maintainDeliveries: (step) => maintainDeliveries(transact, step),
    beginTest: (test: NewTest, limit: TestLimit) => transact((tx) => beginTest(tx, { test, limit })),
    endTest: ({ endpointNumber, dispatchId }: NewTest, verdict: Verdict, nowMs: number) =>
      transact(async (tx) => {
        // Ended tests stay unchanged.
        const tests = await tx.runQuery(tx.queries.endpointsWork.lockTest, { endpointNumber, dispatchId });
        endTests(tx, { tests, verdict, nowMs });
      }),
  };
}

/** See WebhookLog.beginTest. */
async function beginTest(
  { runQuery, queryByNumbers, changeRows, queries }: Transaction,
  { test, limit }: { readonly test: NewTest; readonly limit: TestLimit },
): Promise<number | null> {
  const { endpointNumber, firedAtMs } = test;
  const { startsMax, windowMs } = limit;
  const [, [earliest], [drawn]] = await Promise.all([
    // Other tests of the endpoint wait until this one is counted.
    queryByNumbers(queries.endpointsWork.lockStates, [endpointNumber]),
    // The start of the oldest test that fills the limit: once it leaves the window, another test may start.
    runQuery(queries.endpointsWork.findTestStart, {
      endpointNumber,
      sinceMs: firedAtMs - windowMs,
      // Later ones began by a clock that was ahead.
      untilMs: firedAtMs + AHEAD_MAX_MS,
      skip: startsMax - 1,
    }),
    runQuery(queries.endpointsWork.drawDeliveryNumbers, { count: 1 }),
  ]);
  if (earliest !== undefined) return Math.max(1, earliest.firedAtMs + windowMs - firedAtMs);
  if (drawn === undefined) throw new Error('the database drew no number for a delivery');
  const { delivery, attempt } = newTest(test, drawn.first);
  changeRows(queries.endpointsChanges.insertDeliveries, [delivery]);
  changeRows(queries.endpointsChanges.insertAttempts, [attempt]);
  return null;
}

/** Continues after the endpoint `afterEndpoint`; null: all endpoints are done. */
type MaintenanceStep = { readonly query: MaintenanceRequest; readonly afterEndpoint: number | null };

/** Where the walk continues; `isOver` at its end. */
type MaintenanceDone = Omit<MaintenanceResult, 'more'> & {
  readonly next: number | null;
  readonly isOver: boolean;
};

/** Figures cover the last hour. */
const FIGURES_KEPT_MS = 2 * HOUR_MS;

/**
 * Maintenance visits all endpoints in batches, then ended deliveries. Several processes may run it; rows that
 * another transaction has locked are left to the next run.
 */
async function maintainDeliveries(
  transact: Transact,
  { query, afterEndpoint: after }: MaintenanceStep,
): Promise<MaintenanceDone> {
  if (after === null) {
    const isFull = await transact((tx) => removeEnded(tx, query));
    return { next: isFull ? null : 0, isOver: !isFull, disabled: [], expired: 0 };
  }
  const { rowsMax } = query;
  const { numbers, found, done, ...ended } = await transact((tx) => maintainEndpoints(tx, { query, after }));
  const last = numbers.at(-1) ?? after;
  // Rows that other transactions have locked may stay locked, so a step that changed nothing does not repeat.
  const isFull =
    (found === rowsMax && done > 0) ||
    (await transact((tx) => removeOld(tx, { query, after, last, limit: rowsMax - done })));
  const next = numbers.length < rowsMax ? null : last;
  return { next: isFull ? after : next, isOver: false, ...ended };
}

type Walk = { readonly query: MaintenanceRequest; readonly after: number };

async function maintainEndpoints(tx: Transaction, { query, after }: Walk) {
  const { runQuery, queries } = tx;
  const { nowMs, eventsBeforeMs, rowsMax: limit } = query;
  const numbers = (await runQuery(queries.endpointsDue.listNumbers, { after, limit })).map(({ number }) => number);
  const range = { after, last: numbers.at(-1) ?? after, limit };
  const expiredRange = { ...range, beforeMs: eventsBeforeMs };
  const clockRange = { ...range, nowMs, aheadMs: nowMs + AHEAD_MAX_MS };
  const [givenUp, cancelled, expired, replayed, attemptedAhead, dueAhead] = await Promise.all([
    runQuery(queries.endpointsDue.listFailing, { ...range, beforeMs: nowMs - RETRY_WINDOW_MS, nowMs }),
    runQuery(queries.endpointsDue.listCancelled, { ...range, nowMs }),
    runQuery(queries.endpointsDue.listExpired, expiredRange),
    runQuery(queries.endpointsDue.listExpiredReplayed, expiredRange),
    runQuery(queries.endpointsAhead.listAttemptedAhead, clockRange),
    runQuery(queries.endpointsAhead.listDueAhead, {
      ...clockRange,
      retryMaxMs: clockRange.aheadMs + DELAY_MAX_MS,
      leaseMaxMs: clockRange.aheadMs + LEASE_MS,
    }),
  ]);
  const ahead = [...new Map([...attemptedAhead, ...dueAhead].map((each) => [each.number, each])).values()];
  const found: readonly MaintenanceItem[] = [
    ...givenUp.map((endpoint) => ({ kind: 'give_up', ...endpoint }) as const),
    ...cancelled.map((delivery) => ({ kind: 'cancel', ...delivery }) as const),
    ...[...expired, ...replayed].map((delivery) => ({ kind: 'expire', ...delivery }) as const),
    ...ahead.map((delivery) => ({ kind: 'correct', ...delivery }) as const),
  ].slice(0, limit);
  if (found.length === 0) return { numbers, found: 0, done: 0, disabled: [], expired: 0 };
  const rows = createLoadedRows(
    await loadWork(tx, {
      lock: 'lockAvailableStates',
      endpoints: [...new Set(found.map(({ endpointNumber }) => endpointNumber))],
      deliveries: [...new Set(found.flatMap((item) => (item.kind === 'give_up' ? [] : [item.number])))],
      claimed: [],
      replays: [],
      newIds: [],
      batches: 0,
      hour: null,
    }),
  );
  const locked = found.filter(({ endpointNumber }) => rows.endpoint(endpointNumber) !== undefined);
  const expiredCount = applyMaintenance(rows, locked, nowMs);
  const changes = rows.changes();
  await writeWork(tx, changes);
  if (ahead.length > 0) {
    const { aheadMs } = clockRange;
    const endpoints = [...new Set(locked.map(({ endpointNumber }) => endpointNumber))];
    await tx.change(queries.endpointsAhead.correctQueuedAt, { numbers: endpoints, nowMs, aheadMs });
  }
  const disabled = changes.disabled.map(({ id }) => id);
  return { numbers, found: found.length, done: locked.length, disabled, expired: expiredCount };
}

type Range = Walk & { readonly last: number; readonly limit: number };

/** Returns whether more rows may be left. */
async function removeOld(tx: Transaction, { query, ...range }: Range) {
  const { runQuery, changeRows, queries } = tx;
  const beforeMs = query.endedBeforeMs;
  const beforeBucket = Math.floor((query.nowMs - FIGURES_KEPT_MS) / BUCKET_MS);
  const attempts = await runQuery(queries.endpointsDue.listOldAttempts, { ...range, beforeMs });
  const figures = await runQuery(queries.endpointsDue.listOldFigures, { ...range, beforeBucket });
  const replays = await runQuery(queries.endpointsDue.listOldReplays, { ...range, beforeMs });
  changeRows(queries.endpointsDue.dropAttempts, attempts);
  changeRows(queries.endpointsDue.dropFigures, figures.slice(0, range.limit - attempts.length));
  changeRows(
    queries.endpointsDue.dropReplays,
    replays.slice(0, Math.max(0, range.limit - attempts.length - figures.length)),
  );
  return attempts.length + figures.length + replays.length >= range.limit;
}

/** Returns whether more rows may be left. */
async function removeEnded(tx: Transaction, query: MaintenanceRequest): Promise<boolean> {
  const { runQuery, change, changeRows, queries } = tx;
  const { nowMs, endedBeforeMs: beforeMs, rowsMax } = query;
  const [tests, ended] = await Promise.all([
    runQuery(queries.endpointsWork.lockLostTests, { nowMs, limit: rowsMax }),
    runQuery(queries.endpointsDue.lockEnded, { beforeMs, limit: rowsMax }),
  ]);
  endTests(tx, { tests, verdict: null, nowMs });
  const removable = ended.slice(0, rowsMax - tests.length);
  changeRows(queries.endpointsDue.dropAttemptsOf, removable);
  changeRows(queries.endpointsDue.dropDeliveries, removable);
  await change(queries.endpointsDue.dropHours, { hour: Math.floor(nowMs / HOUR_MS) - 1 });
  return tests.length + removable.length === rowsMax;
}
