/** Queries about webhook endpoints, deliveries and attempts. */

import { sql } from 'kysely';
import type { DeliveryStatus, ReplayStatus } from '../../domain/delivery/delivery.ts';
import { columns } from '../plain-queries.ts';
import { type Db, type Dialect, query } from '../queries.ts';
import { deliveryStatuses, replayStatuses } from '../rows/codes.ts';

type OfOrganization = { readonly organizationId: string };

/** Ordered by (created, id). */
export const listEndpoints = query<
  OfOrganization & { readonly createdAtMs: number; readonly id: string; readonly limit: number }
>()((db, params, { find }) =>
  liveOf(db, params, find)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('WebhookEndpoint.createdAtMs', 'WebhookEndpoint.id'), '>', tuple(params.createdAtMs, params.id)),
    )
    .orderBy('WebhookEndpoint.createdAtMs')
    .orderBy('WebhookEndpoint.id')
    .limit(params.limit),
);

export const findEndpoint = query<OfOrganization & { readonly id: string }>()((db, params, { find }) =>
  liveOf(db, params, find).where('WebhookEndpoint.id', '=', params.id),
);

type OfChanged = { readonly afterChange: number };

/** The newest change number. */
export const findChange = query()((db) =>
  db.selectFrom('WebhookChangeCount').where('id', '=', 1).select('number as change'),
);

export const listChanged = query<OfChanged>()((db, params, { find }) => changedAfter(db, params, find));

/** Without archived endpoints. */
export const listLive = query<OfChanged>()((db, params, { find }) =>
  changedAfter(db, params, find).where('WebhookEndpoint.archivedAtMs', 'is', null),
);

/** Running replays of changed endpoints, oldest first. */
export const listRunningReplays = query<OfChanged>()((db, params) =>
  db
    .selectFrom('WebhookEndpoint as endpoint')
    .crossJoin('WebhookReplay as replay')
    .where('endpoint.changeNumber', '>', params.afterChange)
    .whereRef('replay.endpointNumber', '=', 'endpoint.number')
    .where('replay.status', '=', sql<ReplayStatus>`${sql.lit(replayStatuses.code('running'))}`)
    .select(
      columns('replay', 'endpointNumber', 'number', 'id', 'position', 'toSeq', 'mask', 'fromMs', 'toMs', 'createdAtMs'),
    )
    .orderBy('replay.number'),
);

type OfEndpoint = { readonly endpointNumber: number };
type OfDelivery = OfEndpoint & { readonly dispatchId: string };
/** The page before a row of a descending list. */
type OfPage = OfEndpoint & { readonly atMs: number; readonly id: string; readonly limit: number };

/** Newest first by (fired, id). */
export const listAttempts = query<OfPage>()((db, params) =>
  db
    .selectFrom('WebhookAttempt as attempt')
    // A cross join keeps the order of the tables, so that the store starts with the attempts, whose index has this
    // order.
    .crossJoin('WebhookDelivery as delivery')
    .whereRef('delivery.number', '=', 'attempt.deliveryNumber')
    .where('attempt.endpointNumber', '=', params.endpointNumber)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('attempt.firedAtMs', 'attempt.id'), '<', tuple(params.atMs, params.id)),
    )
    .select(ATTEMPT)
    .orderBy('attempt.firedAtMs', 'desc')
    .orderBy('attempt.id', 'desc')
    .limit(params.limit),
);

/** Newest first. */
export const listAttemptsOf = query<OfDelivery & { readonly limit: number }>()((db, params) =>
  db
    .selectFrom('WebhookDelivery as delivery')
    .crossJoin('WebhookAttempt as attempt')
    .whereRef('attempt.deliveryNumber', '=', 'delivery.number')
    .where('delivery.endpointNumber', '=', params.endpointNumber)
    .where('delivery.dispatchId', '=', params.dispatchId)
    .select(ATTEMPT)
    .orderBy('attempt.attempt', 'desc')
    .limit(params.limit),
);

export const findDelivery = query<OfDelivery>()((db, params, { find }) =>
  deliveriesOf(db, params, find).where('WebhookDelivery.dispatchId', '=', params.dispatchId),
);

/** Without tests, newest first by (ended, dispatch id). */
export const listDead = query<OfPage>()((db, params, { find }) =>
  deliveriesOf(db, params, find)
    .where('WebhookDelivery.status', '=', statusOf('dead'))
    .where((column) => column('WebhookDelivery.test', '=', column.lit(false)))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('WebhookDelivery.endedAtMs', 'WebhookDelivery.dispatchId'), '<', tuple(params.atMs, params.id)),
    )
    .orderBy('WebhookDelivery.endedAtMs', 'desc')
    .orderBy('WebhookDelivery.dispatchId', 'desc')
    .limit(params.limit),
);

type OfHour = OfEndpoint & {
  readonly bucket: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly limit: number;
};

/**
 * The health of an endpoint: figures from a bucket on, dead and unfinished deliveries, and its newest attempts between
 * two instants, all without tests. Sums of no rows are null.
 */
export const findFigures = query<OfHour>()((db, params, { listOf }) =>
  db
    .selectFrom('WebhookEndpoint as endpoint')
    .where('endpoint.number', '=', params.endpointNumber)
    .select('endpoint.status as status')
    .select(({ fn, selectFrom }) => [
      unfinishedOf(db, params)
        .select(({ fn: { min } }) => min<number>('delivery.queuedAtMs').as('oldestAtMs'))
        .as('oldestAtMs'),
      selectFrom('WebhookDelivery as delivery')
        .where('delivery.endpointNumber', '=', params.endpointNumber)
        .where('delivery.status', '=', statusOf('dead'))
        .where('delivery.test', '=', sql.lit(false))
        .select(fn.countAll<number>().as('count'))
        .as('dead'),
      figuresOf(db, params)
        .select(({ fn: { sum } }) => sum<number>('figure.finished').as('sum'))
        .as('finished'),
      figuresOf(db, params)
        .select(({ fn: { sum } }) => sum<number>('figure.succeeded').as('sum'))
        .as('succeeded'),
      listOf<{ status: number; count: number }>(
        unfinishedOf(db, params)
          .select('delivery.status as status')
          .select(({ fn: { countAll } }) => countAll<number>().as('count'))
          .groupBy('delivery.status') as never,
      ).as('unfinished'),
      listOf<{ latencyMs: number }>(latenciesOf(db, params) as never).as('latencies'),
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

/** As literals in the SQL, because the stores use partial indexes by status only then. */
function statusOf(word: DeliveryStatus) {
  return sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code(word))}`;
}

const ATTEMPT = [
  ...columns('attempt', 'id', 'attempt', 'outcome', 'responseStatus', 'latencyMs', 'error', 'firedAtMs'),
  ...columns('attempt', 'responseBody', 'test', 'terminalHint'),
  ...columns('delivery', 'dispatchId', 'eventIds'),
];

function deliveriesOf(db: Db, { endpointNumber }: OfEndpoint, find: Dialect['find']) {
  const hidden = ['replayNumber', 'counted', 'attemptId', 'queuedAtMs', 'eventCount', 'eventsToMs', 'seqs'] as const;
  return find(db, 'WebhookDelivery', {}, ...hidden)
    .leftJoin('WebhookReplay as replay', 'replay.number', 'WebhookDelivery.replayNumber')
    .where('WebhookDelivery.endpointNumber', '=', endpointNumber)
    .select('replay.id as replayId');
}

function liveOf(db: Db, { organizationId }: OfOrganization, find: Dialect['find']) {
  return endpointsOf(db, find)
    .where('WebhookEndpoint.organizationId', '=', organizationId)
    .where('WebhookEndpoint.archivedAtMs', 'is', null);
}

function changedAfter(db: Db, { afterChange }: OfChanged, find: Dialect['find']) {
  return endpointsOf(db, find)
    .where('WebhookEndpoint.changeNumber', '>', afterChange)
    .select(columns('state', 'position', 'inFlight', 'subscriptionsJson'))
    .orderBy('WebhookEndpoint.changeNumber');
}

function endpointsOf(db: Db, find: Dialect['find']) {
  return find(db, 'WebhookEndpoint', {}, 'changeNumber')
    .innerJoin('WebhookState as state', 'state.endpointNumber', 'WebhookEndpoint.number')
    .select(columns('state', 'failingSinceMs', 'lastSuccessAtMs', 'lastFailureAtMs', 'consecutiveFailures'));
}
