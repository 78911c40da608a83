/** The rows of endpoint tests: one delivery with one attempt each, which no counter includes. */

import type { Verdict } from './delivery.ts';
import { LOST_ATTEMPT, NO_REPORT } from './delivery-end.ts';
import type { AttemptRow, DeliveryRow, EndedAttempt, NewDeliveryRow } from './delivery-rows.ts';
import type { NewTest } from './webhook-store.ts';

/** A test ends much earlier. One that reaches the end of its lease was lost with its process. */
const TEST_LEASE_MS = 30_000;

export function newTest(test: NewTest, number: number): { delivery: NewDeliveryRow; attempt: AttemptRow } {
  return { delivery: toDelivery(test, number), attempt: toAttempt(test, number) };
}

type TestEnding = {
  /** Null: the sender was lost. */
  readonly verdict: Verdict | null;
  readonly nowMs: number;
};

export function endOfTest(
  test: DeliveryRow,
  { verdict, nowMs }: TestEnding,
): { delivery: DeliveryRow; attempt: EndedAttempt } {
  const succeeded = verdict?.kind === 'success';
  const { responseStatus, latencyMs, error, responseBody, terminalHint } = verdict ?? LOST_ATTEMPT;
  const end = { responseStatus, error, terminalHint };
  const { endpointNumber, lastAttemptAtMs, attemptId } = test;
  return {
    delivery: {
      ...test,
      ...end,
      status: succeeded ? 'delivered' : 'dead',
      deadReason: succeeded ? null : 'exhausted',
      dueAtMs: null,
      endedAtMs: nowMs,
    },
    attempt: {
      ...end,
      endpointNumber,
      firedAtMs: lastAttemptAtMs ?? 0,
      id: attemptId ?? '',
      outcome: succeeded ? 'success' : 'terminal',
      latencyMs,
      responseBody,
    },
  };
}

function toDelivery({ endpointNumber, dispatchId, attemptId, eventId, firedAtMs }: NewTest, number: number) {
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
    backoffStartedAtMs: firedAtMs,
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
    seqs: [],
    eventIds: [eventId],
    eventsFromMs: firedAtMs,
    eventsToMs: firedAtMs,
    queuedAtMs: firedAtMs,
    createdAtMs: firedAtMs,
  } as const satisfies NewDeliveryRow;
}

function toAttempt({ endpointNumber, firedAtMs, attemptId }: NewTest, deliveryNumber: number) {
  return {
    endpointNumber,
    firedAtMs,
    id: attemptId,
    deliveryNumber,
    attempt: 1,
    test: true,
    outcome: 'pending',
    ...NO_REPORT,
  } as const satisfies AttemptRow;
}
