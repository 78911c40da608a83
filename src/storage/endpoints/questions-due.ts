/** What waits to be sent or to be taken over, how many that are, and what housekeeping ends or removes. */

import { type SqlBool, sql } from 'kysely';
import type { DeliveryStatus } from '../../domain/delivery.ts';
import type { DueQuestion } from '../../domain/webhook-store.ts';
import { columns, ofRows, remove } from '../plain-questions.ts';
import { change, changeRows, type Db, type OfNumbers, question } from '../questions.ts';
import { deliveryStatuses, replayStatuses } from '../rows/codes.ts';

/**
 * Of each endpoint that has anything which has not ended: what is being sent, the first few that are due of each kind, and
 * the next of each that will be. Most have nothing, and are done with after one look.
 */
export const listDue = question<OfNumbers & DueQuestion>()((db, given, { isAmong, listOf }) =>
  db
    .selectFrom('WebhookEndpoint as asked')
    .where(isAmong('asked.number', given.numbers))
    .where(({ exists }) => exists(unendedOfAsked(db).select('delivery.number as number')))
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
  return unendedOfAsked(db)
    .where('delivery.status', '=', sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code(status))}`)
    .select(columns('delivery', 'status', 'number', 'fence', 'run', 'dueAtMs', 'replayNumber'));
}

function unendedOfAsked(db: Db) {
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

/** Of the endpoints from behind one number up to another. */
type OfRange = { readonly after: number; readonly last: number; readonly limit: number };
type OfTerm = OfRange & { readonly beforeMs: number };

export const listNumbers = question<Omit<OfRange, 'last'>>()((db, given) =>
  db
    .selectFrom('WebhookEndpoint')
    .where('number', '>', given.after)
    .select('number as number')
    .orderBy('number')
    .limit(given.limit),
);

/** Endpoints of which a streak of failures is over. What is being sent, or is due, decides by its own verdict. */
export const listGivenUp = question<OfTerm & { readonly nowMs: number }>()((db, given) =>
  db
    .selectFrom('WebhookState as state')
    .crossJoin('WebhookEndpoint as endpoint')
    .where('state.endpointNumber', '>', given.after)
    .where('state.endpointNumber', '<=', given.last)
    .whereRef('endpoint.number', '=', 'state.endpointNumber')
    .where('state.failingSinceMs', '<=', given.beforeMs)
    .where('state.inFlight', '=', sql.lit(0))
    .where('endpoint.status', '=', sql.lit('active'))
    .where('endpoint.archivedAtMs', 'is', null)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('WebhookDelivery as delivery')
            .select('delivery.number as number')
            .whereRef('delivery.endpointNumber', '=', 'endpoint.number')
            .where('delivery.endedAtMs', 'is', null)
            .where('delivery.test', '=', sql.lit(false))
            .where(hasStatus('queued', 'retrying'))
            .where(({ eb, or, ref }) =>
              or([eb('delivery.run', '<', ref('endpoint.run')), eb('delivery.dueAtMs', '<=', given.nowMs)]),
            ),
        ),
      ),
    )
    .select('endpoint.number as endpointNumber')
    .limit(given.limit),
);

/** Deliveries to archived endpoints that wait, or were being sent by somebody who is lost. */
export const listCancelled = question<OfRange & { readonly nowMs: number }>()((db, given) =>
  unendedOf(db, given)
    .where('endpoint.archivedAtMs', 'is not', null)
    .where(({ eb, and, or }) =>
      or([hasStatus('queued', 'retrying'), and([hasStatus('sending'), eb('delivery.dueAtMs', '<=', given.nowMs)])]),
    )
    .limit(given.limit),
);

/** Deliveries that wait for what was queued before. */
export const listExpired = question<OfTerm>()((db, given) =>
  unendedOf(db, given)
    .where('endpoint.archivedAtMs', 'is', null)
    .where('delivery.queuedAtMs', '<', given.beforeMs)
    .where(hasStatus('queued', 'retrying'))
    .limit(given.limit),
);

/** Those of replays were queued later than their events. */
export const listExpiredReplayed = question<OfTerm>()((db, given) =>
  unendedOf(db, given)
    .where('endpoint.archivedAtMs', 'is', null)
    .where('delivery.replayNumber', 'is not', null)
    .where('delivery.eventsFromMs', '<', given.beforeMs)
    .where(hasStatus('queued', 'retrying'))
    .limit(given.limit),
);

export const listOldAttempts = question<OfTerm>()((db, given) =>
  endpointsOf(db, given)
    .crossJoin('WebhookAttempt as attempt')
    .whereRef('attempt.endpointNumber', '=', 'endpoint.number')
    .where('attempt.firedAtMs', '<', given.beforeMs)
    .select(columns('attempt', 'endpointNumber', 'firedAtMs', 'id'))
    .limit(given.limit),
);

export const listOldFigures = question<OfRange & { readonly beforeBucket: number }>()((db, given) =>
  endpointsOf(db, given)
    .crossJoin('WebhookFigure as figure')
    .whereRef('figure.endpointNumber', '=', 'endpoint.number')
    .where('figure.bucket', '<', given.beforeBucket)
    .select(['figure.endpointNumber as endpointNumber', 'figure.bucket as bucket'])
    .limit(given.limit),
);

export const listOldReplays = question<OfTerm>()((db, given) =>
  endpointsOf(db, given)
    .crossJoin('WebhookReplay as replay')
    .whereRef('replay.endpointNumber', '=', 'endpoint.number')
    .where(sql<SqlBool>`${sql.ref('replay.status')} <> ${sql.lit(replayStatuses.code('running'))}`)
    .where('replay.completedAtMs', '<', given.beforeMs)
    .select('replay.number as number')
    .limit(given.limit),
);

/** But those that somebody sends again at the moment. */
export const holdEnded = question<{ readonly beforeMs: number; readonly limit: number }>()((db, given, { holdFree }) =>
  holdFree(
    db
      .selectFrom('WebhookDelivery')
      .where('endedAtMs', '<', given.beforeMs)
      .select('number as number')
      .orderBy('endedAtMs')
      .limit(given.limit),
  ),
);

export const dropAttempts = ofRows(remove('WebhookAttempt', ['endpointNumber', 'firedAtMs', 'id']));
export const dropFigures = ofRows(remove('WebhookFigure', ['endpointNumber', 'bucket']));
export const dropReplays = ofRows(remove('WebhookReplay', ['number']));
export const dropAttemptsOf = changeRows<{ readonly number: number }>((db, given) =>
  db.deleteFrom('WebhookAttempt').where('deliveryNumber', '=', given.number),
);
export const dropDeliveries = ofRows(remove('WebhookDelivery', ['number']));

export const dropHours = change<{ readonly hour: number }>((db, given) =>
  db.deleteFrom('WebhookHour').where('hour', '<', given.hour),
);

function endpointsOf(db: Db, { after, last }: OfRange) {
  return db
    .selectFrom('WebhookEndpoint as endpoint')
    .where('endpoint.number', '>', after)
    .where('endpoint.number', '<=', last);
}

function unendedOf(db: Db, given: OfRange) {
  return endpointsOf(db, given)
    .crossJoin('WebhookDelivery as delivery')
    .whereRef('delivery.endpointNumber', '=', 'endpoint.number')
    .where('delivery.endedAtMs', 'is', null)
    .where('delivery.test', '=', sql.lit(false))
    .select(['delivery.number as number', 'delivery.endpointNumber as endpointNumber']);
}

/** In the text: only so can the stores use the indexes of deliveries of one status. */
function hasStatus(...words: readonly DeliveryStatus[]) {
  return sql<SqlBool>`${sql.ref('delivery.status')} in (${sql.join(words.map((word) => sql.lit(deliveryStatuses.code(word))))})`;
}
