/** Changes of webhook endpoints by management and deliveries, and the queries they need. */

import { sql } from 'kysely';
import type { ReplayStatus } from '../../domain/delivery/delivery.ts';
import type {
  AttemptRow,
  DeliveryRow,
  EndedAttempt,
  EndpointRow,
  FinishedCount,
  HourCount,
  NewDeliveryRow,
} from '../../domain/delivery/delivery-rows.ts';
import { count, find, insert, ofRows, pick, rowsOf, select, update, updateRest } from '../plain-queries.ts';
import { change, changeRows, type Dialect, type OfNumbers, query } from '../queries.ts';
import { replayStatuses } from '../rows/codes.ts';

const RUNNING = sql<ReplayStatus>`${sql.lit(replayStatuses.code('running'))}`;

type OfEndpoint = { readonly endpointNumber: number };

export const countEndpoints = count('WebhookEndpoint', ['organizationId'], { archivedAtMs: null });

export const findReplay = find('WebhookReplay', ['endpointNumber', 'id'], 'number', 'mask', 'position', 'toSeq');

export const countUnfinishedReplays = query<OfEndpoint>()((db, { endpointNumber }) =>
  rowsOf(db, 'WebhookReplay', { endpointNumber })
    .where('status', '=', RUNNING)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

/** Archived endpoints too. */
export const findNumber = select('WebhookEndpoint', ['organizationId', 'id'], ['number']);

export const markChanged = update('WebhookEndpoint', ['number'], ['changeNumber']);

export const findOrganizationNumber = select('Organization', ['id'], ['number']);

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

export const updateStates = changeRows<EndpointRow>((db, params, { row, update }) =>
  update(db, 'WebhookState', { endpointNumber: params.number }).set(row('WebhookState', params, 'endpointNumber')),
);

/** The instant of disabling is also that of the last update. */
export const disableEndpoints = changeRows<EndpointRow & { readonly changeNumber: number }>((db, params) =>
  db
    .updateTable('WebhookEndpoint')
    .where('number', '=', params.number)
    .set(pick(params, 'status', 'disabledReason', 'disabledAtMs', 'version', 'changeNumber'))
    .set({ updatedAtMs: params.disabledAtMs as number }),
);

export const insertDeliveries = changeRows<NewDeliveryRow>((db, params, { row, storableText }) =>
  db
    .insertInto('WebhookDelivery')
    .values({ ...row('WebhookDelivery', params), number: params.number, error: storableText(params.error) }),
);

export const updateDeliveries = changeRows<DeliveryRow>((db, params, { row, storableText, update }) =>
  update(db, 'WebhookDelivery', { number: params.number }).set({
    ...row('WebhookDelivery', params, ...FIXED),
    error: storableText(params.error),
  }),
);

export const insertAttempts = changeRows<AttemptRow>((db, params, { row, storableText }) =>
  db.insertInto('WebhookAttempt').values({ ...row('WebhookAttempt', params), ...textsOf(params, storableText) }),
);

export const endAttempts = changeRows<EndedAttempt>((db, params, { storableText, update }) => {
  const { endpointNumber, firedAtMs, id } = params;
  return update(db, 'WebhookAttempt', { endpointNumber, firedAtMs, id }).set({
    ...pick(params, 'outcome', 'responseStatus', 'latencyMs', 'terminalHint'),
    ...textsOf(params, storableText),
  });
});

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

/** Creates the head of an organization without events, so that it can be locked. */
export const insertHeads = changeRows<{ readonly organizationNumber: number }>((db, params) =>
  db
    .insertInto('LogHead')
    .values({
      organizationNumber: params.organizationNumber,
      seq: sql.lit(0),
      createdAtMs: sql.lit(0),
      lastKeyIndex: sql.lit(0),
    })
    .onConflict((conflict) => conflict.doNothing()),
);

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

/** The columns of a delivery that never change. */
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
  'eventIds',
] as const;

/** The texts of receivers. */
function textsOf({ error, responseBody }: EndedAttempt, storableText: Dialect['storableText']) {
  return { error: storableText(error), responseBody: storableText(responseBody) };
}
