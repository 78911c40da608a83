/** How much lies in the outbox of an endpoint, in one question: PostgreSQL goes through the log by itself. */

import type { OutboxCount } from '../endpoints/endpoint-health.ts';
import type { Lane, Statement } from './connection.ts';
import { eventsOf, partsOf } from './outbox-sql.ts';

const NOTHING: OutboxCount = { events: 0, oldestAtMs: null };

export async function countOutbox(lane: Lane, endpointNumber: number): Promise<OutboxCount> {
  const [count] = await lane.ask<OutboxCount>(OUTBOX, [endpointNumber]);
  return count ?? NOTHING;
}

// What waits in the log is what lies behind the position, by the subscription that was in force where it lies.
const OUTBOX: Statement = {
  name: 'endpoint-outbox',
  text: `WITH target AS (
      SELECT endpoints.organization_number, states.position, states.subscriptions
      FROM webhook_endpoints AS endpoints JOIN webhook_states AS states ON states.endpoint_number = endpoints.number
      WHERE endpoints.number = $1
    )
    SELECT coalesce(sum(found.events), 0)::bigint AS events, min(found.oldest_at) AS "oldestAtMs"
    FROM target CROSS JOIN LATERAL ${partsOf('target')} AS parts CROSS JOIN LATERAL (
      SELECT count(*) AS events, min(created_at) AS oldest_at FROM events WHERE ${eventsOf('parts')}
    ) AS found`,
};
