/** The work of those who deliver: each verb is one transaction or, where the housekeeping is large, a few. */

import type { Verdict } from '../../domain/delivery.ts';
import { newTest } from '../../domain/delivery-test.ts';
import { applyWork } from '../../domain/delivery-work.ts';
import { createWorkSet } from '../../domain/delivery-work-set.ts';
import type { DeliveryStore, NewTest, WebhookStore } from '../../domain/webhook-store.ts';
import type { Transact, Transaction } from '../questions.ts';
import { type SweepDone, type SweepStep, sweepDeliveries } from './sweep.ts';
import { endTests, loadWork, namesIn, writeWork } from './work-rows.ts';

type All = typeof import('../../../gen/storage/sqlite/all.ts');

/** They are the same for every store. */
export type WorkSources = Pick<All, 'endpoints' | 'endpointsDue' | 'endpointsWork' | 'endpointsChanges'>;
export type WorkQuestions = ReturnType<typeof join>;

export type TestLimit = Parameters<WebhookStore['beginTest']>[1];

/** See DeliveryStore and WebhookStore. */
export type DeliveryWork = Pick<WebhookStore, 'beginTest' | 'endTest'> & {
  applyWork: DeliveryStore['apply'];
  sweepDeliveries(step: SweepStep): Promise<SweepDone>;
};

export function createDeliveryWork(sources: WorkSources, transact: Transact): DeliveryWork {
  const questions = join(sources);
  return {
    applyWork: (work, at) =>
      transact(async (transaction) => {
        const set = createWorkSet(await loadWork(transaction, questions, { ...namesIn(work, at), hold: 'holdStates' }));
        const outcomes = applyWork(set, work, at);
        await writeWork(transaction, questions, set.changes());
        return outcomes;
      }),
    sweepDeliveries: (step) => sweepDeliveries(transact, questions, step),
    beginTest: (test: NewTest, limit: TestLimit) =>
      transact((transaction) => beginTest(transaction, questions, { test, limit })),
    endTest: ({ endpointNumber, dispatchId }: NewTest, verdict: Verdict, nowMs: number) =>
      transact(async (transaction) => {
        // A test that has ended stays as it is.
        const tests = await transaction.ask(questions.holdTest, { endpointNumber, dispatchId });
        endTests(transaction, questions, { tests, verdict, nowMs });
      }),
  };
}

function join({ endpoints, endpointsDue, endpointsWork, endpointsChanges }: WorkSources) {
  return { findChange: endpoints.findChange, ...endpointsDue, ...endpointsWork, ...endpointsChanges };
}

/** See WebhookStore.beginTest. */
async function beginTest(
  { ask, askEach, changeRows }: Transaction,
  questions: WorkQuestions,
  { test, limit }: { readonly test: NewTest; readonly limit: TestLimit },
): Promise<number | null> {
  const { endpointNumber, firedAtMs } = test;
  const { startsMax, windowMs } = limit;
  const [, [earliest], [drawn]] = await Promise.all([
    // Whoever else begins a test of the endpoint waits until this one counts.
    askEach(questions.holdStates, [endpointNumber]),
    // The oldest of those that are as many as may begin: when it has left the window, another one may.
    ask(questions.findTestStart, { endpointNumber, sinceMs: firedAtMs - windowMs, skip: startsMax - 1 }),
    ask(questions.drawDeliveryNumbers, { count: 1 }),
  ]);
  if (earliest !== undefined) return Math.max(1, earliest.firedAtMs + windowMs - firedAtMs);
  if (drawn === undefined) throw new Error('the database gives no number to a delivery');
  const { delivery, attempt } = newTest(test, drawn.first);
  changeRows(questions.insertDeliveries, [delivery]);
  changeRows(questions.insertAttempts, [attempt]);
  return null;
}
