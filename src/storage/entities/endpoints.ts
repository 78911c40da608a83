import { defineEntity } from '@mikro-orm/core';
import type { AttemptOutcome, DeadReason, DeliveryStatus, ReplayStatus } from '../../domain/delivery/delivery.ts';
import type { EndpointRecord, SqsRecord } from '../../domain/endpoints/endpoint.ts';
import { deliveryStatuses, replayStatuses } from '../rows/codes.ts';
import {
  bigInteger,
  bytes,
  enumCode,
  enumText,
  flag,
  id,
  instant,
  integer,
  json,
  onlyOn,
  parsed,
  receivedText,
  table,
  text,
  times,
} from './kinds.ts';

export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    // Short and ascending: other rows refer to an endpoint by it instead of by the id.
    number: integer().primary().autoincrement(),
    id: id().unique(),
    organizationId: id(),
    organizationNumber: integer(),
    destinationKind: enumText<EndpointRecord['destinationKind']>(),
    url: text().strictNullable(),
    // Without the secret.
    sqs: parsed<SqsRecord>('sqs').strictNullable(),
    sqsSecret: bytes().strictNullable(),
    enabledEvents: parsed<EndpointRecord['enabledEvents']>('enabled_events'),
    status: enumText<EndpointRecord['status']>(),
    disabledReason: enumText<EndpointRecord['disabledReason'] & string>().strictNullable(),
    disabledAtMs: instant('disabled_at').strictNullable(),
    maxBatchSize: integer(),
    maxBatchDelayMs: integer(),
    maxInFlight: integer(),
    description: text().strictNullable(),
    secret: bytes(),
    previousSecret: bytes().strictNullable(),
    previousSecretUntilMs: instant('previous_secret_until').strictNullable(),
    destinationVersion: integer(),
    run: integer(),
    version: integer(),
    changeNumber: bigInteger(),
    ...times(),
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
 * The state of an endpoint that deliveries change all the time, apart from what its owner decides. The row is the mutex
 * of the endpoint: every change of the endpoint locks it first.
 */
export const WebhookState = table('WebhookState', 'webhook_states', {
  endpointNumber: integer().primary().autoincrement(false),
  position: bigInteger(),
  inFlight: integer(),
  subscriptionsJson: json('subscriptions'),
  failingSinceMs: instant('failing_since').strictNullable(),
  lastSuccessAtMs: instant('last_success_at').strictNullable(),
  lastFailureAtMs: instant('last_failure_at').strictNullable(),
  consecutiveFailures: integer(),
});

/** One row: the number of the newest change of endpoints. */
export const WebhookChangeCount = defineEntity({
  name: 'WebhookChangeCount',
  tableName: 'webhook_changes',
  properties: { id: integer().primary().autoincrement(false), number: bigInteger() },
  checks: [{ name: 'webhook_changes_is_one', expression: 'id = 1' }],
});

const RUNNING = `status = ${replayStatuses.code('running')}`;

/** Replays: events of a time range that are delivered once more. */
export const WebhookReplay = defineEntity({
  name: 'WebhookReplay',
  tableName: 'webhook_replays',
  properties: {
    number: integer().primary().autoincrement(),
    id: id(),
    endpointNumber: integer(),
    fromMs: instant('from_ms'),
    toMs: instant('to_ms'),
    type: text().strictNullable(),
    mask: integer(),
    position: bigInteger(),
    toSeq: bigInteger(),
    matched: bigInteger(),
    enqueued: bigInteger(),
    delivered: bigInteger(),
    dead: bigInteger(),
    status: enumCode<ReplayStatus>('replayStatuses'),
    createdAtMs: instant('created_at'),
    completedAtMs: instant('completed_at').strictNullable(),
  },
  uniques: [{ name: 'webhook_replays_by_id', properties: ['endpointNumber', 'id'] }],
  indexes: [{ name: 'webhook_replays_running', properties: ['endpointNumber', 'number'], where: RUNNING }],
});

/** Deliveries: batches of events, and their outcomes. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    number: bigInteger().primary().autoincrement(),
    endpointNumber: integer(),
    dispatchId: id(),
    status: enumCode<DeliveryStatus>('deliveryStatuses'),
    replayNumber: integer().strictNullable(),
    counted: enumCode<'delivered' | 'dead'>('replayCounts').strictNullable(),
    run: integer(),
    attempt: integer(),
    failures: integer(),
    lost: integer(),
    fence: integer(),
    dueAtMs: instant('due_at').strictNullable(),
    backoffStartedAtMs: instant('ladder_started_at').strictNullable(),
    attemptId: id().strictNullable(),
    queuedAtMs: instant('queued_at'),
    createdAtMs: instant('created_at'),
    firstAttemptAtMs: instant('first_attempt_at').strictNullable(),
    lastAttemptAtMs: instant('last_attempt_at').strictNullable(),
    endedAtMs: instant('ended_at').strictNullable(),
    deadReason: enumCode<DeadReason>('deadReasons').strictNullable(),
    terminalHint: flag(),
    responseStatus: integer().strictNullable(),
    error: receivedText().strictNullable(),
    test: flag(),
    eventCount: integer(),
    eventsFromMs: instant('events_from'),
    eventsToMs: instant('events_to'),
    seqs: parsed<readonly number[]>('seqs'),
    eventIds: parsed<readonly string[]>('event_ids'),
  },
  uniques: [{ name: 'webhook_deliveries_by_dispatch', properties: ['endpointNumber', 'dispatchId'] }],
  indexes: [
    // Ended deliveries leave the small indexes by which senders find work. On SQLite the condition is also a column:
    // otherwise every counted row would be read for it.
    onlyOn('sqlite', {
      name: 'webhook_deliveries_waiting',
      properties: ['endpointNumber', 'status', 'run', 'dueAtMs', 'endedAtMs'],
      where: 'ended_at is null and test = false',
    }),
    // PostgreSQL updates every index of a changed row, so a single index also serves the age.
    onlyOn('postgres', {
      name: 'webhook_deliveries_waiting',
      properties: ['endpointNumber', 'status', 'run', 'dueAtMs', 'queuedAtMs'],
      where: 'ended_at is null and test = false',
    }),
    onlyOn('sqlite', {
      name: 'webhook_deliveries_by_age',
      properties: ['endpointNumber', 'queuedAtMs', 'endedAtMs'],
      where: 'ended_at is null and test = false',
    }),
    // Replayed events may be much older than their delivery.
    onlyOn('sqlite', {
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

/** The log of attempts. The content of an attempt is in its delivery. */
export const WebhookAttempt = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempts',
  properties: {
    endpointNumber: integer().primary(),
    firedAtMs: instant('fired_at').primary(),
    id: id().primary(),
    deliveryNumber: bigInteger(),
    attempt: integer(),
    outcome: enumCode<AttemptOutcome>('attemptOutcomes'),
    responseStatus: integer().strictNullable(),
    latencyMs: integer().strictNullable(),
    error: receivedText().strictNullable(),
    responseBody: receivedText().strictNullable(),
    test: flag(),
    terminalHint: flag(),
  },
  indexes: [
    { name: 'webhook_attempts_by_delivery', properties: ['deliveryNumber', 'attempt'] },
    { name: 'webhook_attempts_of_tests', properties: ['endpointNumber', 'firedAtMs'], where: 'test = true' },
  ],
});

/** Ended deliveries of an endpoint, per ten seconds since 1970. WITHOUT ROWID on SQLite. */
export const WebhookFigure = table('WebhookFigure', 'webhook_figures', {
  endpointNumber: integer().primary(),
  bucket: bigInteger().primary(),
  finished: integer(),
  succeeded: integer(),
});

/** Attempts of an organization, per hour since 1970. WITHOUT ROWID on SQLite. */
export const WebhookHour = table('WebhookHour', 'webhook_hours', {
  organizationNumber: integer().primary(),
  hour: integer().primary(),
  attempts: integer(),
});
