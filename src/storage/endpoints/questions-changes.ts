/** What management and those who deliver change of webhook endpoints, and what they ask for it. */

import { sql } from 'kysely';
import type { ReplayStatus } from '../../domain/delivery.ts';
import type {
  AttemptRow,
  EndedAttempt,
  FinishedCount,
  HourCount,
  NewDelivery,
  WorkDelivery,
  WorkEndpoint,
} from '../../domain/delivery-rows.ts';
import { find, insert, ofRows, pick, update, updateRest } from '../plain-questions.ts';
import { change, changeRows, type OfNumbers, question, type Words } from '../questions.ts';
import { replayStatuses } from '../rows/codes.ts';

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

export const updateStates = changeRows<WorkEndpoint>((db, given, { row, update }) =>
  update(db, 'WebhookState', { endpointNumber: given.number }).set(row('WebhookState', given, 'endpointNumber')),
);

/** When an endpoint is disabled, that is an update of it. */
export const disableEndpoints = changeRows<WorkEndpoint & { readonly changeNumber: number }>((db, given) =>
  db
    .updateTable('WebhookEndpoint')
    .where('number', '=', given.number)
    .set(pick(given, 'status', 'disabledReason', 'disabledAtMs', 'version', 'changeNumber'))
    .set({ updatedAtMs: given.disabledAtMs as number }),
);

export const insertDeliveries = changeRows<NewDelivery>((db, given, { row, storableText }) =>
  db
    .insertInto('WebhookDelivery')
    .values({ ...row('WebhookDelivery', given), number: given.number, error: storableText(given.error) }),
);

export const updateDeliveries = changeRows<WorkDelivery>((db, given, { row, storableText, update }) =>
  update(db, 'WebhookDelivery', { number: given.number }).set({
    ...row('WebhookDelivery', given, ...FIXED),
    error: storableText(given.error),
  }),
);

export const insertAttempts = changeRows<AttemptRow>((db, given, { row, storableText }) =>
  db.insertInto('WebhookAttempt').values({ ...row('WebhookAttempt', given), ...textsOf(given, storableText) }),
);

export const endAttempts = changeRows<EndedAttempt>((db, given, { storableText, update }) => {
  const { endpointNumber, firedAtMs, id } = given;
  return update(db, 'WebhookAttempt', { endpointNumber, firedAtMs, id }).set({
    ...pick(given, 'outcome', 'responseStatus', 'latencyMs', 'terminalHint'),
    ...textsOf(given, storableText),
  });
});

export const updateReplays = ofRows(
  update('WebhookReplay', ['number'], ['status', 'position', 'enqueued', 'delivered', 'dead', 'completedAtMs']),
);

export const addFigures = changeRows<FinishedCount>((db, given, { row }) =>
  db
    .insertInto('WebhookFigure')
    .values(row('WebhookFigure', given))
    .onConflict((conflict) =>
      conflict.columns(['endpointNumber', 'bucket']).doUpdateSet(({ eb, ref }) => ({
        finished: eb('WebhookFigure.finished', '+', ref('excluded.finished')),
        succeeded: eb('WebhookFigure.succeeded', '+', ref('excluded.succeeded')),
      })),
    ),
);

/** Holds what it adds to, even if that is nothing. */
export const addHours = changeRows<HourCount>((db, given, { row }) =>
  db
    .insertInto('WebhookHour')
    .values(row('WebhookHour', given))
    .onConflict((conflict) =>
      conflict.columns(['organizationNumber', 'hour']).doUpdateSet(({ eb, ref }) => ({
        attempts: eb('WebhookHour.attempts', '+', ref('excluded.attempts')),
      })),
    ),
);

/** Whoever changes endpoints takes the next number of a change, and holds it. */
export const countChange = change((db) =>
  db
    .updateTable('WebhookChangeCount')
    .where('id', '=', sql.lit(1))
    .set(({ eb }) => ({ number: eb('number', '+', sql.lit(1)) })),
);

/** An organization without events has no head that could be held. */
export const insertHeads = changeRows<{ readonly organizationNumber: number }>((db, given) =>
  db
    .insertInto('LogHead')
    .values({
      organizationNumber: given.organizationNumber,
      seq: sql.lit(0),
      createdAtMs: sql.lit(0),
      lastKeyIndex: sql.lit(0),
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Nobody appends to these logs before the transaction ends. */
export const holdHeads = question<OfNumbers>()((db, given, { isAsked, hold }) =>
  hold(
    db
      .selectFrom('LogHead')
      .where(isAsked('organizationNumber', given.numbers))
      .select(['organizationNumber as organizationNumber', 'seq as seq'])
      .orderBy('organizationNumber'),
  ),
);

/** What of a delivery never changes. */
const FIXED = [
  'endpointNumber',
  'dispatchId',
  'replayNumber',
  'queuedAtMs',
  'createdAtMs',
  'test',
  'eventCount',
  'eventsFromMs',
  'eventsToMs',
  'seqsJson',
  'eventIdsJson',
] as const;

/** What receivers said. */
function textsOf({ error, responseBody }: EndedAttempt, storableText: Words['storableText']) {
  return { error: storableText(error), responseBody: storableText(responseBody) };
}
