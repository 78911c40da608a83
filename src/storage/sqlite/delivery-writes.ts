/** Writes what a transaction of work about deliveries has changed. */

import type { Subscription } from '../../domain/endpoint.ts';
import {
  type AttemptEnd,
  type AttemptKey,
  type AttemptRow,
  changeSubscriptions,
  type NewDeliveryRow,
  type WorkChanges,
  type WorkDelivery,
  type WorkEndpoint,
  type WorkReplay,
} from '../delivery/tables.ts';
import { attemptOutcomes, deadReasons, deliveryStatuses, replayCounts, replayStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';

export type DeliveryWrites = {
  /** Inside a transaction. */
  write(changes: WorkChanges): void;
  insertDelivery(delivery: NewDeliveryRow): void;
  insertAttempt(attempt: AttemptRow): void;
  endAttempt(attempt: AttemptKey & AttemptEnd): void;
  /** The next number of a change of endpoints. */
  nextChange(): number;
};

export function prepareDeliveryWrites(db: Database): DeliveryWrites {
  const statements = prepareStatements(db);

  function storeState(endpoint: WorkEndpoint, subscriptions: readonly Subscription[]): void {
    const { failingSinceMs, lastSuccessAtMs, lastFailureAtMs, consecutiveFailures } = endpoint.state;
    const streak = [failingSinceMs, lastSuccessAtMs, lastFailureAtMs, consecutiveFailures];
    const { position, inFlight, number } = endpoint;
    statements.state.run(position, inFlight, JSON.stringify(subscriptions), ...streak, number);
  }

  function disable({ state, version, number }: WorkEndpoint, change: number): void {
    const { status, disabledReason, disabledAtMs } = state;
    statements.disable.run(status, disabledReason, disabledAtMs, disabledAtMs, version, change, number);
  }

  function nextChange(): number {
    const number = statements.change.get();
    if (number === undefined) throw new Error('the row that counts changes of endpoints is missing');
    return number;
  }

  function storeEndpoints({ states, disabled }: WorkChanges): void {
    const silenced = new Set(disabled);
    const change = disabled.length > 0 ? nextChange() : 0;
    for (const endpoint of states) {
      const isSilenced = silenced.has(endpoint);
      const head = isSilenced ? (statements.head.get(endpoint.organizationNumber) ?? 0) : 0;
      storeState(endpoint, isSilenced ? changeSubscriptions(endpoint.subscriptions, head, 0) : endpoint.subscriptions);
      if (isSilenced) disable(endpoint, change);
    }
  }

  const insertDelivery = (delivery: NewDeliveryRow): void => void statements.insert.run(...newCells(delivery));
  const insertAttempt = (attempt: AttemptRow): void => void statements.begin.run(...attemptCells(attempt));
  const endAttempt = (attempt: AttemptKey & AttemptEnd): void =>
    void statements.end.run(...endCells(attempt), attempt.endpointNumber, attempt.firedAtMs, attempt.id);

  return {
    insertDelivery,
    insertAttempt,
    endAttempt,
    nextChange,
    write(changes) {
      storeEndpoints(changes);
      for (const delivery of changes.newDeliveries) insertDelivery(delivery);
      for (const delivery of changes.deliveries) statements.update.run(...movingCells(delivery), delivery.number);
      for (const attempt of changes.newAttempts) insertAttempt(attempt);
      for (const attempt of changes.endedAttempts) endAttempt(attempt);
      for (const replay of changes.replays) statements.replay.run(...replayCells(replay), replay.number);
      for (const { endpointNumber, bucket, finished, succeeded } of changes.figures) {
        statements.figure.run(endpointNumber, bucket, finished, succeeded);
      }
      for (const { organizationNumber, hour, attempts } of changes.hours) {
        statements.hour.run(organizationNumber, hour, attempts);
      }
    },
  };
}

type Cells = (number | string | null)[];

const MOVING_COLUMNS = [
  'status',
  'counted',
  'run',
  'attempt',
  'failures',
  'lost',
  'fence',
  'due_at',
  'ladder_started_at',
  'attempt_id',
  'first_attempt_at',
  'last_attempt_at',
  'ended_at',
  'dead_reason',
  'terminal_hint',
  'response_status',
  'error',
] as const;

function movingCells({ state, ...delivery }: WorkDelivery): Cells {
  return [
    deliveryStatuses.code(state.status),
    delivery.counted === null ? null : replayCounts.code(delivery.counted),
    state.run,
    state.attempt,
    state.failures,
    state.lost,
    state.fence,
    state.dueAtMs,
    state.ladderStartedAtMs,
    delivery.attemptId,
    delivery.firstAttemptAtMs,
    delivery.lastAttemptAtMs,
    state.endedAtMs,
    state.deadReason === null ? null : deadReasons.code(state.deadReason),
    Number(delivery.terminalHint),
    delivery.responseStatus,
    delivery.error,
  ];
}

const FIXED_COLUMNS = [
  'number',
  'endpoint_number',
  'dispatch_id',
  'replay_number',
  'queued_at',
  'created_at',
  'test',
  'event_count',
  'events_from',
  'events_to',
  'seqs',
  'event_ids',
] as const;

function newCells(delivery: NewDeliveryRow): Cells {
  const { created } = delivery;
  return [
    ...movingCells(delivery),
    delivery.number,
    delivery.endpointNumber,
    delivery.dispatchId,
    delivery.replayNumber,
    delivery.queuedAtMs,
    delivery.createdAtMs,
    Number(delivery.test),
    delivery.eventCount,
    created.firstMs,
    created.lastMs,
    JSON.stringify(delivery.seqs),
    JSON.stringify(delivery.eventIds),
  ];
}

const END_COLUMNS = ['outcome', 'response_status', 'latency_ms', 'error', 'response_body', 'terminal_hint'] as const;

function endCells(end: AttemptEnd): Cells {
  const { outcome, responseStatus, latencyMs, error, responseBody, terminalHint } = end;
  return [attemptOutcomes.code(outcome), responseStatus, latencyMs, error, responseBody, Number(terminalHint)];
}

function attemptCells(row: AttemptRow): Cells {
  const { endpointNumber, firedAtMs, id, deliveryNumber, attempt, test } = row;
  return [...endCells(row), endpointNumber, firedAtMs, id, deliveryNumber, attempt, Number(test)];
}

function replayCells({ status, position, enqueued, delivered, dead, completedAtMs }: WorkReplay): Cells {
  return [replayStatuses.code(status), position, enqueued, delivered, dead, completedAtMs];
}

function prepareStatements(db: Database) {
  const insert = (table: string, columns: readonly string[]) =>
    db.prepare<Cells>(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`);
  const assign = (columns: readonly string[]) => columns.map((column) => `${column} = ?`).join(', ');
  return {
    state: db.prepare<Cells>(
      `UPDATE webhook_states SET position = ?, in_flight = ?, subscriptions = ?, failing_since = ?,
         last_success_at = ?, last_failure_at = ?, consecutive_failures = ?
       WHERE endpoint_number = ?`,
    ),
    disable: db.prepare<Cells>(
      `UPDATE webhook_endpoints SET status = ?, disabled_reason = ?, disabled_at = ?, updated_at = ?, version = ?,
         change_number = ?
       WHERE number = ?`,
    ),
    change: db
      .prepare<[], number>('UPDATE webhook_changes SET number = number + 1 WHERE id = 1 RETURNING number')
      .pluck(),
    head: db.prepare<[number], number>('SELECT seq FROM log_heads WHERE organization_number = ?').pluck(),
    insert: insert('webhook_deliveries', [...MOVING_COLUMNS, ...FIXED_COLUMNS]),
    update: db.prepare<Cells>(`UPDATE webhook_deliveries SET ${assign(MOVING_COLUMNS)} WHERE number = ?`),
    begin: insert('webhook_attempts', [
      ...END_COLUMNS,
      'endpoint_number',
      'fired_at',
      'id',
      'delivery_number',
      'attempt',
      'test',
    ]),
    end: db.prepare<Cells>(
      `UPDATE webhook_attempts SET ${assign(END_COLUMNS)} WHERE endpoint_number = ? AND fired_at = ? AND id = ?`,
    ),
    replay: db.prepare<Cells>(
      `UPDATE webhook_replays SET status = ?, position = ?, enqueued = ?, delivered = ?, dead = ?, completed_at = ?
       WHERE number = ?`,
    ),
    figure: db.prepare<Cells>(
      `INSERT INTO webhook_figures (endpoint_number, bucket, finished, succeeded) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET finished = finished + excluded.finished, succeeded = succeeded + excluded.succeeded`,
    ),
    hour: db.prepare<Cells>(
      `INSERT INTO webhook_hours (organization_number, hour, attempts) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET attempts = attempts + excluded.attempts`,
    ),
  };
}
