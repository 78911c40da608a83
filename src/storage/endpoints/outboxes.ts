/** What endpoints get of the log that is in no delivery yet, and how many deliveries there are: for health and metrics. */

import { setImmediate as turn } from 'node:timers/promises';
import type { DeliveryStatus } from '../../domain/delivery.ts';
import { joinParts, type LogPart, type Place, partsOf } from '../../domain/subscriptions.ts';
import type { DeliveryCounts, DeliveryStore, WebhookStore } from '../../domain/webhook-store.ts';
import type { Ask, Questions } from '../questions.ts';

export type OutboxCount = { readonly events: number; readonly oldestAtMs: number | null };

export type Outboxes = {
  count(endpointNumber: number): Promise<OutboxCount>;
  /** When the oldest event of any of them was created; null when there is none. */
  oldestAtMs(places: readonly Place[]): Promise<number | null>;
};

/** How a store looks through a log for events of some types. */
export type LogSearch = Pick<WebhookStore, 'matchEvents'> & {
  count(part: LogPart): Promise<OutboxCount>;
  findFirst(part: LogPart): Promise<FoundEvent | null>;
};

export type FoundEvent = { readonly seq: number; readonly createdAtMs: number };

const FOR_EVER = Number.MAX_SAFE_INTEGER;

export function createOutboxes({ endpointsDue }: Questions, ask: Ask, search: LogSearch): Outboxes {
  return {
    async count(endpointNumber) {
      const places = await ask(endpointsDue.findPlace, { endpointNumber });
      let count: OutboxCount = { events: 0, oldestAtMs: null };
      for (const part of places.flatMap(partsOf)) {
        const { events, oldestAtMs } = await search.count(part);
        count = { events: count.events + events, oldestAtMs: count.oldestAtMs ?? oldestAtMs };
      }
      return count;
    },
    async oldestAtMs(places) {
      const oldest = new Map<number, FoundEvent>();
      for (const part of joinParts(places.flatMap(partsOf))) {
        const before = oldest.get(part.organizationNumber)?.seq ?? FOR_EVER;
        const found = await search.findFirst({ ...part, toSeq: Math.min(part.toSeq, before - 1) });
        if (found !== null) oldest.set(part.organizationNumber, found);
      }
      return findLeast([...oldest.values()].map(({ createdAtMs }) => createdAtMs));
    },
  };
}

/** There may be more of them than a call has room for. */
export function findLeast(instants: readonly number[]): number | null {
  return instants.length === 0 ? null : instants.reduce((one, other) => Math.min(one, other));
}

/** So many are asked about before others have their turn. */
const ENDPOINTS_AT_ONCE = 250;

export function createCounts({ endpointsDue }: Questions, ask: Ask, outboxes: Outboxes): DeliveryStore['counts'] {
  return async () => {
    const endpoints = await ask(endpointsDue.listPlaces, {});
    const active = endpoints.filter(({ status }) => status === 'active');
    const statuses = new Map(endpoints.map(({ number, status }) => [number, status]));
    // First: what leaves an outbox meanwhile is in a delivery when those are looked at.
    const behind = active.filter(({ position, headSeq }) => (headSeq ?? 0) > position);
    const oldest = [await outboxes.oldestAtMs(behind)];
    const [dead] = await ask(endpointsDue.countDead, {});
    const deliveries = { queued: 0, sending: 0, retrying: 0, held: 0, dead: dead?.count ?? 0 };
    await inParts([...statuses.keys()], async (numbers) => {
      const counts = await ask(endpointsDue.countUnended, { numbers });
      for (const { endpointNumber, status, count } of counts) {
        deliveries[countedStatus(status, statuses.get(endpointNumber))] += count;
      }
      const queued = await ask(endpointsDue.findOldestQueued, {
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

/** Nobody else waits for all of them. */
export async function inParts<T>(
  endpoints: readonly number[],
  read: (some: readonly number[]) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  for (let from = 0; from < endpoints.length; from += ENDPOINTS_AT_ONCE) {
    if (from > 0) await turn();
    answers.push(await read(endpoints.slice(from, from + ENDPOINTS_AT_ONCE)));
  }
  return answers;
}
