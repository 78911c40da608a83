/** What a transaction of work about deliveries reads. */

import type { DeadReason, DeliveryState } from '../../domain/delivery.ts';
import type { EndpointState } from '../../domain/delivery-step.ts';
import type { WorkContent, WorkDelivery, WorkEndpoint, WorkReplay, WorkTables } from '../delivery/tables.ts';
import { deadReasons, deliveryStatuses, replayCounts, replayStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';

/** Answers a function that begins a transaction's view. */
export function prepareDeliveryTables(db: Database): () => WorkTables {
  const statements = prepareStatements(db);
  return () => {
    let lastNumber: number | null = null;
    return {
      endpoint(number) {
        const row = statements.endpoint.get(number);
        return row === undefined ? undefined : toEndpoint(row);
      },
      delivery(number) {
        const row = statements.delivery.get(number);
        return row === undefined ? undefined : toDelivery(row);
      },
      replay(number) {
        const row = statements.replay.get(number);
        return row === undefined ? undefined : { ...row, status: replayStatuses.word(row.status) };
      },
      content({ number }, organizationNumber): WorkContent {
        const row = statements.content.get(number);
        if (row === undefined) throw new Error('the content of a delivery is missing');
        const { seqs, firstMs, lastMs } = row;
        const list: number[] = JSON.parse(seqs);
        const kept = statements.kept.get(organizationNumber, seqs) ?? 0;
        return { seqs: list, created: { firstMs, lastMs }, isKept: kept === list.length };
      },
      attemptsInHour: (organizationNumber, hour) => statements.attempts.get(organizationNumber, hour) ?? 0,
      nextDeliveryNumber() {
        lastNumber = (lastNumber ?? statements.lastNumber.get() ?? 0) + 1;
        return lastNumber;
      },
    };
  };
}

type EndpointRow = Omit<WorkEndpoint, 'subscriptions' | 'state'> &
  Omit<EndpointState, 'isArchived'> & { readonly subscriptions: string; readonly isArchived: number };

function toEndpoint(row: EndpointRow): WorkEndpoint {
  return {
    number: row.number,
    organizationNumber: row.organizationNumber,
    version: row.version,
    maxInFlight: row.maxInFlight,
    position: row.position,
    inFlight: row.inFlight,
    subscriptions: JSON.parse(row.subscriptions),
    state: {
      status: row.status,
      disabledReason: row.disabledReason,
      disabledAtMs: row.disabledAtMs,
      destinationVersion: row.destinationVersion,
      run: row.run,
      isArchived: row.isArchived === 1,
      failingSinceMs: row.failingSinceMs,
      lastSuccessAtMs: row.lastSuccessAtMs,
      lastFailureAtMs: row.lastFailureAtMs,
      consecutiveFailures: row.consecutiveFailures,
    },
  };
}

/** The state of a delivery as rows have it. */
type StateRow = Omit<DeliveryState, 'status' | 'deadReason'> & {
  readonly status: number;
  readonly deadReason: number | null;
};

/** Of the table `d`. */
const STATE_COLUMNS = `d.status, d.attempt, d.failures, d.lost, d.ladder_started_at AS ladderStartedAtMs, d.run,
  d.fence, d.due_at AS dueAtMs, d.ended_at AS endedAtMs, d.dead_reason AS deadReason`;

function toState(row: StateRow): DeliveryState {
  const { attempt, failures, lost, ladderStartedAtMs, run, fence, dueAtMs, endedAtMs } = row;
  const deadReason: DeadReason | null = row.deadReason === null ? null : deadReasons.word(row.deadReason);
  const status = deliveryStatuses.word(row.status);
  return { status, attempt, failures, lost, ladderStartedAtMs, run, fence, dueAtMs, endedAtMs, deadReason };
}

type DeliveryRow = StateRow &
  Omit<WorkDelivery, 'state' | 'test' | 'terminalHint' | 'counted'> & {
    readonly test: number;
    readonly terminalHint: number;
    readonly counted: number | null;
  };

function toDelivery(row: DeliveryRow): WorkDelivery {
  return {
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    test: row.test === 1,
    eventCount: row.eventCount,
    replayNumber: row.replayNumber,
    counted: row.counted === null ? null : replayCounts.word(row.counted),
    state: toState(row),
    firstAttemptAtMs: row.firstAttemptAtMs,
    attemptId: row.attemptId,
    lastAttemptAtMs: row.lastAttemptAtMs,
    responseStatus: row.responseStatus,
    error: row.error,
    terminalHint: row.terminalHint === 1,
  };
}

type ContentRow = { readonly seqs: string; readonly firstMs: number; readonly lastMs: number };

function prepareStatements(db: Database) {
  return {
    endpoint: db.prepare<[number], EndpointRow>(
      `SELECT number, organization_number AS organizationNumber, version, max_in_flight AS maxInFlight, position,
         in_flight AS inFlight, subscriptions, status, disabled_reason AS disabledReason,
         disabled_at AS disabledAtMs, destination_version AS destinationVersion, run,
         archived_at IS NOT NULL AS isArchived, failing_since AS failingSinceMs,
         last_success_at AS lastSuccessAtMs, last_failure_at AS lastFailureAtMs,
         consecutive_failures AS consecutiveFailures
       FROM webhook_endpoints JOIN webhook_states ON endpoint_number = number WHERE number = ?`,
    ),
    delivery: db.prepare<[number], DeliveryRow>(
      `SELECT number, endpoint_number AS endpointNumber, dispatch_id AS dispatchId, test, event_count AS eventCount,
         replay_number AS replayNumber, counted, ${STATE_COLUMNS}, first_attempt_at AS firstAttemptAtMs,
         attempt_id AS attemptId, last_attempt_at AS lastAttemptAtMs, response_status AS responseStatus, error,
         terminal_hint AS terminalHint
       FROM webhook_deliveries AS d WHERE number = ?`,
    ),
    content: db.prepare<[number], ContentRow>(
      'SELECT seqs, events_from AS firstMs, events_to AS lastMs FROM webhook_deliveries WHERE number = ?',
    ),
    kept: db
      .prepare<[number, string], number>(
        `SELECT count(*) FROM events
         WHERE organization_number = ? AND seq IN (SELECT value FROM json_each(?))`,
      )
      .pluck(),
    replay: db.prepare<[number], Omit<WorkReplay, 'status'> & { readonly status: number }>(
      `SELECT number, endpoint_number AS endpointNumber, status, position, to_seq AS toSeq, enqueued, delivered, dead,
         completed_at AS completedAtMs
       FROM webhook_replays WHERE number = ?`,
    ),
    attempts: db
      .prepare<[number, number], number>(
        'SELECT attempts FROM webhook_hours WHERE organization_number = ? AND hour = ?',
      )
      .pluck(),
    // Numbers of deliveries that are gone are never given again.
    lastNumber: db.prepare<[], number>(`SELECT seq FROM sqlite_sequence WHERE name = 'webhook_deliveries'`).pluck(),
  };
}
