/** Deliveries, endpoints and verdicts for tests of their life. */

import type { DeliveryState, Verdict } from '../../src/domain/delivery.ts';
import type { EndpointState } from '../../src/domain/delivery-step.ts';

export const LEASE_MS = 30_000;

export function newDelivery(atMs: number, parts: Partial<DeliveryState> = {}): DeliveryState {
  return {
    status: 'queued',
    attempt: 0,
    failures: 0,
    lost: 0,
    ladderStartedAtMs: null,
    run: 1,
    fence: 0,
    dueAtMs: atMs,
    endedAtMs: null,
    deadReason: null,
    ...parts,
  };
}

export function newEndpoint(parts: Partial<EndpointState> = {}): EndpointState {
  return {
    status: 'active',
    disabledReason: null,
    disabledAtMs: null,
    failingSinceMs: null,
    lastSuccessAtMs: null,
    lastFailureAtMs: null,
    consecutiveFailures: 0,
    destinationVersion: 1,
    run: 1,
    isArchived: false,
    ...parts,
  };
}

/** As its owner disables it. */
export function disabledByHand(endpoint: EndpointState, nowMs: number): EndpointState {
  return { ...endpoint, status: 'disabled', disabledReason: 'manual', disabledAtMs: nowMs };
}

/** As its owner enables it again. */
export function enabledAgain(endpoint: EndpointState): EndpointState {
  return {
    ...endpoint,
    status: 'active',
    disabledReason: null,
    disabledAtMs: null,
    failingSinceMs: null,
    run: endpoint.run + 1,
  };
}

/** As its owner sends it elsewhere. */
export function moved(endpoint: EndpointState): EndpointState {
  return {
    ...endpoint,
    failingSinceMs: null,
    consecutiveFailures: 0,
    destinationVersion: endpoint.destinationVersion + 1,
  };
}

export function verdict(kind: Verdict['kind'], parts: Partial<Verdict> = {}): Verdict {
  return {
    kind,
    responseStatus: null,
    latencyMs: 12,
    error: kind === 'success' ? null : 'HTTP 500',
    responseBody: null,
    terminalHint: false,
    retryAfterMs: null,
    ...parts,
  };
}
