/** Endpoints as those see them who deliver to them. */

import type { DeliveryStore, DispatchEndpoint, RunningReplay } from '../../domain/webhook-store.ts';
import { type EndpointCells, unpackEndpoint } from '../rows/endpoint-rows.ts';
import { replayStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';

type Changes = Awaited<ReturnType<DeliveryStore['changes']>>;

export function prepareChanges(db: Database): (afterChange: number) => Changes {
  const statements = prepareStatements(db);
  // Inside a transaction, so that the number is that of the rows.
  return db.transaction((afterChange: number): Changes => {
    const change = statements.change.get() ?? 0;
    const rows = afterChange === 0 ? statements.living.all() : statements.changed.all(afterChange);
    return { change, endpoints: rows.map((row) => toDispatched(row, statements.replays.all(row.number))) };
  });
}

type Row = EndpointCells &
  Omit<DispatchEndpoint, keyof EndpointCells | 'replays' | 'subscriptions'> & { readonly subscriptions: string };

function toDispatched(row: Row, replays: readonly RunningReplay[]): DispatchEndpoint {
  const { subscriptions, ...endpoint } = unpackEndpoint(row);
  return { ...endpoint, subscriptions: JSON.parse(subscriptions), replays };
}

function prepareStatements(db: Database) {
  const select = `
    SELECT e.number, e.id, e.organization_id AS organizationId, e.organization_number AS organizationNumber,
      e.destination_kind AS destinationKind, e.url, e.sqs, e.sqs_secret AS sqsSecret,
      e.enabled_events AS enabledEvents, e.status, e.disabled_reason AS disabledReason,
      e.disabled_at AS disabledAtMs, e.max_batch_size AS maxBatchSize, e.max_batch_delay_ms AS maxBatchDelayMs,
      e.max_in_flight AS maxInFlight, e.description, e.secret, e.previous_secret AS previousSecret,
      e.previous_secret_until AS previousSecretUntilMs, e.destination_version AS destinationVersion, e.run,
      e.version, e.created_at AS createdAtMs, e.updated_at AS updatedAtMs, e.archived_at AS archivedAtMs,
      s.position, s.in_flight AS inFlight, s.subscriptions, s.failing_since AS failingSinceMs,
      s.last_success_at AS lastSuccessAtMs, s.last_failure_at AS lastFailureAtMs,
      s.consecutive_failures AS consecutiveFailures
    FROM webhook_endpoints AS e JOIN webhook_states AS s ON s.endpoint_number = e.number`;
  return {
    change: db.prepare<[], number>('SELECT number FROM webhook_changes').pluck(),
    living: db.prepare<[], Row>(`${select} WHERE e.archived_at IS NULL ORDER BY e.number`),
    changed: db.prepare<[number], Row>(`${select} WHERE e.change_number > ? ORDER BY e.number`),
    replays: db.prepare<[number], RunningReplay>(
      `SELECT number, id, position, to_seq AS toSeq, mask, created_at AS createdAtMs
       FROM webhook_replays
       WHERE endpoint_number = ? AND status = ${replayStatuses.code('running')} ORDER BY number`,
    ),
  };
}
