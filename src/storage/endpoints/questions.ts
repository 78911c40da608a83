/** What is asked of webhook endpoints and what was sent to them. */

import { sql } from 'kysely';
import type { DeliveryStatus, ReplayStatus } from '../../domain/delivery.ts';
import { columns } from '../plain-questions.ts';
import { type Db, question, type Words } from '../questions.ts';
import { deliveryStatuses, replayStatuses } from '../rows/codes.ts';

type OfOrganization = { readonly organizationId: string };

/** By creation, then id. */
export const listEndpoints = question<
  OfOrganization & { readonly createdAtMs: number; readonly id: string; readonly limit: number }
>()((db, given, { find }) =>
  livingOf(db, given, find)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('WebhookEndpoint.createdAtMs', 'WebhookEndpoint.id'), '>', tuple(given.createdAtMs, given.id)),
    )
    .orderBy('WebhookEndpoint.createdAtMs')
    .orderBy('WebhookEndpoint.id')
    .limit(given.limit),
);

export const findEndpoint = question<OfOrganization & { readonly id: string }>()((db, given, { find }) =>
  livingOf(db, given, find).where('WebhookEndpoint.id', '=', given.id),
);

type OfChanged = { readonly afterChange: number };

/** The number of the newest change. */
export const findChange = question()((db) =>
  db.selectFrom('WebhookChangeCount').where('id', '=', 1).select('number as change'),
);

export const listChanged = question<OfChanged>()((db, given, { find }) => changedAfter(db, given, find));

/** But the archived. */
export const listLiving = question<OfChanged>()((db, given, { find }) =>
  changedAfter(db, given, find).where('WebhookEndpoint.archivedAtMs', 'is', null),
);

/** Of the endpoints that changed, unfinished, oldest first. */
export const listRunningReplays = question<OfChanged>()((db, given) =>
  db
    .selectFrom('WebhookEndpoint as endpoint')
    .crossJoin('WebhookReplay as replay')
    .where('endpoint.changeNumber', '>', given.afterChange)
    .whereRef('replay.endpointNumber', '=', 'endpoint.number')
    .where('replay.status', '=', sql<ReplayStatus>`${sql.lit(replayStatuses.code('running'))}`)
    .select(columns('replay', 'endpointNumber', 'number', 'id', 'position', 'toSeq', 'mask', 'createdAtMs'))
    .orderBy('replay.number'),
);

type OfEndpoint = { readonly endpointNumber: number };
type OfDelivery = OfEndpoint & { readonly dispatchId: string };
/** Before a row, as descending lists have it. */
type OfPage = OfEndpoint & { readonly atMs: number; readonly id: string; readonly limit: number };

/** Newest first by (fired, id). */
export const listAttempts = question<OfPage>()((db, given) =>
  db
    .selectFrom('WebhookAttempt as attempt')
    // Not as a join that may begin with the deliveries: the attempts alone have an index in this order.
    .crossJoin('WebhookDelivery as delivery')
    .whereRef('delivery.number', '=', 'attempt.deliveryNumber')
    .where('attempt.endpointNumber', '=', given.endpointNumber)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('attempt.firedAtMs', 'attempt.id'), '<', tuple(given.atMs, given.id)),
    )
    .select(ATTEMPT)
    .orderBy('attempt.firedAtMs', 'desc')
    .orderBy('attempt.id', 'desc')
    .limit(given.limit),
);

/** Newest first. */
export const listAttemptsOf = question<OfDelivery & { readonly limit: number }>()((db, given) =>
  db
    .selectFrom('WebhookDelivery as delivery')
    .crossJoin('WebhookAttempt as attempt')
    .whereRef('attempt.deliveryNumber', '=', 'delivery.number')
    .where('delivery.endpointNumber', '=', given.endpointNumber)
    .where('delivery.dispatchId', '=', given.dispatchId)
    .select(ATTEMPT)
    .orderBy('attempt.attempt', 'desc')
    .limit(given.limit),
);

export const findDelivery = question<OfDelivery>()((db, given, { find }) =>
  deliveriesOf(db, given, find).where('WebhookDelivery.dispatchId', '=', given.dispatchId),
);

/** But tests, last ended first by (ended, dispatch id). */
export const listDead = question<OfPage>()((db, given, { find }) =>
  deliveriesOf(db, given, find)
    .where('WebhookDelivery.status', '=', statusOf('dead'))
    .where((column) => column('WebhookDelivery.test', '=', column.lit(false)))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('WebhookDelivery.endedAtMs', 'WebhookDelivery.dispatchId'), '<', tuple(given.atMs, given.id)),
    )
    .orderBy('WebhookDelivery.endedAtMs', 'desc')
    .orderBy('WebhookDelivery.dispatchId', 'desc')
    .limit(given.limit),
);

type OfHour = OfEndpoint & {
  readonly bucket: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly limit: number;
};

/**
 * How an endpoint fares. Of the buckets from one on, of its deliveries that are dead or have not ended, and of its newest
 * attempts between the instants; tests count nowhere. Sums of nothing are null.
 */
export const findFigures = question<OfHour>()((db, given, { listOf }) =>
  db
    .selectFrom('WebhookEndpoint as endpoint')
    .where('endpoint.number', '=', given.endpointNumber)
    .select('endpoint.status as status')
    .select(({ fn, selectFrom }) => [
      unfinishedOf(db, given)
        .select(({ fn: { min } }) => min<number>('delivery.queuedAtMs').as('oldestAtMs'))
        .as('oldestAtMs'),
      selectFrom('WebhookDelivery as delivery')
        .where('delivery.endpointNumber', '=', given.endpointNumber)
        .where('delivery.status', '=', statusOf('dead'))
        .where('delivery.test', '=', sql.lit(false))
        .select(fn.countAll<number>().as('count'))
        .as('dead'),
      figuresOf(db, given)
        .select(({ fn: { sum } }) => sum<number>('figure.finished').as('sum'))
        .as('finished'),
      figuresOf(db, given)
        .select(({ fn: { sum } }) => sum<number>('figure.succeeded').as('sum'))
        .as('succeeded'),
      listOf<{ status: number; count: number }>(
        unfinishedOf(db, given)
          .select('delivery.status as status')
          .select(({ fn: { countAll } }) => countAll<number>().as('count'))
          .groupBy('delivery.status') as never,
      ).as('unfinished'),
      listOf<{ latencyMs: number }>(latenciesOf(db, given) as never).as('latencies'),
    ]),
);

function latenciesOf(db: Db, { endpointNumber, sinceMs, untilMs, limit }: OfHour) {
  return db
    .selectFrom('WebhookAttempt as attempt')
    .where('attempt.endpointNumber', '=', endpointNumber)
    .where('attempt.firedAtMs', '>=', sinceMs)
    .where('attempt.firedAtMs', '<=', untilMs)
    .where('attempt.latencyMs', 'is not', null)
    .where('attempt.test', '=', sql.lit(false))
    .select('attempt.latencyMs as latencyMs')
    .orderBy('attempt.firedAtMs', 'desc')
    .orderBy('attempt.id', 'desc')
    .limit(limit);
}

function unfinishedOf(db: Db, { endpointNumber }: OfEndpoint) {
  return db
    .selectFrom('WebhookDelivery as delivery')
    .where('delivery.endpointNumber', '=', endpointNumber)
    .where('delivery.endedAtMs', 'is', null)
    .where((column) => column('delivery.test', '=', column.lit(false)));
}

function figuresOf(db: Db, { endpointNumber, bucket }: OfEndpoint & { readonly bucket: number }) {
  return db
    .selectFrom('WebhookFigure as figure')
    .where('figure.endpointNumber', '=', endpointNumber)
    .where('figure.bucket', '>=', bucket);
}

/** In the text: only so can the stores use the indexes of deliveries of one status. */
function statusOf(word: DeliveryStatus) {
  return sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code(word))}`;
}

const ATTEMPT = [
  ...columns('attempt', 'id', 'attempt', 'outcome', 'responseStatus', 'latencyMs', 'error', 'firedAtMs'),
  ...columns('attempt', 'responseBody', 'test', 'terminalHint'),
  ...columns('delivery', 'dispatchId', 'eventIdsJson'),
];

function deliveriesOf(db: Db, { endpointNumber }: OfEndpoint, find: Words['find']) {
  const hidden = [
    'replayNumber',
    'counted',
    'attemptId',
    'queuedAtMs',
    'eventCount',
    'eventsToMs',
    'seqsJson',
  ] as const;
  return find(db, 'WebhookDelivery', {}, ...hidden)
    .leftJoin('WebhookReplay as replay', 'replay.number', 'WebhookDelivery.replayNumber')
    .where('WebhookDelivery.endpointNumber', '=', endpointNumber)
    .select('replay.id as replayId');
}

function livingOf(db: Db, { organizationId }: OfOrganization, find: Words['find']) {
  return endpointsOf(db, find)
    .where('WebhookEndpoint.organizationId', '=', organizationId)
    .where('WebhookEndpoint.archivedAtMs', 'is', null);
}

function changedAfter(db: Db, { afterChange }: OfChanged, find: Words['find']) {
  return endpointsOf(db, find)
    .where('WebhookEndpoint.changeNumber', '>', afterChange)
    .select(columns('state', 'position', 'inFlight', 'subscriptionsJson'))
    .orderBy('WebhookEndpoint.changeNumber');
}

function endpointsOf(db: Db, find: Words['find']) {
  return find(db, 'WebhookEndpoint', {}, 'changeNumber')
    .innerJoin('WebhookState as state', 'state.endpointNumber', 'WebhookEndpoint.number')
    .select(columns('state', 'failingSinceMs', 'lastSuccessAtMs', 'lastFailureAtMs', 'consecutiveFailures'));
}
