/** A step of the housekeeping of deliveries, as the writer does it. */

import { PATIENCE_MS } from '../../domain/delivery-step.ts';
import type { SweepQuestion } from '../../domain/webhook-store.ts';
import { applyHousework, type Housework } from '../delivery/housework.ts';
import { BUCKET_MS, HOUR_MS, type WorkTables } from '../delivery/tables.ts';
import { endOfTest } from '../delivery/test-rows.ts';
import { createWorkSet } from '../delivery/work-set.ts';
import { deadReasons, deliveryStatuses, replayStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';
import type { DeliveryWrites } from './delivery-writes.ts';
import { stepOrganizations } from './organization-steps.ts';

/** `afterEndpoint`: endpoints up to this number have been looked after; null: all have. */
export type SweepStep = { readonly question: SweepQuestion; readonly afterEndpoint: number | null };

/** `next` is where the walk goes on; `isOver` at its end. */
export type SweepDone = {
  readonly next: number | null;
  readonly isOver: boolean;
  readonly disabled: readonly string[];
  readonly expired: number;
};

/** What the pieces of a step have ended. */
type Ended = { readonly disabled: string[]; expired: number };

export type SweepParts = { readonly begin: () => WorkTables; readonly writes: DeliveryWrites };

/** However many rows it may take, a step begins to end after this long. */
const STEP_TIME_MS = 15;
/** Figures are told of the last hour. */
const FIGURES_KEPT_MS = 2 * HOUR_MS;

export function prepareDeliverySweep(db: Database, { begin, writes }: SweepParts): (step: SweepStep) => SweepDone {
  const statements = prepareStatements(db);

  /** Answers how many rows it has looked after. */
  function work(pieces: readonly Housework[], nowMs: number, ended: Ended): number {
    if (pieces.length === 0) return 0;
    const set = createWorkSet(begin());
    ended.expired += applyHousework(set, pieces, nowMs);
    const changes = set.changes();
    writes.write(changes);
    for (const { number } of changes.disabled) ended.disabled.push(statements.id.get(number) ?? '');
    return pieces.length;
  }

  function findHousework(endpoint: number, { nowMs, eventsBeforeMs }: SweepQuestion, limit: number): Housework[] {
    const overSinceMs = nowMs - PATIENCE_MS;
    const givesUp = statements.over.get({ endpoint, overSinceMs, nowMs }) !== undefined;
    const archived = statements.archived.all({ endpoint, nowMs, limit });
    const expired = archived.length > 0 ? [] : statements.expired.all({ endpoint, eventsBeforeMs, limit });
    return [
      ...(givesUp ? [{ kind: 'give_up', endpointNumber: endpoint } as const] : []),
      ...archived.map((deliveryNumber) => ({ kind: 'cancel', deliveryNumber }) as const),
      ...expired.map((deliveryNumber) => ({ kind: 'expire', deliveryNumber }) as const),
    ].slice(0, limit);
  }

  function removeOld(endpoint: number, { nowMs, endedBeforeMs }: SweepQuestion, limit: number): number {
    const attempts = statements.oldAttempts.all(endpoint, endedBeforeMs, limit);
    for (const { firedAtMs, id } of attempts) statements.dropAttempt.run(endpoint, firedAtMs, id);
    const bucket = Math.floor((nowMs - FIGURES_KEPT_MS) / BUCKET_MS);
    const buckets = statements.oldFigures.all(endpoint, bucket, limit - attempts.length);
    for (const old of buckets) statements.dropFigures.run(endpoint, old);
    const removed = attempts.length + buckets.length;
    // An endpoint has few of them.
    return removed < limit ? removed + statements.dropReplays.run(endpoint, endedBeforeMs).changes : removed;
  }

  function sweepEndpoints(question: SweepQuestion, afterEndpoint: number): SweepDone {
    const endMs = performance.now() + STEP_TIME_MS;
    const ended: Ended = { disabled: [], expired: 0 };
    const { next } = stepOrganizations(
      { afterOrganization: afterEndpoint, rowsMax: question.rowsMax, isOver: () => performance.now() >= endMs },
      {
        nextOrganization: (after) => statements.nextEndpoint.get(after),
        removeOldest(endpoint, limit) {
          const done = work(findHousework(endpoint, question, limit), question.nowMs, ended);
          return done < limit ? done + removeOld(endpoint, question, limit - done) : done;
        },
      },
    );
    return { next, isOver: false, ...ended };
  }

  function sweepDeliveries({ nowMs, endedBeforeMs, rowsMax }: SweepQuestion): SweepDone {
    const tests = statements.lostTests.all(nowMs, rowsMax);
    for (const test of tests) endLostTest(test, nowMs);
    const ended = statements.ended.all(endedBeforeMs, rowsMax - tests.length);
    for (const number of ended) {
      statements.dropAttempts.run(number);
      statements.dropDelivery.run(number);
    }
    statements.dropHours.run(Math.floor(nowMs / HOUR_MS) - 1);
    return { next: null, isOver: tests.length + ended.length < rowsMax, disabled: [], expired: 0 };
  }

  function endLostTest({ number, ...attempt }: LostTest, nowMs: number): void {
    const { state, end } = endOfTest(null, nowMs);
    const reason = state.deadReason === null ? null : deadReasons.code(state.deadReason);
    statements.endTest.run(deliveryStatuses.code(state.status), nowMs, reason, end.error, number);
    writes.endAttempt({ ...attempt, ...end });
  }

  const sweep = db.transaction(({ question, afterEndpoint }: SweepStep) =>
    afterEndpoint === null ? sweepDeliveries(question) : sweepEndpoints(question, afterEndpoint),
  );
  return sweep.immediate;
}

type LostTest = {
  readonly number: number;
  readonly endpointNumber: number;
  readonly firedAtMs: number;
  readonly id: string;
};

const WAITING = [deliveryStatuses.code('queued'), deliveryStatuses.code('retrying')].join(', ');
const SENDING = deliveryStatuses.code('sending');
const RUNNING = replayStatuses.code('running');
const UNENDED = 'endpoint_number = :endpoint AND ended_at IS NULL AND test = false';

function prepareStatements(db: Database) {
  return {
    nextEndpoint: db
      .prepare<[number], number>('SELECT number FROM webhook_endpoints WHERE number > ? ORDER BY number LIMIT 1')
      .pluck(),
    id: db.prepare<[number], string>('SELECT id FROM webhook_endpoints WHERE number = ?').pluck(),
    // What is being sent, or is due, decides by its own verdict.
    over: db.prepare<{ endpoint: number; overSinceMs: number; nowMs: number }, unknown>(
      `SELECT 1 FROM webhook_states JOIN webhook_endpoints AS e ON e.number = webhook_states.endpoint_number
       WHERE webhook_states.endpoint_number = :endpoint AND failing_since <= :overSinceMs AND in_flight = 0
         AND e.status = 'active' AND e.archived_at IS NULL
         AND NOT EXISTS (
           SELECT 1 FROM webhook_deliveries AS d
           WHERE d.endpoint_number = :endpoint AND d.ended_at IS NULL AND d.test = false AND d.status IN (${WAITING})
             AND (d.run < e.run OR d.due_at <= :nowMs)
         )`,
    ),
    archived: db
      .prepare<{ endpoint: number; nowMs: number; limit: number }, number>(
        `SELECT d.number FROM webhook_endpoints AS e JOIN webhook_deliveries AS d ON d.endpoint_number = e.number
         WHERE e.number = :endpoint AND e.archived_at IS NOT NULL AND d.ended_at IS NULL AND d.test = false
           AND (d.status IN (${WAITING}) OR d.status = ${SENDING} AND d.due_at <= :nowMs)
         LIMIT :limit`,
      )
      .pluck(),
    expired: db
      .prepare<{ endpoint: number; eventsBeforeMs: number; limit: number }, number>(
        `SELECT number FROM (
           SELECT number, status FROM webhook_deliveries WHERE ${UNENDED} AND queued_at < :eventsBeforeMs
           UNION SELECT number, status FROM webhook_deliveries
           WHERE ${UNENDED} AND replay_number IS NOT NULL AND events_from < :eventsBeforeMs
         ) WHERE status IN (${WAITING}) LIMIT :limit`,
      )
      .pluck(),
    oldAttempts: db.prepare<[number, number, number], { firedAtMs: number; id: string }>(
      `SELECT fired_at AS firedAtMs, id FROM webhook_attempts
       WHERE endpoint_number = ? AND fired_at < ? ORDER BY fired_at LIMIT ?`,
    ),
    dropAttempt: db.prepare<[number, number, string]>(
      'DELETE FROM webhook_attempts WHERE endpoint_number = ? AND fired_at = ? AND id = ?',
    ),
    oldFigures: db
      .prepare<[number, number, number], number>(
        'SELECT bucket FROM webhook_figures WHERE endpoint_number = ? AND bucket < ? LIMIT ?',
      )
      .pluck(),
    dropFigures: db.prepare<[number, number]>('DELETE FROM webhook_figures WHERE endpoint_number = ? AND bucket = ?'),
    dropReplays: db.prepare<[number, number]>(
      `DELETE FROM webhook_replays WHERE endpoint_number = ? AND status <> ${RUNNING} AND completed_at < ?`,
    ),
    ended: db
      .prepare<[number, number], number>(
        'SELECT number FROM webhook_deliveries WHERE ended_at < ? ORDER BY ended_at LIMIT ?',
      )
      .pluck(),
    dropAttempts: db.prepare<[number]>('DELETE FROM webhook_attempts WHERE delivery_number = ?'),
    dropDelivery: db.prepare<[number]>('DELETE FROM webhook_deliveries WHERE number = ?'),
    dropHours: db.prepare<[number]>('DELETE FROM webhook_hours WHERE hour < ?'),
    lostTests: db.prepare<[number, number], LostTest>(
      `SELECT number, endpoint_number AS endpointNumber, last_attempt_at AS firedAtMs, attempt_id AS id
       FROM webhook_deliveries WHERE ended_at IS NULL AND test = true AND due_at < ? LIMIT ?`,
    ),
    endTest: db.prepare<(number | string | null)[]>(
      'UPDATE webhook_deliveries SET status = ?, ended_at = ?, due_at = NULL, dead_reason = ?, error = ? WHERE number = ?',
    ),
  };
}
