/** Changes of webhook endpoints by deliveries, and the queries they need. */

import { sql } from 'kysely';
import type { EndpointRow, FinishedCount, HourCount, NewDeliveryRow } from '../../domain/delivery/delivery-rows.ts';
import { insert, insertNew, ofRows, update, updateRest } from '../plain-queries.ts';
import { change, changeRows, type OfNumbers, query } from '../queries.ts';

export const updateStates = changeRows<EndpointRow>((db, params, { row, update }) =>
  update(db, 'WebhookState', { endpointNumber: params.number }).set(row('WebhookState', params, 'endpointNumber')),
);

export const insertDeliveries = changeRows<NewDeliveryRow>((db, params, { row }) =>
  db.insertInto('WebhookDelivery').values({ ...row('WebhookDelivery', params), number: params.number }),
);

/** The columns of a delivery that never change. */
const FIXED = [
  ...(['endpointNumber', 'dispatchId', 'replayNumber', 'queuedAtMs', 'createdAtMs', 'test', 'eventCount'] as const),
  ...(['eventsFromMs', 'eventsToMs', 'seqs', 'eventIds'] as const),
] as const;

export const updateDeliveries = ofRows(updateRest('WebhookDelivery', ['number'], ...FIXED));

export const insertAttempts = ofRows(insert('WebhookAttempt'));

export const endAttempts = ofRows(
  update(
    'WebhookAttempt',
    ['endpointNumber', 'firedAtMs', 'id'],
    ['outcome', 'responseStatus', 'latencyMs', 'terminalHint', 'error', 'responseBody'],
  ),
);

export const updateReplays = ofRows(
  update('WebhookReplay', ['number'], ['status', 'position', 'enqueued', 'delivered', 'dead', 'completedAtMs']),
);

export const addFigures = changeRows<FinishedCount>((db, params, { insert, orAdd }) =>
  orAdd(insert(db, 'WebhookFigure', params), 'WebhookFigure'),
);

/** Locks the rows, even if it adds zero. */
export const addHours = changeRows<HourCount>((db, params, { insert, orAdd }) =>
  orAdd(insert(db, 'WebhookHour', params), 'WebhookHour'),
);

/** Draws the next change number and locks the counter, so that changes commit in this order. */
export const countChange = change((db) =>
  db
    .updateTable('WebhookChangeCount')
    .where('id', '=', sql.lit(1))
    .set(({ eb }) => ({ number: eb('number', '+', sql.lit(1)) })),
);

/** Creates the heads of organizations without events, so that they can be locked. */
export const insertHeads = ofRows(insertNew('LogHead'));

/** Blocks appends to these logs until the transaction ends. */
export const lockHeads = query<OfNumbers>()((db, params, { isPoint, lock }) =>
  lock(
    db
      .selectFrom('LogHead')
      .where(isPoint('organizationNumber', params.numbers))
      .select(['organizationNumber as organizationNumber', 'seq as seq'])
      .orderBy('organizationNumber'),
  ),
);
