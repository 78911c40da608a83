/** The health of an endpoint in numbers. */

import type { EndpointFigures } from '../delivery/webhook-store.ts';
import type { Endpoint } from './endpoint.ts';
import { type EndpointDeps, type EndpointTarget, requireEndpoint } from './endpoint-deps.ts';
import { overlappingSecret } from './endpoint-secrets.ts';

export type EndpointHealth = Pick<
  Endpoint,
  | 'status'
  | 'disabledReason'
  | 'failingSinceMs'
  | 'lastSuccessAtMs'
  | 'lastFailureAtMs'
  | 'consecutiveFailures'
  | 'description'
> &
  Pick<EndpointFigures, 'queuedEvents' | 'retrying' | 'held' | 'inFlight'> & {
    readonly oldestUndeliveredAgeMs: number | null;
    readonly dlqDepth: number;
    readonly sendsPerMinute: number;
    readonly successRate: number | null;
    readonly p95LatencyMs: number | null;
    readonly previousSecretExpiresAtMs: number | null;
  };

const WINDOW_MINUTES = 60;

export async function readHealth({ webhooks }: EndpointDeps, { call, id }: EndpointTarget): Promise<EndpointHealth> {
  const { nowMs } = call;
  const endpoint = await requireEndpoint(webhooks, call.caller.organization.id, id);
  const figures = await webhooks.health(endpoint.number, nowMs);
  const { finished, succeeded, oldestUndeliveredAtMs, queuedEvents, retrying, held, inFlight } = figures;
  const { status, disabledReason, failingSinceMs, lastSuccessAtMs, lastFailureAtMs } = endpoint;
  const { consecutiveFailures, description, previousSecretUntilMs } = endpoint;
  return {
    status,
    disabledReason,
    failingSinceMs,
    lastSuccessAtMs,
    lastFailureAtMs,
    oldestUndeliveredAgeMs: oldestUndeliveredAtMs === null ? null : Math.max(0, nowMs - oldestUndeliveredAtMs),
    dlqDepth: figures.dead,
    sendsPerMinute: finished / WINDOW_MINUTES,
    successRate: finished === 0 ? null : succeeded / finished,
    p95LatencyMs: percentile95(figures.latenciesMs),
    queuedEvents,
    retrying,
    held,
    inFlight,
    consecutiveFailures,
    previousSecretExpiresAtMs: overlappingSecret(endpoint, nowMs) === null ? null : previousSecretUntilMs,
    description,
  };
}

/** The smallest of the values that at least 95 % of them do not exceed. */
export function percentile95(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil((sorted.length * 95) / 100) - 1] ?? null;
}
