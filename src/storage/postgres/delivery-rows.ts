/** Rows of deliveries between the database and those who work on them. */

import type { DisabledReason, EndpointStatus } from '../../domain/endpoint.ts';
import type { WorkDelivery, WorkEndpoint, WorkReplay } from '../delivery/tables.ts';
import { deadReasons, deliveryStatuses, replayCounts, replayStatuses } from '../rows/webhook-codes.ts';
import { parseSubscriptions } from '../rows/webhook-texts.ts';

export type EndpointRow = Omit<WorkEndpoint, 'subscriptions' | 'state'> & {
  readonly subscriptions: string;
  readonly status: EndpointStatus;
  readonly disabledReason: DisabledReason | null;
  readonly disabledAtMs: number | null;
  readonly destinationVersion: number;
  readonly run: number;
  readonly isArchived: boolean;
  readonly failingSinceMs: number | null;
  readonly lastSuccessAtMs: number | null;
  readonly lastFailureAtMs: number | null;
  readonly consecutiveFailures: number;
};

export const WORK_ENDPOINT_SELECT = `
  SELECT number, organization_number AS "organizationNumber", version, max_in_flight AS "maxInFlight", position,
    in_flight AS "inFlight", subscriptions, status, disabled_reason AS "disabledReason", disabled_at AS "disabledAtMs",
    destination_version AS "destinationVersion", run, archived_at IS NOT NULL AS "isArchived",
    failing_since AS "failingSinceMs", last_success_at AS "lastSuccessAtMs", last_failure_at AS "lastFailureAtMs",
    consecutive_failures AS "consecutiveFailures"
  FROM webhook_states AS states JOIN webhook_endpoints AS endpoints ON endpoints.number = states.endpoint_number`;

export function toWorkEndpoint(row: EndpointRow): WorkEndpoint {
  const { number, organizationNumber, version, maxInFlight, position, inFlight, subscriptions, ...state } = row;
  const parsed = parseSubscriptions(subscriptions);
  return { number, organizationNumber, version, maxInFlight, position, inFlight, subscriptions: parsed, state };
}

export type DeliveryRow = Omit<WorkDelivery, 'state' | 'counted'> &
  Omit<WorkDelivery['state'], 'status' | 'deadReason'> & {
    readonly status: number;
    readonly deadReason: number | null;
    readonly counted: number | null;
  };

export const WORK_DELIVERY_COLUMNS = `
  number, endpoint_number AS "endpointNumber", dispatch_id AS "dispatchId", status, replay_number AS "replayNumber",
  counted, run, attempt, failures, lost, fence, due_at AS "dueAtMs", ladder_started_at AS "ladderStartedAtMs",
  attempt_id AS "attemptId", first_attempt_at AS "firstAttemptAtMs", last_attempt_at AS "lastAttemptAtMs",
  ended_at AS "endedAtMs", dead_reason AS "deadReason", terminal_hint AS "terminalHint",
  response_status AS "responseStatus", error, test, event_count AS "eventCount"`;

export function toWorkDelivery(row: DeliveryRow): WorkDelivery {
  const { status, deadReason, counted, run, attempt, failures, lost, fence, dueAtMs, ladderStartedAtMs, ...rest } = row;
  const { endedAtMs, ...own } = rest;
  return {
    ...own,
    counted: counted === null ? null : replayCounts.word(counted),
    state: {
      status: deliveryStatuses.word(status),
      attempt,
      failures,
      lost,
      ladderStartedAtMs,
      run,
      fence,
      dueAtMs,
      endedAtMs,
      deadReason: deadReason === null ? null : deadReasons.word(deadReason),
    },
  };
}

export type ReplayRow = Omit<WorkReplay, 'status'> & { readonly status: number };

export const WORK_REPLAY_COLUMNS = `
  number, endpoint_number AS "endpointNumber", status, position, to_seq AS "toSeq", enqueued, delivered, dead,
  completed_at AS "completedAtMs"`;

export function toWorkReplay({ status, ...replay }: ReplayRow): WorkReplay {
  return { ...replay, status: replayStatuses.word(status) };
}
