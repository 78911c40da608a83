/** What the API shows of deliveries and replays. */

import type { Endpoint } from '../endpoints/endpoint.ts';
import { pick } from '../pick.ts';
import type { Attempt, Delivery, DeliveryStatus, Replay, ReplayStatus } from './delivery.ts';

type ShownDeliveryStatus = DeliveryStatus | 'held';

const SHOWN = [
  'dispatchId',
  'deadReason',
  'test',
  'replayId',
  'eventIds',
  'responseStatus',
  'error',
  'terminalHint',
  'createdAtMs',
  'firstAttemptAtMs',
  'lastAttemptAtMs',
  'endedAtMs',
] as const;

export type DeliveryView = Pick<Delivery, (typeof SHOWN)[number]> & {
  readonly endpointId: string;
  readonly state: ShownDeliveryStatus;
  readonly attemptCount: number;
  readonly nextAttemptAtMs: number | null;
  readonly expiresAtMs: number | null;
};

export type DeliveryWithAttempts = { readonly delivery: DeliveryView; readonly attempts: readonly Attempt[] };

export type ReplayView = Omit<Replay, 'status' | 'endpointNumber'> & {
  readonly endpointId: string;
  readonly status: ReplayStatus | 'paused';
};

const KEPT_MS = 30 * 86_400_000;

/** Whether the API still shows a delivery that ended then. */
export function isKept(endedAtMs: number | null, nowMs: number): boolean {
  return endedAtMs === null || nowMs < endedAtMs + KEPT_MS;
}

function stateOf({ status }: Pick<Delivery, 'status'>, endpoint: Pick<Endpoint, 'status'>): ShownDeliveryStatus {
  const isWaiting = status === 'queued' || status === 'retrying';
  return isWaiting && endpoint.status === 'disabled' ? 'held' : status;
}

export function viewDelivery(
  delivery: Delivery,
  endpoint: Pick<Endpoint, 'id' | 'status' | 'run'>,
  nowMs: number,
): DeliveryView {
  const state = stateOf(delivery, endpoint);
  return {
    ...pick(delivery, SHOWN),
    endpointId: endpoint.id,
    state,
    attemptCount: delivery.attempt,
    nextAttemptAtMs: state === 'queued' || state === 'retrying' ? nextAttemptAtMs(delivery, endpoint, nowMs) : null,
    expiresAtMs: delivery.endedAtMs === null ? null : delivery.endedAtMs + KEPT_MS,
  };
}

/** A delivery that waited for its endpoint to be enabled is due at once, regardless of its due time. */
function nextAttemptAtMs({ run, dueAtMs }: Delivery, endpoint: Pick<Endpoint, 'run'>, nowMs: number): number | null {
  return run < endpoint.run ? Math.min(dueAtMs ?? nowMs, nowMs) : dueAtMs;
}

export function viewReplay(replay: Replay, endpoint: Pick<Endpoint, 'id' | 'status'>): ReplayView {
  const { endpointNumber: _, ...shown } = replay;
  const isPaused = replay.status === 'running' && endpoint.status === 'disabled';
  return { ...shown, endpointId: endpoint.id, status: isPaused ? 'paused' : replay.status };
}
