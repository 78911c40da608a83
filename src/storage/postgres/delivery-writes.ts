/** What work about deliveries has changed, as statements for all rows of a table at once. */

import type {
  AttemptEnd,
  AttemptKey,
  AttemptRow,
  EndedAttempt,
  FinishedCount,
  HourCount,
  NewDeliveryRow,
  WorkChanges,
  WorkDelivery,
  WorkEndpoint,
  WorkReplay,
} from '../delivery/tables.ts';
import { attemptOutcomes, deadReasons, deliveryStatuses, replayCounts, replayStatuses } from '../rows/webhook-codes.ts';
import { writeEventIds, writeSeqs } from '../rows/webhook-texts.ts';
import { type Columns, insertMany, type ManyRows, updateMany } from './many-rows.ts';
import type { Transaction } from './transaction.ts';

/** A state as it is in the end; subscriptions are null when they stay as they are. */
export type StateRow = WorkEndpoint & { readonly subscriptionsText: string | null };

export type DisabledRow = { readonly endpoint: WorkEndpoint; readonly changeNumber: number };

/** In the order of their keys, wherever others take rows that they do not hold the endpoint of. */
export function writeWork(transaction: Transaction, changes: Omit<WorkChanges, 'states' | 'disabled'>): void {
  const write = <Row>(many: ManyRows<Row>, rows: readonly Row[]) => postMany(transaction, many, rows);
  write(NEW_DELIVERIES, changes.newDeliveries);
  write(DELIVERIES, changes.deliveries);
  write(NEW_ATTEMPTS, changes.newAttempts);
  write(ENDED_ATTEMPTS, changes.endedAttempts);
  write(REPLAYS, changes.replays);
  write(FIGURES, changes.figures);
  write(
    HOURS,
    changes.hours.toSorted((a, b) => a.organizationNumber - b.organizationNumber || a.hour - b.hour),
  );
}

/** Sends nothing when there are no rows. */
export function postMany<Row>({ post }: Transaction, many: ManyRows<Row>, rows: readonly Row[]): void {
  if (rows.length > 0) post(many.statement, many.values(rows));
}

export const STATES = updateMany<StateRow>(
  {
    name: 'work-states',
    table: 'webhook_states',
    keys: ['endpoint_number'],
    expressions: { subscriptions: 'coalesce(given.subscriptions, stored.subscriptions)' },
  },
  {
    endpoint_number: ['integer', ({ number }) => number],
    position: ['bigint', ({ position }) => position],
    in_flight: ['integer', ({ inFlight }) => inFlight],
    subscriptions: ['text', ({ subscriptionsText }) => subscriptionsText],
    failing_since: ['bigint', ({ state }) => state.failingSinceMs],
    last_success_at: ['bigint', ({ state }) => state.lastSuccessAtMs],
    last_failure_at: ['bigint', ({ state }) => state.lastFailureAtMs],
    consecutive_failures: ['integer', ({ state }) => state.consecutiveFailures],
  },
);

export const DISABLED = updateMany<DisabledRow>(
  { name: 'work-disabled', table: 'webhook_endpoints', keys: ['number'] },
  {
    number: ['integer', ({ endpoint }) => endpoint.number],
    status: ['text', ({ endpoint }) => endpoint.state.status],
    disabled_reason: ['text', ({ endpoint }) => endpoint.state.disabledReason],
    disabled_at: ['bigint', ({ endpoint }) => endpoint.state.disabledAtMs],
    updated_at: ['bigint', ({ endpoint }) => endpoint.state.disabledAtMs],
    version: ['integer', ({ endpoint }) => endpoint.version],
    change_number: ['bigint', ({ changeNumber }) => changeNumber],
  },
);

const DELIVERY: Columns<WorkDelivery> = {
  number: ['bigint', ({ number }) => number],
  status: ['integer', ({ state }) => deliveryStatuses.code(state.status)],
  counted: ['integer', ({ counted }) => (counted === null ? null : replayCounts.code(counted))],
  run: ['integer', ({ state }) => state.run],
  attempt: ['integer', ({ state }) => state.attempt],
  failures: ['integer', ({ state }) => state.failures],
  lost: ['integer', ({ state }) => state.lost],
  fence: ['integer', ({ state }) => state.fence],
  due_at: ['bigint', ({ state }) => state.dueAtMs],
  ladder_started_at: ['bigint', ({ state }) => state.ladderStartedAtMs],
  attempt_id: ['text', ({ attemptId }) => attemptId],
  first_attempt_at: ['bigint', ({ firstAttemptAtMs }) => firstAttemptAtMs],
  last_attempt_at: ['bigint', ({ lastAttemptAtMs }) => lastAttemptAtMs],
  ended_at: ['bigint', ({ state }) => state.endedAtMs],
  dead_reason: ['integer', ({ state }) => (state.deadReason === null ? null : deadReasons.code(state.deadReason))],
  terminal_hint: ['boolean', ({ terminalHint }) => terminalHint],
  response_status: ['integer', ({ responseStatus }) => responseStatus],
  error: ['text', ({ error }) => toText(error)],
};

const DELIVERIES = updateMany({ name: 'work-changed', table: 'webhook_deliveries', keys: ['number'] }, DELIVERY);

export const NEW_DELIVERIES = insertMany<NewDeliveryRow>(
  { name: 'work-new', table: 'webhook_deliveries' },
  {
    ...DELIVERY,
    endpoint_number: ['integer', ({ endpointNumber }) => endpointNumber],
    dispatch_id: ['text', ({ dispatchId }) => dispatchId],
    replay_number: ['integer', ({ replayNumber }) => replayNumber],
    queued_at: ['bigint', ({ queuedAtMs }) => queuedAtMs],
    created_at: ['bigint', ({ createdAtMs }) => createdAtMs],
    test: ['boolean', ({ test }) => test],
    event_count: ['integer', ({ eventCount }) => eventCount],
    events_from: ['bigint', ({ created }) => created.firstMs],
    events_to: ['bigint', ({ created }) => created.lastMs],
    seqs: ['text', ({ seqs }) => writeSeqs(seqs)],
    event_ids: ['text', ({ eventIds }) => writeEventIds(eventIds)],
  },
);

const ATTEMPT: Columns<AttemptKey & AttemptEnd> = {
  endpoint_number: ['integer', ({ endpointNumber }) => endpointNumber],
  fired_at: ['bigint', ({ firedAtMs }) => firedAtMs],
  id: ['text', ({ id }) => id],
  outcome: ['integer', ({ outcome }) => attemptOutcomes.code(outcome)],
  response_status: ['integer', ({ responseStatus }) => responseStatus],
  latency_ms: ['integer', ({ latencyMs }) => latencyMs],
  error: ['text', ({ error }) => toText(error)],
  response_body: ['text', ({ responseBody }) => toText(responseBody)],
  terminal_hint: ['boolean', ({ terminalHint }) => terminalHint],
};

export const NEW_ATTEMPTS = insertMany<AttemptRow>(
  { name: 'work-attempts', table: 'webhook_attempts' },
  {
    ...ATTEMPT,
    delivery_number: ['bigint', ({ deliveryNumber }) => deliveryNumber],
    attempt: ['integer', ({ attempt }) => attempt],
    test: ['boolean', ({ test }) => test],
  },
);

const ENDED_ATTEMPTS = updateMany<EndedAttempt>(
  { name: 'work-ended', table: 'webhook_attempts', keys: ['endpoint_number', 'fired_at', 'id'] },
  ATTEMPT,
);

const REPLAYS = updateMany<WorkReplay>(
  { name: 'work-progress', table: 'webhook_replays', keys: ['number'] },
  {
    number: ['integer', ({ number }) => number],
    status: ['integer', ({ status }) => replayStatuses.code(status)],
    position: ['bigint', ({ position }) => position],
    enqueued: ['bigint', ({ enqueued }) => enqueued],
    delivered: ['bigint', ({ delivered }) => delivered],
    dead: ['bigint', ({ dead }) => dead],
    completed_at: ['bigint', ({ completedAtMs }) => completedAtMs],
  },
);

const FIGURES = insertMany<FinishedCount>(
  { name: 'work-figures', table: 'webhook_figures' },
  {
    endpoint_number: ['integer', ({ endpointNumber }) => endpointNumber],
    bucket: ['bigint', ({ bucket }) => bucket],
    finished: ['integer', ({ finished }) => finished],
    succeeded: ['integer', ({ succeeded }) => succeeded],
  },
  `ON CONFLICT (endpoint_number, bucket) DO UPDATE SET
    finished = stored.finished + excluded.finished, succeeded = stored.succeeded + excluded.succeeded`,
);

const HOURS = insertMany<HourCount>(
  { name: 'work-hours-made', table: 'webhook_hours' },
  {
    organization_number: ['integer', ({ organizationNumber }) => organizationNumber],
    hour: ['integer', ({ hour }) => hour],
    attempts: ['integer', ({ attempts }) => attempts],
  },
  'ON CONFLICT (organization_number, hour) DO UPDATE SET attempts = stored.attempts + excluded.attempts',
);

/** PostgreSQL refuses U+0000, and what one receiver says must not keep the results of others from being stored. */
export function toText(text: string | null): string | null {
  return text?.replaceAll('\u0000', '') ?? null;
}
