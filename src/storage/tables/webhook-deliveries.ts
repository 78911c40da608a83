import { defineEntity } from '@mikro-orm/core';
import type { DeadReason, DeliveryStatus } from '../../domain/delivery.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import { code, codeOf, flag, id, instant, json, large, only, text, whole } from './kinds.ts';

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
    counted: code().strictNullable(),
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
