import { defineEntity } from '@mikro-orm/core';
import type { AttemptOutcome, DeadReason, DeliveryStatus, ReplayStatus } from '../../domain/delivery.ts';
import type { EndpointRecord } from '../../domain/endpoint.ts';
import { deliveryStatuses, replayStatuses } from '../rows/codes.ts';
import { bytes, codeOf, flag, id, instant, json, large, only, text, whole, word } from './kinds.ts';

export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    // Short and ascending: rows about the endpoint carry it instead of the id.
    number: whole().primary().autoincrement(),
    id: id().unique(),
    organizationId: id(),
    organizationNumber: whole(),
    destinationKind: word<EndpointRecord['destinationKind']>(),
    url: text().strictNullable(),
    // JSON without the secret.
    sqs: text().strictNullable(),
    sqsSecret: bytes().strictNullable(),
    // JSON.
    enabledEvents: text(),
    status: word<EndpointRecord['status']>(),
    disabledReason: word<EndpointRecord['disabledReason'] & string>().strictNullable(),
    disabledAtMs: instant('disabled_at').strictNullable(),
    maxBatchSize: whole(),
    maxBatchDelayMs: whole(),
    maxInFlight: whole(),
    description: text().strictNullable(),
    secret: bytes(),
    previousSecret: bytes().strictNullable(),
    previousSecretUntilMs: instant('previous_secret_until').strictNullable(),
    destinationVersion: whole(),
    run: whole(),
    version: whole(),
    changeNumber: large(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    archivedAtMs: instant('archived_at').strictNullable(),
  },
  indexes: [
    {
      name: 'webhook_endpoints_by_organization',
      properties: ['organizationId', 'createdAtMs', 'id'],
      where: 'archived_at is null',
    },
    { name: 'webhook_endpoints_by_change', properties: ['changeNumber'] },
  ],
});

/**
 * What deliveries change all the time of an endpoint, apart from what its owner decides. The row is the mutex of its
 * endpoint: whoever changes anything about the endpoint takes it first.
 */
export const WebhookState = defineEntity({
  name: 'WebhookState',
  tableName: 'webhook_states',
  properties: {
    endpointNumber: whole().primary().autoincrement(false),
    position: large(),
    inFlight: whole(),
    subscriptionsJson: json('subscriptions'),
    failingSinceMs: instant('failing_since').strictNullable(),
    lastSuccessAtMs: instant('last_success_at').strictNullable(),
    lastFailureAtMs: instant('last_failure_at').strictNullable(),
    consecutiveFailures: whole(),
  },
});

/** One row: the number of the newest change of endpoints. */
export const WebhookChangeCount = defineEntity({
  name: 'WebhookChangeCount',
  tableName: 'webhook_changes',
  properties: { id: whole().primary().autoincrement(false), number: large() },
  checks: [{ name: 'webhook_changes_is_one', expression: 'id = 1' }],
});

const RUNNING = `status = ${replayStatuses.code('running')}`;

/** Events of a time range on their way to an endpoint once more. */
export const WebhookReplay = defineEntity({
  name: 'WebhookReplay',
  tableName: 'webhook_replays',
  properties: {
    number: whole().primary().autoincrement(),
    id: id(),
    endpointNumber: whole(),
    fromMs: instant('from_ms'),
    toMs: instant('to_ms'),
    type: text().strictNullable(),
    mask: whole(),
    position: large(),
    toSeq: large(),
    matched: large(),
    enqueued: large(),
    delivered: large(),
    dead: large(),
    status: codeOf<ReplayStatus>('replayStatuses'),
    createdAtMs: instant('created_at'),
    completedAtMs: instant('completed_at').strictNullable(),
  },
  uniques: [{ name: 'webhook_replays_by_id', properties: ['endpointNumber', 'id'] }],
  indexes: [{ name: 'webhook_replays_running', properties: ['endpointNumber', 'number'], where: RUNNING }],
});

/** Batches of events on their way to an endpoint, and what became of them. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    number: large().primary().autoincrement(),
    endpointNumber: whole(),
    dispatchId: id(),
    status: codeOf<DeliveryStatus>('deliveryStatuses'),
    replayNumber: whole().strictNullable(),
    counted: codeOf<'delivered' | 'dead'>('replayCounts').strictNullable(),
    run: whole(),
    attempt: whole(),
    failures: whole(),
    lost: whole(),
    fence: whole(),
    dueAtMs: instant('due_at').strictNullable(),
    ladderStartedAtMs: instant('ladder_started_at').strictNullable(),
    attemptId: id().strictNullable(),
    queuedAtMs: instant('queued_at'),
    createdAtMs: instant('created_at'),
    firstAttemptAtMs: instant('first_attempt_at').strictNullable(),
    lastAttemptAtMs: instant('last_attempt_at').strictNullable(),
    endedAtMs: instant('ended_at').strictNullable(),
    deadReason: codeOf<DeadReason>('deadReasons').strictNullable(),
    terminalHint: flag(),
    responseStatus: whole().strictNullable(),
    error: text().strictNullable(),
    test: flag(),
    eventCount: whole(),
    eventsFromMs: instant('events_from'),
    eventsToMs: instant('events_to'),
    seqsJson: json('seqs'),
    eventIdsJson: json('event_ids'),
  },
  uniques: [{ name: 'webhook_deliveries_by_dispatch', properties: ['endpointNumber', 'dispatchId'] }],
  indexes: [
    // Deliveries that have ended leave the small indexes by which senders look for work. That the others have not is a
    // column there on SQLite, or it would be looked up in every row that is counted.
    only('sqlite', {
      name: 'webhook_deliveries_waiting',
      properties: ['endpointNumber', 'status', 'run', 'dueAtMs', 'endedAtMs'],
      where: 'ended_at is null and test = false',
    }),
    // PostgreSQL writes an entry anew for every index of a row that changes, so it has one that serves for age as well.
    only('postgres', {
      name: 'webhook_deliveries_waiting',
      properties: ['endpointNumber', 'status', 'run', 'dueAtMs', 'queuedAtMs'],
      where: 'ended_at is null and test = false',
    }),
    only('sqlite', {
      name: 'webhook_deliveries_by_age',
      properties: ['endpointNumber', 'queuedAtMs', 'endedAtMs'],
      where: 'ended_at is null and test = false',
    }),
    // What is replayed may be much older than its delivery.
    only('sqlite', {
      name: 'webhook_deliveries_of_replays',
      properties: ['endpointNumber', 'eventsFromMs'],
      where: 'ended_at is null and replay_number is not null',
    }),
    { name: 'webhook_deliveries_of_tests', properties: ['dueAtMs'], where: 'ended_at is null and test = true' },
    { name: 'webhook_deliveries_ended', properties: ['endedAtMs'], where: 'ended_at is not null' },
    {
      name: 'webhook_deliveries_dead',
      properties: ['endpointNumber', 'endedAtMs', 'dispatchId'],
      where: `status = ${deliveryStatuses.code('dead')} and test = false`,
    },
  ],
});

/** The log of attempts. What an attempt was made of is in its delivery. */
export const WebhookAttempt = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempts',
  properties: {
    endpointNumber: whole().primary(),
    firedAtMs: instant('fired_at').primary(),
    id: id().primary(),
    deliveryNumber: large(),
    attempt: whole(),
    outcome: codeOf<AttemptOutcome>('attemptOutcomes'),
    responseStatus: whole().strictNullable(),
    latencyMs: whole().strictNullable(),
    error: text().strictNullable(),
    responseBody: text().strictNullable(),
    test: flag(),
    terminalHint: flag(),
  },
  indexes: [
    { name: 'webhook_attempts_by_delivery', properties: ['deliveryNumber', 'attempt'] },
    { name: 'webhook_attempts_of_tests', properties: ['endpointNumber', 'firedAtMs'], where: 'test = true' },
  ],
});

/** How many deliveries of an endpoint ended, by tens of seconds since 1970. WITHOUT ROWID on SQLite. */
export const WebhookFigure = defineEntity({
  name: 'WebhookFigure',
  tableName: 'webhook_figures',
  properties: {
    endpointNumber: whole().primary(),
    bucket: large().primary(),
    finished: whole(),
    succeeded: whole(),
  },
});

/** How many attempts an organization had, by hours since 1970. WITHOUT ROWID on SQLite. */
export const WebhookHour = defineEntity({
  name: 'WebhookHour',
  tableName: 'webhook_hours',
  properties: {
    organizationNumber: whole().primary(),
    hour: whole().primary(),
    attempts: whole(),
  },
});
