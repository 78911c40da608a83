/** How housekeeping finds what to do, and removes what is past its term. */

import { PATIENCE_MS } from '../../domain/delivery-step.ts';
import { deliveryStatuses, replayStatuses } from '../rows/webhook-codes.ts';
import type { Statement } from './connection.ts';

/** A piece of housework as it is found; whoever does it looks again once the endpoint is taken. */
export type FoundPiece = {
  readonly kind: 'give_up' | 'cancel' | 'expire';
  readonly endpointNumber: number;
  readonly endpointId: string;
  /** Null when it is about the endpoint itself. */
  readonly deliveryNumber: number | null;
};

const WAITING = [deliveryStatuses.code('queued'), deliveryStatuses.code('retrying')].join(', ');
const SENDING = deliveryStatuses.code('sending');
// What waits, and what was being sent by somebody who is lost.
const ARCHIVED = `(delivery.status IN (${WAITING}) OR delivery.status = ${SENDING} AND delivery.due_at <= $3)`;
const RUNNING = replayStatuses.code('running');

/** A streak of failures that began before is over. */
export function giveUpBeforeMs(nowMs: number): number {
  return nowMs - PATIENCE_MS;
}

export const FIND_ENDPOINTS: Statement = {
  name: 'sweep-endpoints',
  text: 'SELECT number FROM webhook_endpoints WHERE number > $1 ORDER BY number LIMIT $2',
};

/** Waiting deliveries of an endpoint, at most as many as may be ended at once. */
function waiting(condition: string): string {
  return unended(`delivery.status IN (${WAITING}) AND ${condition}`);
}

function unended(condition: string): string {
  return `(SELECT delivery.number FROM webhook_deliveries AS delivery
    WHERE delivery.endpoint_number = endpoint.number AND delivery.ended_at IS NULL AND NOT delivery.test
      AND ${condition} LIMIT $5)`;
}

// What is being sent, or is due, decides by its own verdict whether a streak is over. Deliveries of a replay were queued
// later than their events; all others are found in the index.
export const FIND_HOUSEWORK: Statement = {
  name: 'sweep-housework',
  text: `WITH endpoint AS (SELECT * FROM webhook_endpoints WHERE number = ANY ($1::integer[]))
    (SELECT 'give_up' AS kind, endpoint.number AS "endpointNumber", endpoint.id AS "endpointId",
      NULL::bigint AS "deliveryNumber"
    FROM endpoint JOIN webhook_states AS states ON states.endpoint_number = endpoint.number
    WHERE states.failing_since <= $2 AND states.in_flight = 0 AND endpoint.status = 'active'
      AND endpoint.archived_at IS NULL
      AND NOT EXISTS ${waiting('(delivery.run < endpoint.run OR delivery.due_at <= $3)')}
    UNION ALL
    SELECT 'cancel', endpoint.number, endpoint.id, found.number
    FROM endpoint CROSS JOIN LATERAL ${unended(ARCHIVED)} AS found
    WHERE endpoint.archived_at IS NOT NULL
    UNION ALL
    SELECT 'expire', endpoint.number, endpoint.id, found.number
    FROM endpoint CROSS JOIN LATERAL
      ${waiting('(delivery.queued_at < $4 OR delivery.replay_number IS NOT NULL AND delivery.events_from < $4)')}
      AS found
    WHERE endpoint.archived_at IS NULL)
    LIMIT $5`,
};

type Kind = 'attempts' | 'figures' | 'replays';

/** Removes old rows of some endpoints, found by the key of their table. */
function clear(kind: Kind, key: readonly string[], condition: string): Statement {
  const table = `webhook_${kind}`;
  return {
    name: `sweep-${kind}`,
    text: `WITH old AS (
        SELECT found.* FROM unnest($1::integer[]) AS endpoint (number) CROSS JOIN LATERAL (
          SELECT ${key.join(', ')} FROM ${table} WHERE endpoint_number = endpoint.number AND ${condition}
          LIMIT $3 FOR UPDATE SKIP LOCKED
        ) AS found LIMIT $3
      )
      DELETE FROM ${table} AS stored USING old
      WHERE ${key.map((column) => `stored.${column} = old.${column}`).join(' AND ')} RETURNING 1`,
  };
}

/** Each takes the endpoints, a bound, and how many rows may go. */
export const CLEAR: Readonly<Record<Kind, Statement>> = {
  attempts: clear('attempts', ['endpoint_number', 'fired_at', 'id'], 'fired_at < $2'),
  figures: clear('figures', ['endpoint_number', 'bucket'], 'bucket < $2'),
  replays: clear('replays', ['number'], `status <> ${RUNNING} AND completed_at < $2`),
};

export const DROP_ENDED: Statement = {
  name: 'sweep-ended',
  text: `WITH old AS (
      SELECT number FROM webhook_deliveries WHERE ended_at < $1 ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM webhook_attempts USING old WHERE webhook_attempts.delivery_number = old.number
    )
    DELETE FROM webhook_deliveries USING old WHERE webhook_deliveries.number = old.number RETURNING 1`,
};

export const DROP_HOURS: Statement = { name: 'sweep-hours', text: 'DELETE FROM webhook_hours WHERE hour < $1' };
