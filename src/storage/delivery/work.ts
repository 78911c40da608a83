/** The work of those who deliver: each verb is one transaction or, where the housekeeping is large, a few. */

import type { Verdict } from '../../domain/delivery.ts';
import { newTest } from '../../domain/delivery-test.ts';
import { applyWork } from '../../domain/delivery-work.ts';
import { createWorkSet } from '../../domain/delivery-work-set.ts';
import type { DeliveryStore, NewTest, WebhookStore } from '../../domain/webhook-store.ts';
import { type Changing, type Questions, type Transact, withQuestions } from '../questions.ts';
import { type SweepDone, type SweepStep, sweepDeliveries } from './sweep.ts';
import { endTests, loadWork, namesIn, writeWork } from './work-rows.ts';

export type TestLimit = Parameters<WebhookStore['beginTest']>[1];

/** See DeliveryStore and WebhookStore. */
export type DeliveryWork = Pick<WebhookStore, 'beginTest' | 'endTest'> & {
  applyWork: DeliveryStore['apply'];
  sweepDeliveries(step: SweepStep): Promise<SweepDone>;
};

export function createDeliveryWork(questions: Questions, transactions: Transact): DeliveryWork {
  const transact = withQuestions(questions, transactions);
  return {
    applyWork: (work, at) =>
      transact(async (tx) => {
        const set = createWorkSet(await loadWork(tx, { ...namesIn(work, at), hold: 'holdStates' }));
        const outcomes = applyWork(set, work, at);
        await writeWork(tx, set.changes());
        return outcomes;
      }),
    sweepDeliveries: (step) => sweepDeliveries(transact, step),
    beginTest: (test: NewTest, limit: TestLimit) => transact((tx) => beginTest(tx, { test, limit })),
    endTest: ({ endpointNumber, dispatchId }: NewTest, verdict: Verdict, nowMs: number) =>
      transact(async (tx) => {
        // A test that has ended stays as it is.
        const tests = await tx.ask(tx.questions.endpointsWork.holdTest, { endpointNumber, dispatchId });
        endTests(tx, { tests, verdict, nowMs });
      }),
  };
}

/** See WebhookStore.beginTest. */
async function beginTest(
  { ask, askEach, changeRows, questions }: Changing,
  { test, limit }: { readonly test: NewTest; readonly limit: TestLimit },
): Promise<number | null> {
  const { endpointNumber, firedAtMs } = test;
  const { startsMax, windowMs } = limit;
  const [, [earliest], [drawn]] = await Promise.all([
    // Whoever else begins a test of the endpoint waits until this one counts.
    askEach(questions.endpointsWork.holdStates, [endpointNumber]),
    // The oldest of those that are as many as may begin: when it has left the window, another one may.
    ask(questions.endpointsWork.findTestStart, { endpointNumber, sinceMs: firedAtMs - windowMs, skip: startsMax - 1 }),
    ask(questions.endpointsWork.drawDeliveryNumbers, { count: 1 }),
  ]);
  if (earliest !== undefined) return Math.max(1, earliest.firedAtMs + windowMs - firedAtMs);
  if (drawn === undefined) throw new Error('the database gives no number to a delivery');
  const { delivery, attempt } = newTest(test, drawn.first);
  changeRows(questions.endpointsChanges.insertDeliveries, [delivery]);
  changeRows(questions.endpointsChanges.insertAttempts, [attempt]);
  return null;
}
