/** What happened to the deliveries of an endpoint, for those who ask. */

import type { Attempt, Delivery } from '../../domain/delivery.ts';
import type { DescendingPage, WebhookStore } from '../../domain/webhook-store.ts';
import { attemptOutcomes, deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';
import { STATE_COLUMNS, type StateRow, toState } from './delivery-tables.ts';
import type { ReadLane } from './read-lane.ts';

export type DeliveryLogReader = Pick<WebhookStore, 'attempts' | 'delivery' | 'attemptsOf' | 'deadLetters'>;

export function prepareDeliveryLogReader(db: Database, lane: ReadLane): DeliveryLogReader {
  const statements = prepareStatements(db);
  return {
    attempts: (endpoint, { after, limit }: DescendingPage) =>
      lane(() => {
        const rows =
          after === null
            ? statements.attempts.all(endpoint, limit)
            : statements.attemptsAfter.all(endpoint, after.atMs, after.id, limit);
        return rows.map(toAttempt);
      }),
    delivery: (endpoint, dispatchId) =>
      lane(() => {
        const row = statements.delivery.get(endpoint, dispatchId);
        return row === undefined ? null : toDelivery(row);
      }),
    attemptsOf: (endpoint, dispatchId, limit) =>
      lane(() => statements.attemptsOf.all(endpoint, dispatchId, limit).map(toAttempt)),
    deadLetters: (endpoint, { after, limit }: DescendingPage) =>
      lane(() => {
        const rows =
          after === null
            ? statements.dead.all(endpoint, limit)
            : statements.deadAfter.all(endpoint, after.atMs, after.id, limit);
        return rows.map(toDelivery);
      }),
  };
}

type AttemptRow = Omit<Attempt, 'outcome' | 'eventIds' | 'test' | 'terminalHint'> & {
  readonly outcome: number;
  readonly eventIds: string;
  readonly test: number;
  readonly terminalHint: number;
};

function toAttempt(row: AttemptRow): Attempt {
  return {
    ...row,
    outcome: attemptOutcomes.word(row.outcome),
    eventIds: JSON.parse(row.eventIds),
    test: row.test === 1,
    terminalHint: row.terminalHint === 1,
  };
}

type DeliveryRow = StateRow &
  Omit<Delivery, keyof StateRow | 'eventIds' | 'test' | 'terminalHint'> & {
    readonly eventIds: string;
    readonly test: number;
    readonly terminalHint: number;
  };

function toDelivery(row: DeliveryRow): Delivery {
  return {
    ...row,
    ...toState(row),
    eventIds: JSON.parse(row.eventIds),
    test: row.test === 1,
    terminalHint: row.terminalHint === 1,
  };
}

function prepareStatements(db: Database) {
  const attemptColumns = `
    SELECT a.id, d.dispatch_id AS dispatchId, a.attempt, d.event_ids AS eventIds, a.outcome,
      a.response_status AS responseStatus, a.latency_ms AS latencyMs, a.error, a.fired_at AS firedAtMs,
      a.response_body AS responseBody, a.test, a.terminal_hint AS terminalHint`;
  const attempts = `${attemptColumns} FROM webhook_attempts AS a CROSS JOIN webhook_deliveries AS d ON d.number = a.delivery_number`;
  const newest = 'ORDER BY a.fired_at DESC, a.id DESC LIMIT ?';
  const deliveries = `
    SELECT d.number, d.endpoint_number AS endpointNumber, d.dispatch_id AS dispatchId, r.id AS replayId, d.test,
      d.event_ids AS eventIds, d.events_from AS eventsFromMs, d.created_at AS createdAtMs, d.first_attempt_at AS firstAttemptAtMs,
      d.last_attempt_at AS lastAttemptAtMs, d.response_status AS responseStatus, d.error,
      d.terminal_hint AS terminalHint, ${STATE_COLUMNS}
    FROM webhook_deliveries AS d LEFT JOIN webhook_replays AS r ON r.number = d.replay_number`;
  const dead = `${deliveries}
    WHERE d.endpoint_number = ? AND d.status = ${deliveryStatuses.code('dead')} AND d.test = false`;
  const lastEnded = 'ORDER BY d.ended_at DESC, d.dispatch_id DESC LIMIT ?';
  return {
    attempts: db.prepare<[number, number], AttemptRow>(`${attempts} WHERE a.endpoint_number = ? ${newest}`),
    attemptsAfter: db.prepare<[number, number, string, number], AttemptRow>(
      `${attempts} WHERE a.endpoint_number = ? AND (a.fired_at, a.id) < (?, ?) ${newest}`,
    ),
    attemptsOf: db.prepare<[number, string, number], AttemptRow>(
      `${attemptColumns}
       FROM webhook_deliveries AS d CROSS JOIN webhook_attempts AS a ON a.delivery_number = d.number
       WHERE d.endpoint_number = ? AND d.dispatch_id = ? ORDER BY a.attempt DESC LIMIT ?`,
    ),
    delivery: db.prepare<[number, string], DeliveryRow>(
      `${deliveries} WHERE d.endpoint_number = ? AND d.dispatch_id = ?`,
    ),
    dead: db.prepare<[number, number], DeliveryRow>(`${dead} ${lastEnded}`),
    deadAfter: db.prepare<[number, number, string, number], DeliveryRow>(
      `${dead} AND (d.ended_at, d.dispatch_id) < (?, ?) ${lastEnded}`,
    ),
  };
}
