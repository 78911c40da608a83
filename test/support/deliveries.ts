/** Deliveries, endpoints and verdicts for tests of their states. */

import type { DeliveryState, Verdict } from '../../src/domain/delivery/delivery.ts';
import type { EndpointLifecycle } from '../../src/domain/delivery/delivery-step.ts';
import type { DispatchEndpoint } from '../../src/domain/delivery/webhook-store.ts';
import { ALL_EVENTS } from '../../src/domain/events/event-type.ts';
import { sampleEndpoint } from '../storage/conformance/webhook-harness.ts';

export const LEASE_MS = 30_000;

export function newDelivery(atMs: number, parts: Partial<DeliveryState> = {}): DeliveryState {
  return {
    status: 'queued',
    attempt: 0,
    failures: 0,
    lost: 0,
    backoffStartedAtMs: null,
    run: 1,
    fence: 0,
    dueAtMs: atMs,
    endedAtMs: null,
    deadReason: null,
    ...parts,
  };
}

export function newEndpoint(parts: Partial<EndpointLifecycle> = {}): EndpointLifecycle {
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

/** As dispatchers see it: active, without replays, and at the beginning of its log. */
export function newDispatchEndpoint(number: number, parts: Partial<DispatchEndpoint> = {}): DispatchEndpoint {
  return {
    ...sampleEndpoint({ maxBatchDelayMs: 0 }),
    number,
    organizationNumber: 1,
    version: 1,
    failingSinceMs: null,
    lastSuccessAtMs: null,
    lastFailureAtMs: null,
    consecutiveFailures: 0,
    position: 0,
    inFlight: 0,
    subscriptions: [{ fromSeq: 1, mask: ALL_EVENTS }],
    replays: [],
    ...parts,
  };
}

/** Disabled by its owner. */
export function disabledByHand(endpoint: EndpointLifecycle, nowMs: number): EndpointLifecycle {
  return { ...endpoint, status: 'disabled', disabledReason: 'manual', disabledAtMs: nowMs };
}

/** Enabled again by its owner. */
export function enabledAgain(endpoint: EndpointLifecycle): EndpointLifecycle {
  return {
    ...endpoint,
    status: 'active',
    disabledReason: null,
    disabledAtMs: null,
    failingSinceMs: null,
    run: endpoint.run + 1,
  };
}

/** With a URL changed by its owner. */
export function moved(endpoint: EndpointLifecycle): EndpointLifecycle {
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
