/** How an endpoint fares, in one question. */

import type { EndpointFigures } from '../../domain/webhook-store.ts';
import { BUCKET_MS, HOUR_MS } from '../delivery/tables.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Lane, Statement } from './connection.ts';
import { eventsOf, partsOf } from './outbox-sql.ts';

const LATENCIES_MAX = 500;

/** See WebhookStore.health. */
export async function readHealth(lane: Lane, endpointNumber: number, nowMs: number): Promise<EndpointFigures> {
  const sinceMs = nowMs - HOUR_MS;
  const [figures] = await lane.ask<EndpointFigures>(HEALTH, [
    endpointNumber,
    Math.floor(sinceMs / BUCKET_MS),
    sinceMs,
    nowMs,
  ]);
  return figures ?? NOTHING;
}

const NOTHING: EndpointFigures = {
  oldestUndeliveredAtMs: null,
  dead: 0,
  finished: 0,
  succeeded: 0,
  latenciesMs: [],
  queuedEvents: 0,
  retrying: 0,
  held: 0,
  inFlight: 0,
};

const [QUEUED, SENDING, RETRYING, DEAD] = (['queued', 'sending', 'retrying', 'dead'] as const).map((word) =>
  deliveryStatuses.code(word),
);

// One statement sees one moment: no envelope is between the log and a delivery while it looks. What waits in the log is
// what lies behind the position, by the subscription that was in force where it lies.
const HEALTH: Statement = {
  name: 'webhook-health',
  text: `WITH target AS (
      SELECT endpoints.organization_number, endpoints.status = 'disabled' AS is_disabled, states.position,
        states.subscriptions
      FROM webhook_endpoints AS endpoints JOIN webhook_states AS states ON states.endpoint_number = endpoints.number
      WHERE endpoints.number = $1
    ), outbox AS (
      SELECT coalesce(sum(found.events), 0)::bigint AS events, min(found.oldest_at) AS oldest_at
      FROM target CROSS JOIN LATERAL ${partsOf('target')} AS parts CROSS JOIN LATERAL (
        SELECT count(*) AS events, min(created_at) AS oldest_at FROM events WHERE ${eventsOf('parts')}
      ) AS found
    ), unfinished AS (
      SELECT min(queued_at) AS oldest_at, count(*) FILTER (WHERE status = ${SENDING}) AS in_flight,
        count(*) FILTER (WHERE status = ${RETRYING}) AS retrying,
        count(*) FILTER (WHERE status IN (${QUEUED}, ${RETRYING})) AS waiting
      FROM webhook_deliveries WHERE endpoint_number = $1 AND ended_at IS NULL AND NOT test
    ), figures AS (
      SELECT coalesce(sum(finished), 0)::bigint AS finished, coalesce(sum(succeeded), 0)::bigint AS succeeded
      FROM webhook_figures WHERE endpoint_number = $1 AND bucket >= $2
    )
    SELECT least(outbox.oldest_at, unfinished.oldest_at) AS "oldestUndeliveredAtMs", outbox.events AS "queuedEvents",
      CASE WHEN is_disabled THEN 0 ELSE unfinished.retrying END AS retrying,
      CASE WHEN is_disabled THEN unfinished.waiting ELSE 0 END AS held, unfinished.in_flight AS "inFlight",
      figures.finished, figures.succeeded,
      (SELECT count(*) FROM webhook_deliveries WHERE endpoint_number = $1 AND status = ${DEAD} AND NOT test) AS dead,
      ARRAY(
        SELECT latency_ms FROM webhook_attempts
        WHERE endpoint_number = $1 AND fired_at >= $3 AND fired_at <= $4 AND latency_ms IS NOT NULL AND NOT test
        ORDER BY fired_at DESC, id DESC LIMIT ${LATENCIES_MAX}
      ) AS "latenciesMs"
    FROM target, outbox, unfinished, figures`,
};
