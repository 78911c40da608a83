/** What work about deliveries writes. */

import { sql } from 'kysely';
import type {
  AttemptRow,
  EndedAttempt,
  FinishedCount,
  HourCount,
  NewDelivery,
  WorkDelivery,
  WorkEndpoint,
  WorkReplay,
} from '../delivery/tables.ts';
import { change, changeRows, type OfNumbers, question } from '../questions.ts';

export const updateStates = changeRows<WorkEndpoint>((db, given) =>
  db
    .updateTable('WebhookState')
    .where('endpointNumber', '=', given.number)
    .set(
      pick(
        given,
        'position',
        'inFlight',
        'subscriptionsJson',
        'failingSinceMs',
        'lastSuccessAtMs',
        'lastFailureAtMs',
        'consecutiveFailures',
      ),
    ),
);

/** When an endpoint is disabled, that is an update of it. */
export const disableEndpoints = changeRows<WorkEndpoint & { readonly changeNumber: number }>((db, given) =>
  db
    .updateTable('WebhookEndpoint')
    .where('number', '=', given.number)
    .set(pick(given, 'status', 'disabledReason', 'disabledAtMs', 'version', 'changeNumber'))
    .set({ updatedAtMs: given.disabledAtMs as number }),
);

export const insertDeliveries = changeRows<NewDelivery>((db, given, { storableText }) =>
  db.insertInto('WebhookDelivery').values({
    ...pick(given, ...MOVING),
    error: storableText(given.error),
    ...pick(
      given,
      'number',
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
    ),
  }),
);

export const updateDeliveries = changeRows<WorkDelivery>((db, given, { storableText }) =>
  db
    .updateTable('WebhookDelivery')
    .where('number', '=', given.number)
    .set({ ...pick(given, ...MOVING), error: storableText(given.error) }),
);

export const insertAttempts = changeRows<AttemptRow>((db, given, { storableText }) =>
  db.insertInto('WebhookAttempt').values({
    ...pick(given, 'endpointNumber', 'firedAtMs', 'id', 'deliveryNumber', 'attempt', 'test', ...END),
    error: storableText(given.error),
    responseBody: storableText(given.responseBody),
  }),
);

export const endAttempts = changeRows<EndedAttempt>((db, given, { storableText }) =>
  db
    .updateTable('WebhookAttempt')
    .where('endpointNumber', '=', given.endpointNumber)
    .where('firedAtMs', '=', given.firedAtMs)
    .where('id', '=', given.id)
    .set({
      ...pick(given, ...END),
      error: storableText(given.error),
      responseBody: storableText(given.responseBody),
    }),
);

export const updateReplays = changeRows<WorkReplay>((db, given) =>
  db
    .updateTable('WebhookReplay')
    .where('number', '=', given.number)
    .set(pick(given, 'status', 'position', 'enqueued', 'delivered', 'dead', 'completedAtMs')),
);

export const addFigures = changeRows<FinishedCount>((db, given) =>
  db
    .insertInto('WebhookFigure')
    .values(pick(given, 'endpointNumber', 'bucket', 'finished', 'succeeded'))
    .onConflict((conflict) =>
      conflict.columns(['endpointNumber', 'bucket']).doUpdateSet(({ eb, ref }) => ({
        finished: eb('WebhookFigure.finished', '+', ref('excluded.finished')),
        succeeded: eb('WebhookFigure.succeeded', '+', ref('excluded.succeeded')),
      })),
    ),
);

/** Holds what it adds to, even if that is nothing. */
export const addHours = changeRows<HourCount>((db, given) =>
  db
    .insertInto('WebhookHour')
    .values(pick(given, 'organizationNumber', 'hour', 'attempts'))
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

const MOVING = [
  'status',
  'counted',
  'run',
  'attempt',
  'failures',
  'lost',
  'fence',
  'dueAtMs',
  'ladderStartedAtMs',
  'attemptId',
  'firstAttemptAtMs',
  'lastAttemptAtMs',
  'endedAtMs',
  'deadReason',
  'terminalHint',
  'responseStatus',
] as const;

const END = ['outcome', 'responseStatus', 'latencyMs', 'terminalHint'] as const;

/** Some of what is given, by its names. */
function pick<Given, const Name extends keyof Given>(given: Given, ...names: readonly Name[]): Pick<Given, Name> {
  return Object.fromEntries(names.map((name) => [name, given[name]])) as Pick<Given, Name>;
}
