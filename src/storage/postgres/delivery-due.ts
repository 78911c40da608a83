/** What may be claimed or taken over, for thousands of endpoints in one question: a few steps in an index for each. */

import type { DueList, DueQuestion } from '../../domain/webhook-store.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Lane, Statement } from './connection.ts';

/** See DeliveryStore.due. */
export async function readDue(
  lane: Lane,
  endpointNumbers: readonly number[],
  { nowMs, perEndpointMax }: DueQuestion,
): Promise<readonly DueList[]> {
  if (endpointNumbers.length === 0) return [];
  const rows = await lane.ask<DueRow>(DUE, [endpointNumbers, nowMs, perEndpointMax]);
  const lists = new Map(endpointNumbers.map((number) => [number, emptyList(number)]));
  for (const row of rows) {
    const list = lists.get(row.endpointNumber);
    if (list !== undefined) addRow(list, row);
  }
  return [...lists.values()];
}

type DueRow = { readonly endpointNumber: number } & (
  | { readonly kind: 'waiting'; readonly number: number; readonly fence: number; readonly isReplay: boolean }
  | { readonly kind: 'lost'; readonly number: number; readonly fence: number }
  | { readonly kind: 'next'; readonly dueAtMs: number }
);

type GrowingList = {
  readonly endpointNumber: number;
  readonly waiting: DueList['waiting'][number][];
  readonly lost: DueList['lost'][number][];
  nextAtMs: number | null;
};

function emptyList(endpointNumber: number): GrowingList {
  return { endpointNumber, waiting: [], lost: [], nextAtMs: null };
}

function addRow(list: GrowingList, row: DueRow): void {
  if (row.kind === 'waiting') list.waiting.push({ number: row.number, fence: row.fence, isReplay: row.isReplay });
  else if (row.kind === 'lost') list.lost.push({ number: row.number, fence: row.fence });
  else list.nextAtMs = row.dueAtMs;
}

const [QUEUED, SENDING, RETRYING] = (['queued', 'sending', 'retrying'] as const).map((word) =>
  deliveryStatuses.code(word),
);

/** The first few of an endpoint in the order of the index. The conditions name all that is before `due_at` in it. */
function first(condition: string, { order, limit }: { order: string; limit: string }): string {
  return `(SELECT number, fence, due_at, replay_number FROM webhook_deliveries AS delivery
    WHERE delivery.endpoint_number = asked.number AND ended_at IS NULL AND NOT test AND ${condition}
    ORDER BY ${order} LIMIT ${limit})`;
}

// What was judged in an earlier run is due whatever its time says. There are as many of those as there are.
const WAITING = [QUEUED, RETRYING].flatMap((status) => [
  first(`status = ${status} AND delivery.run = asked.run AND due_at <= $2`, { order: 'due_at', limit: '$3' }),
  first(`status = ${status} AND delivery.run < asked.run`, { order: 'delivery.run, due_at', limit: '$3' }),
]);

const NEXT = [
  ...[QUEUED, RETRYING].map((status) =>
    first(`status = ${status} AND delivery.run = asked.run AND due_at > $2`, { order: 'due_at', limit: '1' }),
  ),
  // There are at most as many of them as the endpoint takes at once.
  first(`status = ${SENDING} AND due_at > $2`, { order: 'due_at', limit: '1' }),
];

// Most endpoints have nothing that waits, and are done with after one look.
const DUE: Statement = {
  name: 'delivery-due',
  text: `SELECT asked.number AS "endpointNumber", found.*
    FROM unnest($1::integer[]) AS wanted (number) JOIN webhook_endpoints AS asked ON asked.number = wanted.number
    CROSS JOIN LATERAL (
      (SELECT 'waiting' AS kind, number, fence, replay_number IS NOT NULL AS "isReplay", due_at AS "dueAtMs"
        FROM (${WAITING.join(' UNION ALL ')}) AS waiting ORDER BY due_at, number LIMIT $3)
      UNION ALL
      (SELECT 'lost', number, fence, false, due_at
        FROM (${first(`status = ${SENDING} AND due_at <= $2`, { order: 'due_at', limit: '$3' })}) AS lost)
      UNION ALL
      (SELECT 'next', NULL, NULL, false, min(due_at) FROM (${NEXT.join(' UNION ALL ')}) AS next HAVING count(*) > 0)
    ) AS found
    WHERE EXISTS (
      SELECT FROM webhook_deliveries WHERE endpoint_number = asked.number AND ended_at IS NULL AND NOT test
    )`,
};
