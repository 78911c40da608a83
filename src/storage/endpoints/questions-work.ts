/** What those who deliver read: most of it at the beginning of a transaction of work, and the logs in their own order. */

import type { CreatedSpan, LogRange } from '../../domain/webhook-store.ts';
import { columns } from '../plain-questions.ts';
import { type Db, type OfNumbers, question, type Words } from '../questions.ts';

/**
 * Whoever works on endpoints holds their states first, in this order: two who need several of them wait for each other, but
 * never both at once.
 */
export const holdStates = question<OfNumbers>()((db, given, { isAsked, hold }) =>
  hold(statesOf(db).where(isAsked('endpointNumber', given.numbers))),
);

export const holdFreeStates = question<OfNumbers>()((db, given, { isAsked, holdFree }) =>
  holdFree(statesOf(db).where(isAsked('endpointNumber', given.numbers))),
);

export const listWorkEndpoints = question<OfNumbers>()((db, given, { isAsked }) =>
  db
    .selectFrom('WebhookEndpoint as endpoint')
    .innerJoin('WebhookState as state', 'state.endpointNumber', 'endpoint.number')
    .where(isAsked('endpoint.number', given.numbers))
    .select(columns('endpoint', 'number', 'id', 'organizationNumber', 'version', 'maxInFlight'))
    .select(columns('endpoint', 'status', 'disabledReason', 'disabledAtMs', 'destinationVersion', 'run'))
    .select(columns('state', 'position', 'inFlight', 'subscriptionsJson'))
    .select(columns('state', 'failingSinceMs', 'lastSuccessAtMs', 'lastFailureAtMs', 'consecutiveFailures'))
    .select((column) => column('endpoint.archivedAtMs', 'is not', null).$castTo<boolean>().as('isArchived')),
);

export const listWorkDeliveries = question<OfNumbers>()((db, given, { find, isAsked }) =>
  deliveriesOf(db, find).where(isAsked('number', given.numbers)),
);

/** What they carry, and how many of its events the log still has. */
export const listContents = question<OfNumbers>()((db, given, { isAsked, eventsKept }) =>
  db
    .selectFrom('WebhookDelivery as delivery')
    .innerJoin('WebhookEndpoint as endpoint', 'endpoint.number', 'delivery.endpointNumber')
    .where(isAsked('delivery.number', given.numbers))
    .select([
      'delivery.number as number',
      'delivery.seqsJson as seqsJson',
      'delivery.eventsFromMs as firstMs',
      'delivery.eventsToMs as lastMs',
    ])
    .select(eventsKept().as('kept')),
);

export const listWorkReplays = question<OfNumbers>()((db, given, { find, isAsked }) =>
  find(db, 'WebhookReplay', {}, 'id', 'fromMs', 'toMs', 'type', 'mask', 'matched', 'createdAtMs').where(
    isAsked('number', given.numbers),
  ),
);

/** Numbers that no delivery has had. */
export const drawDeliveryNumbers = question<{ readonly count: number }>()((db, given, { drawNumbers }) =>
  drawNumbers(db, given.count),
);

/** Attempts of organizations in an hour. */
export const listHours = question<OfNumbers & { readonly hour: number }>()((db, given, { isAmong }) =>
  db
    .selectFrom('WebhookHour')
    .where(isAmong('organizationNumber', given.numbers))
    .where('hour', '=', given.hour)
    .select(['organizationNumber as organizationNumber', 'attempts as attempts']),
);

/** The test of that name that has not ended. */
export const holdTest = question<{ readonly endpointNumber: number; readonly dispatchId: string }>()(
  (db, given, { find, hold }) =>
    hold(
      unendedTests(db, find)
        .where('endpointNumber', '=', given.endpointNumber)
        .where('dispatchId', '=', given.dispatchId),
    ),
);

/** Tests that nobody will end any more, but for those that somebody does at the moment. */
export const holdLostTests = question<{ readonly nowMs: number; readonly limit: number }>()(
  (db, given, { find, holdFree }) =>
    holdFree(unendedTests(db, find).where('dueAtMs', '<', given.nowMs).limit(given.limit)),
);

/** When the test began that is so many before the newest. */
export const findTestStart = question<{
  readonly endpointNumber: number;
  readonly sinceMs: number;
  readonly skip: number;
}>()((db, given) =>
  db
    .selectFrom('WebhookAttempt')
    .where('endpointNumber', '=', given.endpointNumber)
    .where('firedAtMs', '>', given.sinceMs)
    .where((column) => column('test', '=', column.lit(true)))
    .select('firedAtMs as firedAtMs')
    .orderBy('firedAtMs', 'desc')
    .limit((column) => column.lit(1))
    .offset(given.skip),
);

function statesOf(db: Db) {
  return db.selectFrom('WebhookState').select('endpointNumber as number').orderBy('endpointNumber');
}

function unendedTests(db: Db, find: Words['find']) {
  return deliveriesOf(db, find)
    .where('endedAtMs', 'is', null)
    .where((column) => column('test', '=', column.lit(true)));
}

function deliveriesOf(db: Db, find: Words['find']) {
  const fixed = ['queuedAtMs', 'createdAtMs', 'eventsFromMs', 'eventsToMs', 'seqsJson', 'eventIdsJson'] as const;
  return find(db, 'WebhookDelivery', {}, ...fixed);
}

type OfLog = { readonly organizationNumber: number };

export const listHeads = question()((db) =>
  db.selectFrom('LogHead').select(['organizationNumber as organizationNumber', 'seq as seq']),
);

export const listEntries = question<OfLog & LogRange & { readonly firstMs: number }>()(
  (db, given, { within, envelopesOf }) =>
    within(logOf(envelopesOf(db), given), given.firstMs)
      .where('seq', '>', given.afterSeq)
      .limit(given.limit),
);

export const listEnvelopes = question<OfLog & CreatedSpan & { readonly seqs: readonly number[] }>()(
  (db, given, { within, isAmong, envelopesOf }) =>
    within(logOf(envelopesOf(db), given), given.firstMs, given.lastMs).where(isAmong('seq', given.seqs)),
);

function logOf(log: ReturnType<Words['envelopesOf']>, { organizationNumber }: OfLog) {
  return log
    .where('organizationNumber', '=', organizationNumber)
    .select(['seq as seq', 'envelope as envelope'])
    .orderBy('seq');
}
