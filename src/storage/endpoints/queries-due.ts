/** Queries for due and lost deliveries, for counts, and for what maintenance ends or removes. */

import { type SqlBool, sql } from 'kysely';
import type { DeliveryStatus } from '../../domain/delivery/delivery.ts';
import type { DueRequest } from '../../domain/delivery/webhook-store.ts';
import { columns, ofRows, remove } from '../plain-queries.ts';
import { change, changeRows, type Db, type OfNumbers, query } from '../queries.ts';
import { deliveryStatuses, replayStatuses } from '../rows/codes.ts';
import { endpointsOf, hasStatus, type OfRange, unfinishedOf } from './endpoint-ranges.ts';

/**
 * Of each endpoint with unfinished deliveries: those being sent, the first few due of each status, and the next one of
 * each. Most endpoints have none, which one index lookup shows.
 */
export const listDue = query<OfNumbers & DueRequest>()((db, params, { isAmong, listOf }) =>
  db
    .selectFrom('WebhookEndpoint as endpoint')
    .where(isAmong('endpoint.number', params.numbers))
    .where(({ exists }) => exists(unfinishedOfEndpoint(db).select('delivery.number as number')))
    .select(['endpoint.number as endpointNumber', 'endpoint.run as run'])
    .select(listOf<DueRow>(foundOf(db, params)).as('found')),
);

export type DueRow = {
  readonly status: number;
  readonly number: number;
  readonly fence: number;
  readonly run: number;
  readonly dueAtMs: number;
  readonly replayNumber: number | null;
};

function foundOf(db: Db, { nowMs, perEndpointMax }: DueRequest) {
  const waiting = (['queued', 'retrying'] as const).flatMap((status) => {
    const ofRun = () => foundAs(db, status).where('delivery.run', '=', ENDPOINT_RUN).orderBy('delivery.dueAtMs');
    return [
      // Deliveries of an earlier run of the endpoint are due at any time.
      foundAs(db, status)
        .where('delivery.run', '<', ENDPOINT_RUN)
        .orderBy('delivery.run')
        .orderBy('delivery.dueAtMs')
        .limit(perEndpointMax),
      ofRun().where('delivery.dueAtMs', '<=', nowMs).limit(perEndpointMax),
      ofRun().where('delivery.dueAtMs', '>', nowMs).limit(sql.lit(1)),
    ];
  });
  // Only subqueries of a union can have limits of their own.
  const parts = waiting.map((part) => db.selectFrom(part.as('part')).selectAll('part'));
  // Needs no limit: the endpoint limits its attempts in flight.
  return parts.reduce((all, part) => all.unionAll(part), foundAs(db, 'sending')) as never;
}

const ENDPOINT_RUN = sql.ref<number>('endpoint.run');

function foundAs(db: Db, status: DeliveryStatus) {
  return unfinishedOfEndpoint(db)
    .where('delivery.status', '=', sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code(status))}`)
    .select(columns('delivery', 'status', 'number', 'fence', 'run', 'dueAtMs', 'replayNumber'));
}

function unfinishedOfEndpoint(db: Db) {
  return db
    .selectFrom('WebhookDelivery as delivery')
    .where('delivery.endpointNumber', '=', sql.ref<number>('endpoint.number'))
    .where('delivery.endedAtMs', 'is', null)
    .where('delivery.test', '=', sql.lit(false));
}

/** The positions of all endpoints but the archived. */
export const listPositions = query()((db) =>
  positionsOf(db).where('endpoint.archivedAtMs', 'is', null).select('endpoint.status as status'),
);

export const findPosition = query<{ readonly endpointNumber: number }>()((db, params) =>
  positionsOf(db).where('endpoint.number', '=', params.endpointNumber),
);

function positionsOf(db: Db) {
  return db
    .selectFrom('WebhookEndpoint as endpoint')
    .innerJoin('WebhookState as state', 'state.endpointNumber', 'endpoint.number')
    .leftJoin('LogHead as head', 'head.organizationNumber', 'endpoint.organizationNumber')
    .select(columns('endpoint', 'number', 'organizationNumber'))
    .select(columns('state', 'position', 'subscriptionsJson'))
    .select('head.seq as headSeq');
}

/** Counts unfinished deliveries by endpoint and status. */
export const countUnfinished = query<OfNumbers>()((db, params, { isAmong }) =>
  unfinished(db)
    .where(isAmong('endpointNumber', params.numbers))
    .select(['endpointNumber as endpointNumber', 'status as status'])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy(['endpointNumber', 'status']),
);

/** When the oldest unfinished delivery of each endpoint was queued. */
export const findOldestQueued = query<OfNumbers>()((db, params, { isAmong }) =>
  unfinished(db)
    .where(isAmong('endpointNumber', params.numbers))
    .select('endpointNumber as endpointNumber')
    .select(({ fn }) => fn.min<number>('queuedAtMs').as('oldestAtMs'))
    .groupBy('endpointNumber'),
);

export const countDead = query()((db) =>
  db
    .selectFrom('WebhookDelivery')
    .where('status', '=', sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code('dead'))}`)
    .where('test', '=', sql.lit(false))
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

function unfinished(db: Db) {
  return db.selectFrom('WebhookDelivery').where('endedAtMs', 'is', null).where('test', '=', sql.lit(false));
}

type OfTerm = OfRange & { readonly beforeMs: number };

export const listNumbers = query<Omit<OfRange, 'last'>>()((db, params) =>
  db
    .selectFrom('WebhookEndpoint')
    .where('number', '>', params.after)
    .select('number as number')
    .orderBy('number')
    .limit(params.limit),
);

/**
 * Active endpoints whose streak of failures started before an instant, without attempts in flight or due, because their
 * results decide instead.
 */
export const listFailing = query<OfTerm & { readonly nowMs: number }>()((db, params) =>
  db
    .selectFrom('WebhookState as state')
    .crossJoin('WebhookEndpoint as endpoint')
    .where('state.endpointNumber', '>', params.after)
    .where('state.endpointNumber', '<=', params.last)
    .whereRef('endpoint.number', '=', 'state.endpointNumber')
    .where('state.failingSinceMs', '<=', params.beforeMs)
    .where('state.inFlight', '=', sql.lit(0))
    .where('endpoint.status', '=', sql.lit('active'))
    .where('endpoint.archivedAtMs', 'is', null)
    .where(({ exists, not }) =>
      not(
        exists(
          unfinishedOfEndpoint(db)
            .select('delivery.number as number')
            .where(hasStatus('queued', 'retrying'))
            .where(({ eb, or }) =>
              or([eb('delivery.run', '<', ENDPOINT_RUN), eb('delivery.dueAtMs', '<=', params.nowMs)]),
            ),
        ),
      ),
    )
    .select('endpoint.number as endpointNumber')
    .limit(params.limit),
);

/** Deliveries of archived endpoints that wait, or whose sender is lost. */
export const listCancelled = query<OfRange & { readonly nowMs: number }>()((db, params) =>
  unfinishedOf(db, params)
    .where('endpoint.archivedAtMs', 'is not', null)
    .where(({ eb, and, or }) =>
      or([hasStatus('queued', 'retrying'), and([hasStatus('sending'), eb('delivery.dueAtMs', '<=', params.nowMs)])]),
    )
    .limit(params.limit),
);

/** Waiting deliveries that were queued before an instant. */
export const listExpired = query<OfTerm>()((db, params) =>
  unfinishedOf(db, params)
    .where('endpoint.archivedAtMs', 'is', null)
    .where('delivery.queuedAtMs', '<', params.beforeMs)
    .where(hasStatus('queued', 'retrying'))
    .limit(params.limit),
);

/** Replays queue deliveries later than their events, so the time of the events counts. */
export const listExpiredReplayed = query<OfTerm>()((db, params) =>
  unfinishedOf(db, params)
    .where('endpoint.archivedAtMs', 'is', null)
    .where('delivery.replayNumber', 'is not', null)
    .where('delivery.eventsFromMs', '<', params.beforeMs)
    .where(hasStatus('queued', 'retrying'))
    .limit(params.limit),
);

export const listOldAttempts = query<OfTerm>()((db, params) =>
  endpointsOf(db, params)
    .crossJoin('WebhookAttempt as attempt')
    .whereRef('attempt.endpointNumber', '=', 'endpoint.number')
    .where('attempt.firedAtMs', '<', params.beforeMs)
    .select(columns('attempt', 'endpointNumber', 'firedAtMs', 'id'))
    .limit(params.limit),
);

export const listOldFigures = query<OfRange & { readonly beforeBucket: number }>()((db, params) =>
  endpointsOf(db, params)
    .crossJoin('WebhookFigure as figure')
    .whereRef('figure.endpointNumber', '=', 'endpoint.number')
    .where('figure.bucket', '<', params.beforeBucket)
    .select(['figure.endpointNumber as endpointNumber', 'figure.bucket as bucket'])
    .limit(params.limit),
);

export const listOldReplays = query<OfTerm>()((db, params) =>
  endpointsOf(db, params)
    .crossJoin('WebhookReplay as replay')
    .whereRef('replay.endpointNumber', '=', 'endpoint.number')
    .where(sql<SqlBool>`${sql.ref('replay.status')} <> ${sql.lit(replayStatuses.code('running'))}`)
    .where('replay.completedAtMs', '<', params.beforeMs)
    .select('replay.number as number')
    .limit(params.limit),
);

/** Without those that another transaction is redelivering. */
export const lockEnded = query<{ readonly beforeMs: number; readonly limit: number }>()(
  (db, params, { lockAvailable }) =>
    lockAvailable(
      db
        .selectFrom('WebhookDelivery')
        .where('endedAtMs', '<', params.beforeMs)
        .select('number as number')
        .orderBy('endedAtMs')
        .limit(params.limit),
    ),
);

export const dropAttempts = ofRows(remove('WebhookAttempt', ['endpointNumber', 'firedAtMs', 'id']));
export const dropFigures = ofRows(remove('WebhookFigure', ['endpointNumber', 'bucket']));
export const dropReplays = ofRows(remove('WebhookReplay', ['number']));
export const dropAttemptsOf = changeRows<{ readonly number: number }>((db, params) =>
  db.deleteFrom('WebhookAttempt').where('deliveryNumber', '=', params.number),
);
export const dropDeliveries = ofRows(remove('WebhookDelivery', ['number']));

export const dropHours = change<{ readonly hour: number }>((db, params) =>
  db.deleteFrom('WebhookHour').where('hour', '<', params.hour),
);
