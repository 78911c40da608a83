/** How an endpoint fares right now. */

import type { EndpointFigures, WebhookStore } from '../../domain/webhook-store.ts';
import { BUCKET_MS, HOUR_MS } from '../delivery/tables.ts';
import type { Ask } from '../questions.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Outboxes } from './outboxes.ts';
import type { EndpointQuestions } from './stores.ts';

const LATENCIES_MAX = 500;

export function createHealthReader(
  { endpoints }: EndpointQuestions,
  ask: Ask,
  outboxes: Outboxes,
): WebhookStore['health'] {
  return async (endpointNumber, nowMs): Promise<EndpointFigures> => {
    const sinceMs = nowMs - HOUR_MS;
    const hour = { sinceMs, untilMs: nowMs, bucket: Math.floor(sinceMs / BUCKET_MS) };
    // First: what leaves the outbox meanwhile is in a delivery when those are looked at.
    const outbox = await outboxes.count(endpointNumber);
    const [figures] = await ask(endpoints.findFigures, { endpointNumber, ...hour, limit: LATENCIES_MAX });
    const unfinished = figures?.unfinished ?? [];
    const counts = new Map(unfinished.map(({ status, count }) => [deliveryStatuses.word(status), count]));
    const retrying = counts.get('retrying') ?? 0;
    const waiting = (counts.get('queued') ?? 0) + retrying;
    const isActive = figures?.status === 'active';
    const oldest = [outbox.oldestAtMs, figures?.oldestAtMs ?? null].filter((atMs) => atMs !== null);
    return {
      oldestUndeliveredAtMs: oldest.length === 0 ? null : Math.min(...oldest),
      dead: figures?.dead ?? 0,
      finished: figures?.finished ?? 0,
      succeeded: figures?.succeeded ?? 0,
      latenciesMs: (figures?.latencies ?? []).map(({ latencyMs }) => latencyMs),
      queuedEvents: outbox.events,
      retrying: isActive ? retrying : 0,
      held: isActive ? 0 : waiting,
      inFlight: counts.get('sending') ?? 0,
    };
  };
}
