/** The operations of dispatchers and senders: each is one transaction, or a few for large maintenance. */

import type { Verdict } from '../../domain/delivery/delivery.ts';
import { newTest } from '../../domain/delivery/delivery-test.ts';
import { applyWork } from '../../domain/delivery/delivery-work.ts';
import { createLoadedRows } from '../../domain/delivery/loaded-rows.ts';
import type { DeliveryStore, NewTest, WebhookStore } from '../../domain/delivery/webhook-store.ts';
import type { Transact, Transaction } from '../queries.ts';
import { type MaintenanceDone, type MaintenanceStep, maintainDeliveries } from './maintenance.ts';
import { endTests, keysOf, loadWork, writeWork } from './work-rows.ts';

export type TestLimit = Parameters<WebhookStore['beginTest']>[1];

/** See DeliveryStore and WebhookStore. */
export type DeliveryWork = Pick<WebhookStore, 'beginTest' | 'endTest'> & {
  applyWork: DeliveryStore['apply'];
  maintainDeliveries(step: MaintenanceStep): Promise<MaintenanceDone>;
};

export function createDeliveryWork(transact: Transact): DeliveryWork {
  return {
    applyWork: (work, at) =>
      transact(async (tx) => {
        const rows = createLoadedRows(await loadWork(tx, { ...keysOf(work, at), hold: 'holdStates' }));
        const outcomes = applyWork(rows, work, at);
        await writeWork(tx, rows.changes());
        return outcomes;
      }),
    maintainDeliveries: (step) => maintainDeliveries(transact, step),
    beginTest: (test: NewTest, limit: TestLimit) => transact((tx) => beginTest(tx, { test, limit })),
    endTest: ({ endpointNumber, dispatchId }: NewTest, verdict: Verdict, nowMs: number) =>
      transact(async (tx) => {
        // Ended tests stay unchanged.
        const tests = await tx.runQuery(tx.queries.endpointsWork.holdTest, { endpointNumber, dispatchId });
        endTests(tx, { tests, verdict, nowMs });
      }),
  };
}

/** See WebhookStore.beginTest. */
async function beginTest(
  { runQuery, queryByNumbers, changeRows, queries }: Transaction,
  { test, limit }: { readonly test: NewTest; readonly limit: TestLimit },
): Promise<number | null> {
  const { endpointNumber, firedAtMs } = test;
  const { startsMax, windowMs } = limit;
  const [, [earliest], [drawn]] = await Promise.all([
    // Other tests of the endpoint wait until this one is counted.
    queryByNumbers(queries.endpointsWork.holdStates, [endpointNumber]),
    // The start of the oldest test that fills the limit: once it leaves the window, another test may start.
    runQuery(queries.endpointsWork.findTestStart, {
      endpointNumber,
      sinceMs: firedAtMs - windowMs,
      skip: startsMax - 1,
    }),
    runQuery(queries.endpointsWork.drawDeliveryNumbers, { count: 1 }),
  ]);
  if (earliest !== undefined) return Math.max(1, earliest.firedAtMs + windowMs - firedAtMs);
  if (drawn === undefined) throw new Error('the database gives no number to a delivery');
  const { delivery, attempt } = newTest(test, drawn.first);
  changeRows(queries.endpointsChanges.insertDeliveries, [delivery]);
  changeRows(queries.endpointsChanges.insertAttempts, [attempt]);
  return null;
}
