/** The work of those who deliver, as the writer does it. */

import type { Verdict } from '../../domain/delivery.ts';
import type { NewTest, Work, WorkInstant, WorkOutcome } from '../../domain/webhook-store.ts';
import { applyWork } from '../delivery/apply-work.ts';
import { endOfTest, testAttempt, testDelivery } from '../delivery/test-rows.ts';
import { createWorkSet } from '../delivery/work-set.ts';
import { deadReasons, deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';
import { prepareDeliverySweep, type SweepDone, type SweepStep } from './delivery-sweep.ts';
import { prepareDeliveryTables } from './delivery-tables.ts';
import { prepareDeliveryWrites } from './delivery-writes.ts';

export type TestLimit = { readonly startsMax: number; readonly windowMs: number };

/** See DeliveryStore and WebhookStore. */
export type DeliveryVerbs = {
  applyWork(work: readonly Work[], at: WorkInstant): Promise<readonly WorkOutcome[]>;
  sweepDeliveries(step: SweepStep): Promise<SweepDone>;
  beginTest(test: NewTest, limit: TestLimit): Promise<number | null>;
  endTest(test: NewTest, verdict: Verdict, nowMs: number): Promise<void>;
};

type Inline<Verb> = Verb extends (...args: infer Args) => Promise<infer Answer> ? (...args: Args) => Answer : never;

/** The same verbs, each one a transaction that has ended when it answers. */
export type DeliveryWork = { readonly [Verb in keyof DeliveryVerbs]: Inline<DeliveryVerbs[Verb]> };

export function prepareDeliveryWork(db: Database): DeliveryWork {
  const parts = { begin: prepareDeliveryTables(db), writes: prepareDeliveryWrites(db) };
  const { begin, writes } = parts;
  const tests = prepareTests(db);

  const apply = db.transaction((work: readonly Work[], at: WorkInstant) => {
    const set = createWorkSet(begin());
    const outcomes = applyWork(set, work, at);
    writes.write(set.changes());
    return outcomes;
  });

  const beginTest = db.transaction((test: NewTest, { startsMax, windowMs }: TestLimit): number | null => {
    const { endpointNumber, firedAtMs } = test;
    // The oldest of those that are as many as may begin: when it has left the window, another one may.
    const firstMs = tests.start.get(endpointNumber, firedAtMs - windowMs, startsMax - 1);
    if (firstMs !== undefined) return Math.max(1, firstMs + windowMs - firedAtMs);
    const number = begin().nextDeliveryNumber();
    writes.insertDelivery(testDelivery(test, number));
    writes.insertAttempt(testAttempt(test, number));
    return null;
  });

  const endTest = db.transaction((test: NewTest, verdict: Verdict, nowMs: number): void => {
    const { endpointNumber, firedAtMs, attemptId } = test;
    const { state, end } = endOfTest(verdict, nowMs);
    const { responseStatus, error, terminalHint } = end;
    const ended = tests.end.run(
      deliveryStatuses.code(state.status),
      nowMs,
      state.deadReason === null ? null : deadReasons.code(state.deadReason),
      responseStatus,
      error,
      Number(terminalHint),
      endpointNumber,
      test.dispatchId,
    );
    if (ended.changes > 0) writes.endAttempt({ ...end, endpointNumber, firedAtMs, id: attemptId });
  });

  return {
    applyWork: apply.immediate,
    sweepDeliveries: prepareDeliverySweep(db, parts),
    beginTest: beginTest.immediate,
    endTest: endTest.immediate,
  };
}

function prepareTests(db: Database) {
  return {
    start: db
      .prepare<[number, number, number], number>(
        `SELECT fired_at FROM webhook_attempts
         WHERE endpoint_number = ? AND test = true AND fired_at > ? ORDER BY fired_at DESC LIMIT 1 OFFSET ?`,
      )
      .pluck(),
    end: db.prepare<(number | string | null)[]>(
      `UPDATE webhook_deliveries SET status = ?, ended_at = ?, due_at = NULL, dead_reason = ?, response_status = ?,
         error = ?, terminal_hint = ?
       WHERE endpoint_number = ? AND dispatch_id = ? AND test = true AND ended_at IS NULL`,
    ),
  };
}
