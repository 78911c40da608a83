/** The health of an endpoint in numbers. */

import type { EndpointFigures } from '../delivery/webhook-store.ts';
import type { Target } from '../management/management-call.ts';
import { pick } from '../pick.ts';
import type { Endpoint } from './endpoint.ts';
import { type EndpointDeps, requireEndpoint } from './endpoint-deps.ts';
import { overlappingSecret } from './endpoint-secrets.ts';

const OF_ENDPOINT = [
  'status',
  'disabledReason',
  'failingSinceMs',
  'lastSuccessAtMs',
  'lastFailureAtMs',
  'consecutiveFailures',
  'description',
] as const;
const OF_FIGURES = ['queuedEvents', 'retrying', 'held', 'inFlight'] as const;

export type EndpointHealth = Pick<Endpoint, (typeof OF_ENDPOINT)[number]> &
  Pick<EndpointFigures, (typeof OF_FIGURES)[number]> & {
    readonly oldestUndeliveredAgeMs: number | null;
    readonly dlqDepth: number;
    readonly sendsPerMinute: number;
    readonly successRate: number | null;
    readonly p95LatencyMs: number | null;
    readonly previousSecretExpiresAtMs: number | null;
  };

const WINDOW_MINUTES = 60;

export async function readHealth(
  { webhooks, webhookLog }: EndpointDeps,
  { call, id }: Target,
): Promise<EndpointHealth> {
  const { nowMs } = call;
  const endpoint = await requireEndpoint(webhooks, call.caller.organization.id, id);
  const figures = await webhookLog.health(endpoint.number, nowMs);
  const { finished, succeeded, oldestUndeliveredAtMs } = figures;
  return {
    ...pick(endpoint, OF_ENDPOINT),
    ...pick(figures, OF_FIGURES),
    oldestUndeliveredAgeMs: oldestUndeliveredAtMs === null ? null : Math.max(0, nowMs - oldestUndeliveredAtMs),
    dlqDepth: figures.dead,
    sendsPerMinute: finished / WINDOW_MINUTES,
    successRate: finished === 0 ? null : succeeded / finished,
    p95LatencyMs: percentile95(figures.latenciesMs),
    previousSecretExpiresAtMs: overlappingSecret(endpoint, nowMs) === null ? null : endpoint.previousSecretUntilMs,
  };
}

/** The smallest of the values that at least 95 % of them do not exceed. */
export function percentile95(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil((sorted.length * 95) / 100) - 1] ?? null;
}
