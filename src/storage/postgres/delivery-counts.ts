/** How many deliveries there are, and how much has become of none yet. */

import type { DeliveryCounts } from '../../domain/webhook-store.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Lane, Statement } from './connection.ts';
import { eventsOf, partsOf } from './outbox-sql.ts';

/** See DeliveryStore.counts. */
export async function readCounts(lane: Lane): Promise<DeliveryCounts> {
  const [rows, [outbox]] = await Promise.all([
    lane.ask<{ word: Word; count: number }>(COUNTS, []),
    lane.ask<Pick<DeliveryCounts, 'outboxEvents' | 'oldestUndeliveredAtMs'>>(OUTBOX, []),
  ]);
  const counts = new Map(rows.map(({ word, count }) => [word, count]));
  const of = (word: Word) => counts.get(word) ?? 0;
  return {
    deliveries: {
      queued: of('queued'),
      sending: of('sending'),
      retrying: of('retrying'),
      held: of('held'),
      dead: of('dead'),
    },
    endpoints: { active: of('active'), disabled: of('disabled') },
    outboxEvents: outbox?.outboxEvents ?? 0,
    oldestUndeliveredAtMs: outbox?.oldestUndeliveredAtMs ?? null,
  };
}

type Word = keyof DeliveryCounts['deliveries'] | keyof DeliveryCounts['endpoints'];

const STATUS_WORDS = (['queued', 'sending', 'retrying'] as const)
  .map((word) => `WHEN ${deliveryStatuses.code(word)} THEN '${word}'`)
  .join(' ');

const COUNTS: Statement = {
  name: 'delivery-counts',
  text: `SELECT CASE WHEN deliveries.status <> ${deliveryStatuses.code('sending')} AND endpoints.status = 'disabled'
        THEN 'held' ELSE CASE deliveries.status ${STATUS_WORDS} END END AS word, count(*) AS count
    FROM webhook_deliveries AS deliveries JOIN webhook_endpoints AS endpoints ON endpoints.number = endpoint_number
    WHERE ended_at IS NULL AND NOT test GROUP BY word
    UNION ALL
    SELECT 'dead', count(*) FROM webhook_deliveries WHERE status = ${deliveryStatuses.code('dead')} AND NOT test
    UNION ALL
    SELECT status, count(*) FROM webhook_endpoints WHERE archived_at IS NULL GROUP BY status`,
};

// Of the endpoints that lag behind, the first event of their concern is enough. Many of them wait for the same types up to the
// same place: the longest of such parts of the log holds the others.
const OUTBOX: Statement = {
  name: 'delivery-outbox',
  text: `WITH active AS (
      SELECT number, endpoints.organization_number, position, subscriptions, coalesce(heads.seq, 0) AS head_seq
      FROM webhook_endpoints AS endpoints JOIN webhook_states AS states ON states.endpoint_number = endpoints.number
      LEFT JOIN log_heads AS heads ON heads.organization_number = endpoints.organization_number
      WHERE archived_at IS NULL AND status = 'active'
    ), behind AS (
      SELECT * FROM active WHERE head_seq > position
    ), parts AS (
      SELECT each_part.organization_number, min(from_seq) AS from_seq, next_seq, type_codes
      FROM behind CROSS JOIN LATERAL ${partsOf('behind')} AS each_part
      GROUP BY each_part.organization_number, next_seq, type_codes
    )
    SELECT (SELECT coalesce(sum(head_seq - position), 0)::bigint FROM behind) AS "outboxEvents",
      least(
        (SELECT min(queued_at) FROM webhook_deliveries AS deliveries JOIN active ON active.number = deliveries.endpoint_number
          WHERE ended_at IS NULL AND NOT test),
        (SELECT min(first.created_at) FROM parts CROSS JOIN LATERAL (
          SELECT created_at FROM events WHERE ${eventsOf('parts')} ORDER BY seq LIMIT 1
        ) AS first)
      ) AS "oldestUndeliveredAtMs"`,
};
