/** Rows of webhooks between the database and what is told of them. */

import type { Attempt, Delivery } from '../../domain/delivery.ts';
import type { Endpoint, EndpointRecord } from '../../domain/endpoint.ts';
import type { EndpointCells } from '../rows/endpoint-rows.ts';
import { attemptOutcomes, deadReasons, deliveryStatuses } from '../rows/webhook-codes.ts';
import { parseEventIds } from '../rows/webhook-texts.ts';

export type EndpointRow = Omit<Endpoint, keyof EndpointRecord> & EndpointCells;

/** Of webhook_endpoints and webhook_states. */
export const ENDPOINT_COLUMNS = `
  endpoints.number, endpoints.organization_number AS "organizationNumber",
  endpoints.organization_id AS "organizationId", endpoints.id, endpoints.destination_kind AS "destinationKind",
  endpoints.url, endpoints.sqs, endpoints.sqs_secret AS "sqsSecret", endpoints.enabled_events AS "enabledEvents",
  endpoints.status, endpoints.disabled_reason AS "disabledReason", endpoints.disabled_at AS "disabledAtMs",
  endpoints.max_batch_size AS "maxBatchSize", endpoints.max_batch_delay_ms AS "maxBatchDelayMs",
  endpoints.max_in_flight AS "maxInFlight", endpoints.description, endpoints.secret,
  endpoints.previous_secret AS "previousSecret", endpoints.previous_secret_until AS "previousSecretUntilMs",
  endpoints.destination_version AS "destinationVersion", endpoints.run, endpoints.version,
  endpoints.created_at AS "createdAtMs", endpoints.updated_at AS "updatedAtMs", endpoints.archived_at AS "archivedAtMs",
  states.failing_since AS "failingSinceMs", states.last_success_at AS "lastSuccessAtMs",
  states.last_failure_at AS "lastFailureAtMs", states.consecutive_failures AS "consecutiveFailures"`;

export const ENDPOINT_TABLES =
  'webhook_endpoints AS endpoints JOIN webhook_states AS states ON states.endpoint_number = endpoints.number';

export type DeliveryRow = Omit<Delivery, 'status' | 'deadReason' | 'eventIds'> & {
  readonly status: number;
  readonly deadReason: number | null;
  readonly eventIds: string;
};

export const DELIVERY_SELECT = `
  SELECT deliveries.number, deliveries.endpoint_number AS "endpointNumber", deliveries.dispatch_id AS "dispatchId",
    deliveries.status, deliveries.attempt, deliveries.failures, deliveries.lost,
    deliveries.ladder_started_at AS "ladderStartedAtMs", deliveries.run, deliveries.fence,
    deliveries.due_at AS "dueAtMs", deliveries.ended_at AS "endedAtMs", deliveries.dead_reason AS "deadReason",
    replays.id AS "replayId", deliveries.test, deliveries.event_ids AS "eventIds",
    deliveries.events_from AS "eventsFromMs", deliveries.created_at AS "createdAtMs", deliveries.first_attempt_at AS "firstAttemptAtMs",
    deliveries.last_attempt_at AS "lastAttemptAtMs", deliveries.response_status AS "responseStatus",
    deliveries.error, deliveries.terminal_hint AS "terminalHint"
  FROM webhook_deliveries AS deliveries
  LEFT JOIN webhook_replays AS replays ON replays.number = deliveries.replay_number`;

export function toDelivery({ status, deadReason, eventIds, ...row }: DeliveryRow): Delivery {
  return {
    ...row,
    status: deliveryStatuses.word(status),
    deadReason: deadReason === null ? null : deadReasons.word(deadReason),
    eventIds: parseEventIds(eventIds),
  };
}

export type AttemptRow = Omit<Attempt, 'outcome' | 'eventIds'> & {
  readonly outcome: number;
  readonly eventIds: string;
};

export const ATTEMPT_SELECT = `
  SELECT attempts.id, deliveries.dispatch_id AS "dispatchId", attempts.attempt, deliveries.event_ids AS "eventIds",
    attempts.outcome, attempts.response_status AS "responseStatus", attempts.latency_ms AS "latencyMs",
    attempts.error, attempts.fired_at AS "firedAtMs", attempts.response_body AS "responseBody", attempts.test,
    attempts.terminal_hint AS "terminalHint"
  FROM webhook_attempts AS attempts
  JOIN webhook_deliveries AS deliveries ON deliveries.number = attempts.delivery_number`;

export function toAttempt({ outcome, eventIds, ...row }: AttemptRow): Attempt {
  return { ...row, outcome: attemptOutcomes.word(outcome), eventIds: parseEventIds(eventIds) };
}
