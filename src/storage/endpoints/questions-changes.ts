/** What is asked and stored when management changes webhook endpoints. */

import { sql } from 'kysely';
import type { ReplayStatus } from '../../domain/delivery.ts';
import { find, insert, update, updateRest } from '../plain-questions.ts';
import { change, question } from '../questions.ts';
import { replayStatuses } from '../rows/webhook-codes.ts';

const RUNNING = sql<ReplayStatus>`${sql.lit(replayStatuses.code('running'))}`;

type OfOrganization = { readonly organizationId: string };
type OfEndpoint = { readonly endpointNumber: number };

export const countEndpoints = question<OfOrganization>()((db, { organizationId }) =>
  db
    .selectFrom('WebhookEndpoint')
    .where('organizationId', '=', organizationId)
    .where('archivedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findReplay = find('WebhookReplay', ['endpointNumber', 'id'], 'number', 'mask', 'position', 'toSeq');

export const countUnfinishedReplays = question<OfEndpoint>()((db, { endpointNumber }) =>
  db
    .selectFrom('WebhookReplay')
    .where('endpointNumber', '=', endpointNumber)
    .where('status', '=', RUNNING)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

/** Archived ones too. */
export const findNumber = question<OfOrganization & { readonly id: string }>()((db, { organizationId, id }) =>
  db
    .selectFrom('WebhookEndpoint')
    .where('organizationId', '=', organizationId)
    .where('id', '=', id)
    .select('number as number'),
);

export const markChanged = update('WebhookEndpoint', ['number'], ['changeNumber']);

export const findOrganizationNumber = question<{ readonly id: string }>()((db, { id }) =>
  db.selectFrom('Organization').where('id', '=', id).select('number as number'),
);

export const insertEndpoint = insert('WebhookEndpoint');

export const updateEndpoint = updateRest('WebhookEndpoint', ['number'], 'organizationNumber');

export const insertState = insert('WebhookState');

export const insertReplay = insert('WebhookReplay');

export const cancelReplays = change<OfEndpoint & { readonly completedAtMs: number }>(
  (db, { endpointNumber, completedAtMs }, { update }) =>
    update(db, 'WebhookReplay', { endpointNumber })
      .where('status', '=', RUNNING)
      .set({ status: sql<ReplayStatus>`${sql.lit(replayStatuses.code('cancelled'))}`, completedAtMs }),
);
