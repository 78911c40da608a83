/** Queries about webhook endpoints. */

import { sql } from 'kysely';
import type { ReplayStatus } from '../../domain/delivery/delivery.ts';
import { columns } from '../plain-queries.ts';
import { type Db, type Dialect, query } from '../queries.ts';
import { replayStatuses } from '../rows/codes.ts';

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
