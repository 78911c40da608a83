/** Queries for what a clock that was ahead has left in the queue of deliveries. */

import { sql } from 'kysely';
import { change, type OfNumbers, query } from '../queries.ts';
import { endpointsOf, hasStatus, type OfRange, unfinishedOf } from './endpoint-ranges.ts';

type OfClock = OfRange & {
  readonly nowMs: number;
  /** Instants after this one were read from a clock that was ahead. */
  readonly aheadMs: number;
};

/** Unfinished deliveries whose last attempt began in the future, and whose due time was not corrected since. */
export const listAttemptedAhead = query<OfClock>()((db, params) =>
  endpointsOf(db, params)
    .crossJoin('WebhookAttempt as attempt')
    .crossJoin('WebhookDelivery as delivery')
    .whereRef('attempt.endpointNumber', '=', 'endpoint.number')
    .where('attempt.firedAtMs', '>', params.aheadMs)
    .whereRef('delivery.number', '=', 'attempt.deliveryNumber')
    .whereRef('delivery.lastAttemptAtMs', '=', 'attempt.firedAtMs')
    .whereRef('delivery.dueAtMs', '>=', 'attempt.firedAtMs')
    .where('delivery.endedAtMs', 'is', null)
    .where('delivery.test', '=', sql.lit(false))
    .select(['delivery.number as number', 'delivery.endpointNumber as endpointNumber'])
    .limit(params.limit),
);

/** Unfinished deliveries that are due later than any of their kind can be. */
export const listDueAhead = query<OfClock & { readonly retryMaxMs: number; readonly leaseMaxMs: number }>()(
  (db, params) =>
    unfinishedOf(db, params)
      .whereRef('delivery.run', '=', 'endpoint.run')
      .where(({ eb, and, or }) =>
        or([
          and([hasStatus('queued'), eb('delivery.dueAtMs', '>', params.aheadMs)]),
          and([hasStatus('sending'), eb('delivery.dueAtMs', '>', params.leaseMaxMs)]),
          and([hasStatus('retrying'), eb('delivery.dueAtMs', '>', params.retryMaxMs)]),
        ]),
      )
      .limit(params.limit),
);

/** Unfinished deliveries that were queued in the future count as queued now, so that their age can be told. */
export const correctQueuedAt = change<OfNumbers & Pick<OfClock, 'nowMs' | 'aheadMs'>>((db, params, { isAmong }) =>
  db
    .updateTable('WebhookDelivery')
    .where(isAmong('endpointNumber', params.numbers))
    .where('endedAtMs', 'is', null)
    .where('test', '=', sql.lit(false))
    .where('queuedAtMs', '>', params.aheadMs)
    .set({ queuedAtMs: params.nowMs }),
);
