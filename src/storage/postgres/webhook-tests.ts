/** Test deliveries: rows like those of others, apart from everything that counts. */

import type { Verdict } from '../../domain/delivery.ts';
import type { NewTest, WebhookStore } from '../../domain/webhook-store.ts';
import { endOfTest, testAttempt, testDelivery } from '../delivery/test-rows.ts';
import { attemptOutcomes, deadReasons, deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Lane, Statement } from './connection.ts';
import { NEW_ATTEMPTS, NEW_DELIVERIES, postMany, toText } from './delivery-writes.ts';
import { inTransaction } from './transaction.ts';

type TestLimit = Parameters<WebhookStore['beginTest']>[1];

/** See WebhookStore.beginTest. */
export async function beginTest(lane: Lane, test: NewTest, limit: TestLimit): Promise<number | null> {
  const { endpointNumber, firedAtMs } = test;
  const { startsMax, windowMs } = limit;
  return await inTransaction(lane, async (transaction) => {
    const [, [earliest], [drawn]] = await Promise.all([
      // Whoever else begins a test of the endpoint waits until this one counts.
      transaction.ask(LOCK, [endpointNumber]),
      transaction.ask<{ firedAtMs: number }>(EARLIEST, [endpointNumber, firedAtMs - windowMs, startsMax - 1]),
      transaction.ask<{ number: number }>(NUMBER, []),
    ]);
    if (earliest !== undefined) return Math.max(1, earliest.firedAtMs + windowMs - firedAtMs);
    if (drawn === undefined) throw new Error('the database gives no number to a delivery');
    postMany(transaction, NEW_DELIVERIES, [testDelivery(test, drawn.number)]);
    postMany(transaction, NEW_ATTEMPTS, [testAttempt(test, drawn.number)]);
    return null;
  });
}

/** See WebhookStore.endTest. */
export async function endTest(
  lane: Lane,
  { endpointNumber, dispatchId }: NewTest,
  { verdict, nowMs }: { readonly verdict: Verdict; readonly nowMs: number },
): Promise<void> {
  await lane.ask(END, [...endValues(verdict, nowMs), endpointNumber, dispatchId]);
}

/** Ends tests that were lost with their process; at most `countMax`. Answers how many. */
export async function endLostTests(lane: Lane, nowMs: number, countMax: number): Promise<number> {
  return (await lane.ask(END_LOST, [...endValues(null, nowMs), countMax])).length;
}

function endValues(verdict: Verdict | null, nowMs: number): readonly unknown[] {
  const { state, end } = endOfTest(verdict, nowMs);
  return [
    deliveryStatuses.code(state.status),
    nowMs,
    state.deadReason === null ? null : deadReasons.code(state.deadReason),
    end.responseStatus,
    toText(end.error),
    end.terminalHint,
    attemptOutcomes.code(end.outcome),
    end.latencyMs,
    toText(end.responseBody),
  ];
}

const LOCK: Statement = {
  name: 'test-lock',
  text: 'SELECT FROM webhook_states WHERE endpoint_number = $1 FOR UPDATE',
};

// The oldest of those that are as many as may begin: when it has left the window, another one may.
const EARLIEST: Statement = {
  name: 'test-earliest',
  text: `SELECT fired_at AS "firedAtMs" FROM webhook_attempts
    WHERE endpoint_number = $1 AND fired_at > $2 AND test ORDER BY fired_at DESC OFFSET $3 LIMIT 1`,
};

const NUMBER: Statement = { name: 'test-number', text: `SELECT nextval('webhook_deliveries_number_seq') AS number` };

/** A test that has ended stays as it is. */
function endStatement(name: string, which: string): Statement {
  return {
    name,
    text: `WITH found AS (
        SELECT number FROM webhook_deliveries WHERE test AND ended_at IS NULL AND ${which}
      ), ended AS (
        UPDATE webhook_deliveries AS delivery SET status = $1, due_at = NULL, ended_at = $2, dead_reason = $3,
          response_status = $4, error = $5, terminal_hint = $6
        FROM found WHERE delivery.number = found.number
        RETURNING delivery.endpoint_number, delivery.last_attempt_at, delivery.attempt_id
      )
      UPDATE webhook_attempts AS attempt SET outcome = $7, response_status = $4, latency_ms = $8, error = $5,
        response_body = $9, terminal_hint = $6
      FROM ended WHERE attempt.endpoint_number = ended.endpoint_number
        AND attempt.fired_at = ended.last_attempt_at AND attempt.id = ended.attempt_id
      RETURNING 1`,
  };
}

const END = endStatement('test-end', 'endpoint_number = $10 AND dispatch_id = $11 FOR UPDATE');

const END_LOST = endStatement('tests-lost', 'due_at < $2 LIMIT $10 FOR UPDATE SKIP LOCKED');
