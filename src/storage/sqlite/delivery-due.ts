/** Which deliveries of an endpoint are to be taken, and when the next one will be. */

import type { DueList, DueQuestion, WaitingDelivery } from '../../domain/webhook-store.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';

const QUEUED = deliveryStatuses.code('queued');
const SENDING = deliveryStatuses.code('sending');
const RETRYING = deliveryStatuses.code('retrying');

export function prepareDue(db: Database): (endpointNumber: number, question: DueQuestion) => DueList {
  const statements = prepareStatements(db);

  function findWaiting(endpoint: number, run: number, { nowMs, perEndpointMax }: DueQuestion) {
    const rows = [QUEUED, RETRYING].flatMap((status) => [
      // What has waited for the endpoint to be enabled again.
      ...statements.resumed.all(endpoint, status, run, perEndpointMax),
      ...statements.due.all(endpoint, status, run, nowMs, perEndpointMax),
    ]);
    return rows.toSorted((one, other) => one.dueAtMs - other.dueAtMs).slice(0, perEndpointMax);
  }

  return (endpointNumber, question) => {
    const run = statements.run.get(endpointNumber) ?? 0;
    const sending = statements.sending.all(endpointNumber);
    const isLost = ({ dueAtMs }: Row) => dueAtMs <= question.nowMs;
    const nextTimes = [
      ...sending.filter((row) => !isLost(row)).map(({ dueAtMs }) => dueAtMs),
      ...[QUEUED, RETRYING].flatMap((status) => statements.next.get(endpointNumber, status, run, question.nowMs) ?? []),
    ];
    return {
      endpointNumber,
      waiting: findWaiting(endpointNumber, run, question).map(toWaiting),
      lost: sending.filter(isLost).map(({ number, fence }) => ({ number, fence })),
      nextAtMs: nextTimes.length === 0 ? null : Math.min(...nextTimes),
    };
  };
}

type Row = {
  readonly number: number;
  readonly fence: number;
  readonly dueAtMs: number;
  readonly isReplay: number;
};

function toWaiting({ number, fence, isReplay }: Row): WaitingDelivery {
  return { number, fence, isReplay: isReplay === 1 };
}

function prepareStatements(db: Database) {
  const select = `SELECT number, fence, due_at AS dueAtMs, replay_number IS NOT NULL AS isReplay
    FROM webhook_deliveries WHERE endpoint_number = ? AND ended_at IS NULL AND test = false`;
  return {
    run: db.prepare<[number], number>('SELECT run FROM webhook_endpoints WHERE number = ?').pluck(),
    resumed: db.prepare<[number, number, number, number], Row>(
      `${select} AND status = ? AND run < ? ORDER BY run, due_at LIMIT ?`,
    ),
    due: db.prepare<[number, number, number, number, number], Row>(
      `${select} AND status = ? AND run = ? AND due_at <= ? ORDER BY due_at LIMIT ?`,
    ),
    next: db
      .prepare<[number, number, number, number], number>(
        `SELECT due_at FROM webhook_deliveries
         WHERE endpoint_number = ? AND ended_at IS NULL AND test = false AND status = ? AND run = ? AND due_at > ?
         ORDER BY due_at LIMIT 1`,
      )
      .pluck(),
    sending: db.prepare<[number], Row>(`${select} AND status = ${SENDING} ORDER BY due_at`),
  };
}
