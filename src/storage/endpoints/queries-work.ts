/** The reads of delivery transactions, and of the logs. */

import type { CreatedSpan, LogRange } from '../../domain/delivery/webhook-store.ts';
import { columns, rowsOf, select } from '../plain-queries.ts';
import { type Db, type Dialect, type OfNumbers, query } from '../queries.ts';

/** Every transaction on endpoints locks their states first and in this order, which prevents deadlocks. */
export const lockStates = query<OfNumbers>()((db, params, { isPoint, lock }) =>
  lock(statesOf(db).where(isPoint('endpointNumber', params.numbers))),
);

export const lockAvailableStates = query<OfNumbers>()((db, params, { isPoint, lockAvailable }) =>
  lockAvailable(statesOf(db).where(isPoint('endpointNumber', params.numbers))),
);

export const listEndpointRows = query<OfNumbers>()((db, params, { isPoint }) =>
  db
    .selectFrom('WebhookEndpoint as endpoint')
    .innerJoin('WebhookState as state', 'state.endpointNumber', 'endpoint.number')
    .where(isPoint('endpoint.number', params.numbers))
    .select(columns('endpoint', 'number', 'id', 'organizationNumber', 'version', 'maxInFlight'))
    .select(columns('endpoint', 'status', 'disabledReason', 'disabledAtMs', 'destinationVersion', 'run'))
    .select(columns('state', 'position', 'inFlight', 'subscriptionsJson'))
    .select(columns('state', 'failingSinceMs', 'lastSuccessAtMs', 'lastFailureAtMs', 'consecutiveFailures'))
    .select((column) => column('endpoint.archivedAtMs', 'is not', null).$castTo<boolean>().as('isArchived')),
);

export const listDeliveryRows = query<OfNumbers>()((db, params, { find, isPoint }) =>
  deliveriesOf(db, find).where(isPoint('number', params.numbers)),
);

/** The events of deliveries, and how many of them the log still has. */
export const listContents = query<OfNumbers>()((db, params, { isPoint, eventsKept }) =>
  db
    .selectFrom('WebhookDelivery as delivery')
    .innerJoin('WebhookEndpoint as endpoint', 'endpoint.number', 'delivery.endpointNumber')
    .where(isPoint('delivery.number', params.numbers))
    .select([
      'delivery.number as number',
      'delivery.seqs as seqs',
      'delivery.eventsFromMs as firstMs',
      'delivery.eventsToMs as lastMs',
    ])
    .select(eventsKept().as('kept')),
);

export const listReplayRows = query<OfNumbers>()((db, params, { find, isPoint }) =>
  find(db, 'WebhookReplay', {}, 'id', 'fromMs', 'toMs', 'type', 'mask', 'matched', 'createdAtMs').where(
    isPoint('number', params.numbers),
  ),
);

/** Draws unused delivery numbers. */
export const drawDeliveryNumbers = query<{ readonly count: number }>()((db, params, { drawNumbers }) =>
  drawNumbers(db, params.count),
);

/** Finds whether an endpoint has a delivery of that id. */
export const findDispatchId = select('WebhookDelivery', ['endpointNumber', 'dispatchId'], ['dispatchId']);

/** The attempts of organizations in an hour. */
export const listHours = select('WebhookHour', ['hour'], ['organizationNumber', 'attempts'], {
  organizationNumber: 'numbers',
});

/** An unfinished test by its name. */
export const lockTest = query<{ readonly endpointNumber: number; readonly dispatchId: string }>()(
  (db, params, { find, lock }) =>
    lock(
      unfinishedTests(db, find)
        .where('endpointNumber', '=', params.endpointNumber)
        .where('dispatchId', '=', params.dispatchId),
    ),
);

/** Unfinished tests past their lease, without those that another transaction has locked. */
export const lockLostTests = query<{ readonly nowMs: number; readonly limit: number }>()(
  (db, params, { find, lockAvailable }) =>
    lockAvailable(unfinishedTests(db, find).where('dueAtMs', '<', params.nowMs).limit(params.limit)),
);

/** When a test started, counted back from the newest by `skip`. */
export const findTestStart = query<{
  readonly endpointNumber: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly skip: number;
}>()((db, params) =>
  rowsOf(db, 'WebhookAttempt', { endpointNumber: params.endpointNumber })
    .where('firedAtMs', '>', params.sinceMs)
    .where('firedAtMs', '<=', params.untilMs)
    .where((column) => column('test', '=', column.lit(true)))
    .select('firedAtMs as firedAtMs')
    .orderBy('firedAtMs', 'desc')
    .limit((column) => column.lit(1))
    .offset(params.skip),
);

function statesOf(db: Db) {
  return db.selectFrom('WebhookState').select('endpointNumber as number').orderBy('endpointNumber');
}

function unfinishedTests(db: Db, find: Dialect['find']) {
  return deliveriesOf(db, find)
    .where('endedAtMs', 'is', null)
    .where((column) => column('test', '=', column.lit(true)));
}

function deliveriesOf(db: Db, find: Dialect['find']) {
  const fixed = ['queuedAtMs', 'createdAtMs', 'eventsFromMs', 'eventsToMs', 'seqs', 'eventIds'] as const;
  return find(db, 'WebhookDelivery', {}, ...fixed);
}

type OfLog = { readonly organizationNumber: number };

export const listHeads = select('LogHead', [], ['organizationNumber', 'seq'], { organizationNumber: 'numbers' });

export const listEntries = query<OfLog & LogRange & { readonly firstMs: number }>()(
  (db, params, { within, envelopesOf }) =>
    within(logOf(envelopesOf(db), params), params.firstMs)
      .where('seq', '>', params.afterSeq)
      .limit(params.limit),
);

export const listEnvelopes = query<OfLog & CreatedSpan & { readonly seqs: readonly number[] }>()(
  (db, params, { within, isAmong, envelopesOf }) =>
    within(logOf(envelopesOf(db), params), params.firstMs, params.lastMs).where(isAmong('seq', params.seqs)),
);

function logOf(log: ReturnType<Dialect['envelopesOf']>, { organizationNumber }: OfLog) {
  return log
    .where('organizationNumber', '=', organizationNumber)
    .select(['seq as seq', 'envelope as envelope'])
    .orderBy('seq');
}
