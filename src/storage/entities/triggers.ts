import { defineEntity } from '@mikro-orm/core';
import type { SentFilter } from '../../domain/traces/search/trace-search-query.ts';
import type {
  ActionParams,
  AlertType,
  Cadence,
  MetricRule,
  TriggerAction,
  TriggerKind,
  TriggerState,
  TriggerStatus,
} from '../../domain/triggers/trigger.ts';
import type { TriggerEvent } from '../../domain/triggers/trigger-store.ts';
import { bigInteger, bytes, enumText, flag, id, instant, integer, parsed, real, slugged, text } from './kinds.ts';

export const TriggerRow = defineEntity(
  slugged('Trigger', 'triggers', {
    kind: enumText<TriggerKind>(),
    active: flag(),
    filters: parsed<readonly SentFilter[]>('filters'),
    query: text(),
    alertType: enumText<AlertType>().strictNullable(),
    message: text().strictNullable(),
    action: enumText<TriggerAction>(),
    actionParams: parsed<ActionParams>('action_params'),
    secret: bytes().strictNullable(),
    cadence: enumText<Cadence>(),
    rule: parsed<MetricRule>('rule').strictNullable(),
    // As for monitors: the change number at which it last began to run on traces.
    runsSince: bigInteger(),
  }),
);

/** The state of each trigger that is not deleted. */
export const TriggerStateRow = defineEntity({
  name: 'TriggerState',
  tableName: 'trigger_states',
  properties: {
    projectId: id().primary(),
    triggerId: id().primary(),
    status: enumText<TriggerStatus>(),
    sinceMs: instant('since'),
    value: real().strictNullable(),
    group: text().fieldName('worst_group').strictNullable(),
    evaluatedAtMs: instant('evaluated_at').strictNullable(),
    notifiedAtMs: instant('notified_at').strictNullable(),
    reason: text().strictNullable(),
    announced: enumText<NonNullable<TriggerState['announced']>>().strictNullable(),
    goodWindows: integer(),
    resumedAtMs: instant('resumed_at'),
    dueAtMs: instant('due_at').strictNullable(),
    // Until then no other process evaluates the trigger.
    leasedUntilMs: instant('leased_until'),
    fence: bigInteger(),
  },
  indexes: [{ name: 'trigger_states_by_due', properties: ['dueAtMs'], where: 'due_at is not null' }],
});

/** What triggers did, with the notifications that wait. */
export const TriggerEventRow = defineEntity({
  name: 'TriggerEvent',
  tableName: 'trigger_events',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    triggerId: id(),
    kind: enumText<TriggerEvent['kind']>(),
    status: enumText<TriggerStatus>(),
    value: real().strictNullable(),
    group: text().fieldName('worst_group').strictNullable(),
    reason: text().strictNullable(),
    traceCount: integer(),
    traceIds: parsed<readonly string[]>('trace_ids'),
    delivery: enumText<TriggerEvent['delivery']>(),
    attempts: integer(),
    error: text().strictNullable(),
    createdAtMs: instant('created_at'),
    sentAtMs: instant('sent_at').strictNullable(),
    dueAtMs: instant('due_at').strictNullable(),
    leasedUntilMs: instant('leased_until'),
    fence: bigInteger(),
  },
  indexes: [
    { name: 'trigger_events_by_creation', properties: ['projectId', 'triggerId', 'createdAtMs', 'id'] },
    { name: 'trigger_events_by_due', properties: ['projectId', 'dueAtMs'], where: 'due_at is not null' },
    { name: 'trigger_events_by_age', properties: ['createdAtMs'] },
  ],
});

/** Which trigger has fired for which trace: never twice. Removed with the trace, and with the trigger. */
export const TriggerFiringRow = defineEntity({
  name: 'TriggerFiring',
  tableName: 'trigger_firings',
  properties: {
    projectId: id().primary(),
    triggerId: id().primary(),
    // Not packed as the ids of traces are elsewhere.
    trace: id().fieldName('trace_id').primary(),
    eventId: id(),
    firedAtMs: instant('fired_at'),
  },
  indexes: [{ name: 'trigger_firings_by_trace', properties: ['projectId', 'trace'] }],
});
