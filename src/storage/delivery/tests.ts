/** Tests of endpoints: one delivery with one attempt each, apart from everything that counts. */

import type { Verdict } from '../../domain/delivery.ts';
import type { NewTest } from '../../domain/webhook-store.ts';
import type { Transaction } from '../questions.ts';
import type { AttemptRow, NewDelivery, WorkDelivery } from './tables.ts';
import type { TestLimit, WorkQuestions } from './work.ts';

/** A test is over long before; one that is not was lost with its process. */
const TEST_LEASE_MS = 30_000;

/** See WebhookStore.beginTest. */
export async function beginTest(
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
  changeRows(questions.insertDeliveries, [testDelivery(test, drawn.first)]);
  changeRows(questions.insertAttempts, [testAttempt(test, drawn.first)]);
  return null;
}

/** Ends tests that have not ended. Null verdict: nothing was heard of the sender. */
export function endTests(
  { changeRows }: Transaction,
  questions: WorkQuestions,
  {
    tests,
    verdict,
    nowMs,
  }: {
    readonly tests: readonly WorkDelivery[];
    readonly verdict: Verdict | null;
    readonly nowMs: number;
  },
): void {
  const succeeded = verdict?.kind === 'success';
  const { responseStatus = null, latencyMs = null, responseBody = null, terminalHint = false } = verdict ?? {};
  const error = verdict === null ? 'sender_lost' : verdict.error;
  const end = { responseStatus, error, terminalHint };
  changeRows(
    questions.updateDeliveries,
    tests.map((test) => ({
      ...test,
      ...end,
      status: succeeded ? 'delivered' : 'dead',
      deadReason: succeeded ? null : 'exhausted',
      dueAtMs: null,
      endedAtMs: nowMs,
    })),
  );
  const outcome = succeeded ? 'success' : 'terminal';
  changeRows(
    questions.endAttempts,
    tests.map(({ endpointNumber, lastAttemptAtMs, attemptId }) => ({
      ...end,
      endpointNumber,
      firedAtMs: lastAttemptAtMs ?? 0,
      id: attemptId ?? '',
      outcome,
      latencyMs,
      responseBody,
    })),
  );
}

function testDelivery({ endpointNumber, dispatchId, attemptId, eventId, firedAtMs }: NewTest, number: number) {
  return {
    number,
    endpointNumber,
    dispatchId,
    test: true,
    eventCount: 1,
    replayNumber: null,
    counted: null,
    status: 'sending',
    attempt: 1,
    failures: 0,
    lost: 0,
    ladderStartedAtMs: firedAtMs,
    run: 0,
    fence: 1,
    dueAtMs: firedAtMs + TEST_LEASE_MS,
    endedAtMs: null,
    deadReason: null,
    firstAttemptAtMs: firedAtMs,
    attemptId,
    lastAttemptAtMs: firedAtMs,
    responseStatus: null,
    error: null,
    terminalHint: false,
    seqsJson: '[]',
    eventIdsJson: JSON.stringify([eventId]),
    eventsFromMs: firedAtMs,
    eventsToMs: firedAtMs,
    queuedAtMs: firedAtMs,
    createdAtMs: firedAtMs,
  } as const satisfies NewDelivery;
}

function testAttempt({ endpointNumber, firedAtMs, attemptId }: NewTest, deliveryNumber: number) {
  return {
    endpointNumber,
    firedAtMs,
    id: attemptId,
    deliveryNumber,
    attempt: 1,
    test: true,
    outcome: 'pending',
    responseStatus: null,
    latencyMs: null,
    error: null,
    responseBody: null,
    terminalHint: false,
  } as const satisfies AttemptRow;
}
