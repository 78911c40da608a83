/** Webhook endpoints for those who ask: not through the writer, which those wait for who send. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Endpoint } from '../../domain/endpoint.ts';
import type { WebhookStore } from '../../domain/webhook-store.ts';
import { type EndpointCells, unpackEndpoint } from '../rows/endpoint-rows.ts';
import type { Database } from './connection.ts';
import type { ReadLane } from './read-lane.ts';

export type EndpointReader = Pick<WebhookStore, 'endpoints' | 'endpoint'>;

export type EndpointRow = EndpointCells & Omit<Endpoint, keyof EndpointCells>;

export const ENDPOINT_COLUMNS = `e.number, e.id, e.organization_id AS organizationId,
  e.organization_number AS organizationNumber, e.destination_kind AS destinationKind, e.url, e.sqs,
  e.sqs_secret AS sqsSecret, e.enabled_events AS enabledEvents, e.status, e.disabled_reason AS disabledReason,
  e.disabled_at AS disabledAtMs, e.max_batch_size AS maxBatchSize, e.max_batch_delay_ms AS maxBatchDelayMs,
  e.max_in_flight AS maxInFlight, e.description, e.secret, e.previous_secret AS previousSecret,
  e.previous_secret_until AS previousSecretUntilMs, e.destination_version AS destinationVersion, e.run,
  e.version, e.created_at AS createdAtMs, e.updated_at AS updatedAtMs, e.archived_at AS archivedAtMs,
  s.failing_since AS failingSinceMs, s.last_success_at AS lastSuccessAtMs, s.last_failure_at AS lastFailureAtMs,
  s.consecutive_failures AS consecutiveFailures`;
export const ENDPOINT_TABLES = 'webhook_endpoints AS e JOIN webhook_states AS s ON s.endpoint_number = e.number';

/** A list of all may be long; so many are read before others have their turn. */
const ROWS_AT_ONCE = 250;
const FIRST = { createdAtMs: -1, id: '' };

export function prepareEndpointReader(db: Database, lane: ReadLane): EndpointReader {
  const statements = prepareStatements(db);
  return {
    async endpoints(organizationId, { after, limit }) {
      const max = limit ?? Number.POSITIVE_INFINITY;
      const found: Endpoint[] = [];
      for (let place = after ?? FIRST; ; await turn()) {
        const { createdAtMs, id } = place;
        const count = Math.min(max - found.length, ROWS_AT_ONCE);
        const some = await lane(() =>
          statements.list.all(organizationId, createdAtMs, id, count).map((row) => unpackEndpoint(row)),
        );
        found.push(...some);
        const last = some.at(-1);
        if (last === undefined || some.length < ROWS_AT_ONCE || found.length >= max) return found;
        place = last;
      }
    },
    endpoint: (organizationId, id) =>
      lane(() => {
        const row = statements.one.get(organizationId, id);
        return row === undefined ? null : unpackEndpoint(row);
      }),
  };
}

function prepareStatements(db: Database) {
  const living = `SELECT ${ENDPOINT_COLUMNS} FROM ${ENDPOINT_TABLES}
    WHERE e.organization_id = ? AND e.archived_at IS NULL`;
  return {
    list: db.prepare<[string, number, string, number], EndpointRow>(
      `${living} AND (e.created_at, e.id) > (?, ?) ORDER BY e.created_at, e.id LIMIT ?`,
    ),
    one: db.prepare<[string, string], EndpointRow>(`${living} AND e.id = ?`),
  };
}
