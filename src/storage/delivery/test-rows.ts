/** The rows of a test: one delivery with one attempt, apart from everything that counts. */

import type { DeliveryState, Verdict } from '../../domain/delivery.ts';
import type { NewTest } from '../../domain/webhook-store.ts';
import type { AttemptEnd, AttemptRow, NewDeliveryRow } from './tables.ts';

/** A test is over long before; one that is not was lost with its process. */
export const TEST_LEASE_MS = 30_000;

export function testDelivery(test: NewTest, number: number): NewDeliveryRow {
  const { firedAtMs } = test;
  return {
    number,
    endpointNumber: test.endpointNumber,
    dispatchId: test.dispatchId,
    test: true,
    eventCount: 1,
    replayNumber: null,
    counted: null,
    state: {
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
    },
    firstAttemptAtMs: firedAtMs,
    attemptId: test.attemptId,
    lastAttemptAtMs: firedAtMs,
    responseStatus: null,
    error: null,
    terminalHint: false,
    seqs: [],
    eventIds: [test.eventId],
    created: { firstMs: firedAtMs, lastMs: firedAtMs },
    queuedAtMs: firedAtMs,
    createdAtMs: firedAtMs,
  };
}

export function testAttempt(test: NewTest, deliveryNumber: number): AttemptRow {
  return {
    endpointNumber: test.endpointNumber,
    firedAtMs: test.firedAtMs,
    id: test.attemptId,
    deliveryNumber,
    attempt: 1,
    test: true,
    outcome: 'pending',
    responseStatus: null,
    latencyMs: null,
    error: null,
    responseBody: null,
    terminalHint: false,
  };
}

/** What becomes of the delivery and of its attempt. Null verdict: nothing was heard of the sender. */
export function endOfTest(
  verdict: Verdict | null,
  nowMs: number,
): { readonly state: Pick<DeliveryState, 'status' | 'endedAtMs' | 'deadReason'>; readonly end: AttemptEnd } {
  const succeeded = verdict?.kind === 'success';
  return {
    state: {
      status: succeeded ? 'delivered' : 'dead',
      endedAtMs: nowMs,
      deadReason: succeeded ? null : 'exhausted',
    },
    end: {
      outcome: succeeded ? 'success' : 'terminal',
      responseStatus: verdict?.responseStatus ?? null,
      latencyMs: verdict?.latencyMs ?? null,
      error: verdict === null ? 'sender_lost' : verdict.error,
      responseBody: verdict?.responseBody ?? null,
      terminalHint: verdict?.terminalHint ?? false,
    },
  };
}
