/** What waits to be sent or to be taken over, and how many that are. */

import { sql } from 'kysely';
import type { DeliveryStatus } from '../../domain/delivery.ts';
import type { DueQuestion } from '../../domain/webhook-store.ts';
import { columns } from '../plain-questions.ts';
import { type Db, type OfNumbers, question } from '../questions.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';

/**
 * Of each endpoint that has anything which has not ended: what is being sent, the first few that are due of each kind, and
 * the next of each that will be. Most have nothing, and are done with after one look.
 */
export const listDue = question<OfNumbers & DueQuestion>()((db, given, { isAmong, listOf }) =>
  db
    .selectFrom('WebhookEndpoint as asked')
    .where(isAmong('asked.number', given.numbers))
    .where(({ exists }) => exists(unendedOf(db).select('delivery.number as number')))
    .select(['asked.number as endpointNumber', 'asked.run as run'])
    .select(listOf<DueRow>(foundOf(db, given)).as('found')),
);

export type DueRow = {
  readonly status: number;
  readonly number: number;
  readonly fence: number;
  readonly run: number;
  readonly dueAtMs: number;
  readonly replayNumber: number | null;
};

function foundOf(db: Db, { nowMs, perEndpointMax }: DueQuestion) {
  const waiting = (['queued', 'retrying'] as const).flatMap((status) => {
    const ofRun = () => foundAs(db, status).where('delivery.run', '=', ASKED_RUN).orderBy('delivery.dueAtMs');
    return [
      // What was judged in an earlier run is due whatever its time says.
      foundAs(db, status)
        .where('delivery.run', '<', ASKED_RUN)
        .orderBy('delivery.run')
        .orderBy('delivery.dueAtMs')
        .limit(perEndpointMax),
      ofRun().where('delivery.dueAtMs', '<=', nowMs).limit(perEndpointMax),
      ofRun().where('delivery.dueAtMs', '>', nowMs).limit(sql.lit(1)),
    ];
  });
  // Stores limit the parts of a union only where each is a question of its own.
  const parts = waiting.map((part) => db.selectFrom(part.as('part')).selectAll('part'));
  // There are at most as many of these as the endpoint takes at once.
  return parts.reduce((all, part) => all.unionAll(part), foundAs(db, 'sending')) as never;
}

const ASKED_RUN = sql.ref<number>('asked.run');

function foundAs(db: Db, status: DeliveryStatus) {
  return unendedOf(db)
    .where('delivery.status', '=', sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code(status))}`)
    .select(columns('delivery', 'status', 'number', 'fence', 'run', 'dueAtMs', 'replayNumber'));
}

function unendedOf(db: Db) {
  return db
    .selectFrom('WebhookDelivery as delivery')
    .where('delivery.endpointNumber', '=', sql.ref<number>('asked.number'))
    .where('delivery.endedAtMs', 'is', null)
    .where('delivery.test', '=', sql.lit(false));
}

/** All but the archived, with where each of them stands in its log. */
export const listPlaces = question()((db) =>
  placesOf(db).where('endpoint.archivedAtMs', 'is', null).select('endpoint.status as status'),
);

export const findPlace = question<{ readonly endpointNumber: number }>()((db, given) =>
  placesOf(db).where('endpoint.number', '=', given.endpointNumber),
);

function placesOf(db: Db) {
  return db
    .selectFrom('WebhookEndpoint as endpoint')
    .innerJoin('WebhookState as state', 'state.endpointNumber', 'endpoint.number')
    .leftJoin('LogHead as head', 'head.organizationNumber', 'endpoint.organizationNumber')
    .select(columns('endpoint', 'number', 'organizationNumber'))
    .select(columns('state', 'position', 'subscriptionsJson'))
    .select('head.seq as headSeq');
}

/** Deliveries that have not ended. */
export const countUnended = question<OfNumbers>()((db, given, { isAmong }) =>
  unended(db)
    .where(isAmong('endpointNumber', given.numbers))
    .select(['endpointNumber as endpointNumber', 'status as status'])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy(['endpointNumber', 'status']),
);

/** When the oldest of those was queued. */
export const findOldestQueued = question<OfNumbers>()((db, given, { isAmong }) =>
  unended(db)
    .where(isAmong('endpointNumber', given.numbers))
    .select('endpointNumber as endpointNumber')
    .select(({ fn }) => fn.min<number>('queuedAtMs').as('oldestAtMs'))
    .groupBy('endpointNumber'),
);

export const countDead = question()((db) =>
  db
    .selectFrom('WebhookDelivery')
    .where('status', '=', sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code('dead'))}`)
    .where('test', '=', sql.lit(false))
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

function unended(db: Db) {
  return db.selectFrom('WebhookDelivery').where('endedAtMs', 'is', null).where('test', '=', sql.lit(false));
}
