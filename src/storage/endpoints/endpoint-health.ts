/** How an endpoint fares right now. */

import type { EndpointFigures, WebhookStore } from '../../domain/webhook-store.ts';
import { BUCKET_MS, HOUR_MS } from '../delivery/tables.ts';
import type { Ask, Compiled } from '../questions.ts';
import type * as source from './questions.ts';

export type HealthQuestions = {
  readonly [Name in 'findFigures' | 'countUnfinished' | 'listLatencies']: Compiled<(typeof source)[Name]>;
};

/** What an endpoint gets of the log that is in no delivery yet. */
export type OutboxCount = { readonly events: number; readonly oldestAtMs: number | null };

export type HealthDeps = {
  readonly questions: HealthQuestions;
  readonly ask: Ask;
  readonly countOutbox: (endpointNumber: number) => Promise<OutboxCount>;
};

const LATENCIES_MAX = 500;

export function createHealthReader({ questions, ask, countOutbox }: HealthDeps): WebhookStore['health'] {
  return async (endpointNumber, nowMs): Promise<EndpointFigures> => {
    const sinceMs = nowMs - HOUR_MS;
    // First: what leaves the outbox meanwhile is in a delivery when those are looked at.
    const outbox = await countOutbox(endpointNumber);
    const [figures] = await ask(questions.findFigures, { endpointNumber, bucket: Math.floor(sinceMs / BUCKET_MS) });
    const unfinished = await ask(questions.countUnfinished, { endpointNumber });
    const times = { sinceMs, untilMs: nowMs, limit: LATENCIES_MAX };
    const latencies = await ask(questions.listLatencies, { endpointNumber, ...times });
    const counts = new Map(unfinished.map(({ status, count }) => [status, count]));
    const retrying = counts.get('retrying') ?? 0;
    const waiting = (counts.get('queued') ?? 0) + retrying;
    const isActive = figures?.status === 'active';
    const oldest = [outbox.oldestAtMs, figures?.oldestAtMs ?? null].filter((atMs) => atMs !== null);
    return {
      oldestUndeliveredAtMs: oldest.length === 0 ? null : Math.min(...oldest),
      dead: figures?.dead ?? 0,
      finished: figures?.finished ?? 0,
      succeeded: figures?.succeeded ?? 0,
      latenciesMs: latencies.map(({ latencyMs }) => latencyMs),
      queuedEvents: outbox.events,
      retrying: isActive ? retrying : 0,
      held: isActive ? 0 : waiting,
      inFlight: counts.get('sending') ?? 0,
    };
  };
}
