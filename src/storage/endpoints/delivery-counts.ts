/** How many deliveries there are, and how far behind they are, for metrics. */

import { setImmediate as turn } from 'node:timers/promises';
import type { DeliveryStatus } from '../../domain/delivery.ts';
import type { DeliveryCounts, DeliveryStore } from '../../domain/webhook-store.ts';
import type { Ask } from '../questions.ts';
import { findLeast, type Outboxes } from './outboxes.ts';
import type { EndpointQuestions } from './webhook-store.ts';

/** So many are asked about before others have their turn. */
const ENDPOINTS_AT_ONCE = 250;

export function createCounts(
  { endpointsDue }: EndpointQuestions,
  ask: Ask,
  outboxes: Outboxes,
): DeliveryStore['counts'] {
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
        deliveries[toldStatus(status, statuses.get(endpointNumber))] += count;
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

function toldStatus(
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
