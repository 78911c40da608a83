/** Counts the events that are in no delivery yet, and the deliveries, for health and metrics. */

import { setImmediate as turn } from 'node:timers/promises';
import type { DeliveryStatus } from '../../domain/delivery/delivery.ts';
import type { DeliveryCounts, DeliveryStore, WebhookLog } from '../../domain/delivery/webhook-store.ts';
import { type LogPosition, type LogSlice, mergeSlices, slicesOf } from '../../domain/endpoints/subscriptions.ts';
import type { Queries, RunQuery } from '../transaction.ts';

type OutboxCount = { readonly events: number; readonly oldestAtMs: number | null };

export type Outboxes = ReturnType<typeof createOutboxes>;

/** How a store searches a log for events of some types. */
export type LogSearch = Pick<WebhookLog, 'matchEvents'> & {
  count(slice: LogSlice): Promise<OutboxCount>;
  findFirst(slice: LogSlice): Promise<FoundEvent | null>;
};

type FoundEvent = { readonly seq: number; readonly createdAtMs: number };

const FOR_EVER = Number.MAX_SAFE_INTEGER;

export function createOutboxes({ endpointsDue }: Queries, runQuery: RunQuery, search: LogSearch) {
  return {
    async count(endpointNumber: number): Promise<OutboxCount> {
      const positions = await runQuery(endpointsDue.findPosition, { endpointNumber });
      let count: OutboxCount = { events: 0, oldestAtMs: null };
      for (const slice of positions.flatMap(slicesOf)) {
        const { events, oldestAtMs } = await search.count(slice);
        count = { events: count.events + events, oldestAtMs: count.oldestAtMs ?? oldestAtMs };
      }
      return count;
    },
    /** When the oldest event of any of these outboxes was created; null: they are empty. */
    async oldestAtMs(positions: readonly LogPosition[]): Promise<number | null> {
      const oldest = new Map<number, FoundEvent>();
      for (const slice of mergeSlices(positions.flatMap(slicesOf))) {
        const before = oldest.get(slice.organizationNumber)?.seq ?? FOR_EVER;
        const found = await search.findFirst({ ...slice, toSeq: Math.min(slice.toSeq, before - 1) });
        if (found !== null) oldest.set(slice.organizationNumber, found);
      }
      return findLeast([...oldest.values()].map(({ createdAtMs }) => createdAtMs));
    },
  };
}

/** The least instant; null for none. Spreading the list into Math.min could exceed the limit of arguments. */
export function findLeast(instants: readonly number[]): number | null {
  return instants.length === 0 ? null : instants.reduce((one, other) => Math.min(one, other));
}

/** Other work gets a turn after this many endpoints. */
const ENDPOINTS_PER_BATCH = 250;

export function createCounts(
  { endpointsDue }: Queries,
  runQuery: RunQuery,
  outboxes: Outboxes,
): DeliveryStore['counts'] {
  return async () => {
    const endpoints = await runQuery(endpointsDue.listPositions, {});
    const active = endpoints.filter(({ status }) => status === 'active');
    const statuses = new Map(endpoints.map(({ number, status }) => [number, status]));
    // Read first: events that leave an outbox meanwhile are in a delivery when deliveries are read.
    const behind = active.filter(({ position, headSeq }) => (headSeq ?? 0) > position);
    const oldest = [await outboxes.oldestAtMs(behind)];
    const [dead] = await runQuery(endpointsDue.countDead, {});
    const deliveries = { queued: 0, sending: 0, retrying: 0, held: 0, dead: dead?.count ?? 0 };
    await inBatches([...statuses.keys()], async (numbers) => {
      const counts = await runQuery(endpointsDue.countUnfinished, { numbers });
      for (const { endpointNumber, status, count } of counts) {
        deliveries[countedStatus(status, statuses.get(endpointNumber))] += count;
      }
      const queued = await runQuery(endpointsDue.findOldestQueued, {
        numbers: numbers.filter((number) => statuses.get(number) === 'active'),
      });
      oldest.push(...queued.map(({ oldestAtMs }) => oldestAtMs));
    });
    return {
      deliveries,
      endpoints: { active: active.length, disabled: endpoints.length - active.length },
      outboxEvents: behind.reduce((sum, { position, headSeq }) => sum + (headSeq ?? 0) - position, 0),
      oldestUndeliveredAtMs: findLeast(oldest.filter((atMs) => atMs !== null)),
    };
  };
}

function countedStatus(
  status: DeliveryStatus,
  endpoint: 'active' | 'disabled' | undefined,
): keyof DeliveryCounts['deliveries'] {
  if (status === 'sending') return status;
  if (endpoint !== 'active') return 'held';
  return status === 'queued' ? status : 'retrying';
}

/** Reads in batches and gives other work a turn between them. */
export async function inBatches<T>(
  endpoints: readonly number[],
  read: (some: readonly number[]) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let from = 0; from < endpoints.length; from += ENDPOINTS_PER_BATCH) {
    if (from > 0) await turn();
    results.push(await read(endpoints.slice(from, from + ENDPOINTS_PER_BATCH)));
  }
  return results;
}
