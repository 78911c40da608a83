/** The state of a dispatcher: the endpoints it knows, when each may have something to send, and the slots in use. */

import type { ClaimedDelivery, LogEntry, WorkItem } from '../domain/delivery/webhook-store.ts';
import { createOwnerQueue, type OwnerQueue } from '../scheduling/owner-queue.ts';
import { type Counts, createCounts } from '../scheduling/semaphore.ts';
import { type EndpointState, type Next, pollNoLaterThan } from './endpoint-state.ts';

export type DispatchState = {
  readonly concurrency: number;
  /** By number, without archived ones. */
  readonly endpoints: Map<number, EndpointState>;
  /** The last sequence number of each organization's log. */
  readonly heads: Map<number, number>;
  /** Endpoints that may have something to send. Organizations take turns, and the endpoints of each of them. */
  readonly ready: OwnerQueue<number, EndpointState>;
  /** Endpoints with a `pollAtMs`. */
  readonly polled: Set<EndpointState>;
  /** The attempts of each organization that this process makes, from claim to result. */
  readonly slots: Counts<number>;
  /** The characters of the events of these attempts. */
  readonly bodies: Counts<number>;
  /** Those of attempts that went to failing endpoints. */
  readonly failingBodies: Counts<number>;
  /** Whether several organizations have active endpoints and events. */
  isShared: boolean;
  /** The attempts that went to failing endpoints. */
  failingInFlight: number;
  /** The earliest instant at which something will be ready, among those set since the dispatcher last took it; else null. */
  scheduleAtMs: number | null;
};

export type Claim = {
  readonly item: WorkItem;
  /** The events of the delivery that is sent at once; null where they have to be read. */
  readonly entries: readonly LogEntry[] | null;
  /** Whether the claim needs a slot. */
  readonly sends: boolean;
  /** Whether it also creates deliveries that wait. */
  readonly waits: boolean;
};

/** A claim that was given to the store, with the slot that it holds. */
export type StartedClaim = {
  readonly state: EndpointState;
  readonly next: Next;
  readonly claim: Claim;
  /** The lease starts no earlier. */
  readonly startedAtMs: number;
  readonly isFailing: boolean;
  holdsSlot: boolean;
  /** Of the events of the attempt; an estimate where they have to be read. */
  bodyCharacters: number;
};

/** A claim that the store granted: its attempt may be sent. */
export type Sending = { readonly start: StartedClaim; readonly claimed: ClaimedDelivery };

/**
 * From this many failures in a row on an endpoint gets one slot, and pauses after each attempt that reached no receiver. A
 * receiver that answers may refuse only some batches, so its next one is sent at once.
 */
export const FAILING_FROM = 3;
/** The delay before something is tried again that could not be started. */
export const RETRY_DELAY_MS = 200;

export function createDispatchState(concurrency: number): DispatchState {
  return {
    concurrency,
    endpoints: new Map(),
    heads: new Map(),
    ready: createOwnerQueue(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
    polled: new Set(),
    slots: createCounts(),
    bodies: createCounts(),
    failingBodies: createCounts(),
    isShared: false,
    failingInFlight: 0,
    scheduleAtMs: null,
  };
}

/** Puts the endpoint behind the others of its organization, unless it waits for its turn already. */
export function queueTurn({ ready }: DispatchState, state: EndpointState): void {
  ready.add(state.endpoint.organizationNumber, state);
}

/** A paused endpoint becomes ready when its pause is over instead. */
export function markReady(dispatch: DispatchState, organizationNumber: number, nowMs: number): void {
  for (const state of activeOf(dispatch, organizationNumber)) {
    if (state.pausedUntilMs <= nowMs) queueTurn(dispatch, state);
  }
}

/** Only their logs can hold something to send. */
export function activeOrganizations({ endpoints }: DispatchState): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const { isActive, endpoint } of endpoints.values()) if (isActive) numbers.add(endpoint.organizationNumber);
  return numbers;
}

export function* activeOf({ endpoints }: DispatchState, organizationNumber: number): Generator<EndpointState> {
  for (const state of endpoints.values()) {
    if (state.isActive && state.endpoint.organizationNumber === organizationNumber) yield state;
  }
}

export function markPolledReady(dispatch: DispatchState, nowMs: number): void {
  const { polled } = dispatch;
  for (const state of polled) {
    if (state.pollAtMs !== null && state.pollAtMs > nowMs) continue;
    state.pollAtMs = null;
    polled.delete(state);
    if (state.isActive) queueTurn(dispatch, state);
  }
}

export function nextPollAtMs({ polled }: DispatchState): number | null {
  let next: number | null = null;
  for (const { pollAtMs } of polled) if (pollAtMs !== null && (next === null || pollAtMs < next)) next = pollAtMs;
  return next;
}

export function pollAt(dispatch: DispatchState, state: EndpointState, atMs: number): void {
  pollNoLaterThan(state, atMs);
  dispatch.polled.add(state);
  dispatch.scheduleAtMs = Math.min(dispatch.scheduleAtMs ?? atMs, atMs);
}

/** A delivery of the endpoint is due then; null: none. */
export function readDueAt(dispatch: DispatchState, state: EndpointState, atMs: number | null): void {
  if (atMs === null) return;
  state.readDueAtMs = Math.min(state.readDueAtMs ?? atMs, atMs);
  pollAt(dispatch, state, atMs);
}

export function pause(dispatch: DispatchState, state: EndpointState, untilMs: number): void {
  state.pausedUntilMs = Math.max(state.pausedUntilMs, untilMs);
  pollAt(dispatch, state, state.pausedUntilMs);
}

export function isFailing({ consecutiveFailures }: EndpointState): boolean {
  return consecutiveFailures >= FAILING_FROM;
}

export function charactersOf(entries: readonly LogEntry[]): number {
  let characters = 0;
  for (const entry of entries) characters += entry.envelope.length;
  return characters;
}

export function countBody({ bodies, failingBodies }: DispatchState, started: StartedClaim, characters: number): void {
  const { organizationNumber } = started.state.endpoint;
  bodies.add(organizationNumber, characters - started.bodyCharacters);
  if (started.isFailing) failingBodies.add(organizationNumber, characters - started.bodyCharacters);
  started.bodyCharacters = characters;
}

export function freeSlot(dispatch: DispatchState, started: StartedClaim): void {
  if (started.holdsSlot) {
    started.holdsSlot = false;
    countBody(dispatch, started, 0);
    started.state.inFlight -= 1;
    dispatch.slots.add(started.state.endpoint.organizationNumber, -1);
    if (started.isFailing) dispatch.failingInFlight -= 1;
  }
  queueTurn(dispatch, started.state);
}
