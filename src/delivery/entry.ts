/** An endpoint as one process sees it that delivers to it: what it is, what is under way, and what is next. */

import type { DispatchEndpoint, EndpointPlace, RunningReplay, WaitingDelivery } from '../domain/webhook-store.ts';
import { createCursor, type LaneCursor, resetCursor } from './lane-cursor.ts';

export type ReplayLane = { readonly replay: RunningReplay; readonly cursor: LaneCursor };

export type Entry = {
  endpoint: DispatchEndpoint;
  isActive: boolean;
  consecutiveFailures: number;
  /** Claims and sends of this process. */
  own: number;
  readonly fresh: LaneCursor;
  replays: ReplayLane[];
  /** Due deliveries that this process knows of. */
  waiting: WaitingDelivery[];
  /** When to ask the store what is due; null: not before something new happens. */
  askDueAtMs: number | null;
  /** Whether the store has more that is due than it told. */
  isMoreDue: boolean;
  /** Slots given so far, for the lanes to take turns by. */
  grants: number;
  /** Nothing begins before. */
  restsUntilMs: number;
  /** When to look at it again without being told; null: no need to. */
  lookAtMs: number | null;
  /** The store has a newer version than this; nothing begins before it has been read. */
  isOutdated: boolean;
};

export function createEntry(endpoint: DispatchEndpoint, nowMs: number): Entry {
  return {
    endpoint,
    isActive: isActive(endpoint),
    consecutiveFailures: endpoint.consecutiveFailures,
    own: 0,
    fresh: createCursor(endpoint.position),
    replays: endpoint.replays.map((replay) => ({ replay, cursor: createCursor(replay.position) })),
    waiting: [],
    askDueAtMs: nowMs,
    isMoreDue: false,
    grants: 0,
    restsUntilMs: 0,
    lookAtMs: null,
    isOutdated: false,
  };
}

/** Takes over what the store says now. What was found under an older version is looked for again. */
export function renewEntry(entry: Entry, endpoint: DispatchEndpoint, nowMs: number): void {
  entry.endpoint = endpoint;
  entry.isActive = isActive(endpoint);
  entry.consecutiveFailures = endpoint.consecutiveFailures;
  entry.isOutdated = false;
  entry.waiting = [];
  entry.askDueAtMs = nowMs;
  entry.restsUntilMs = 0;
  resetCursor(entry.fresh, endpoint.position);
  const known = new Map(entry.replays.map((lane) => [lane.replay.number, lane]));
  entry.replays = endpoint.replays.map((replay) => {
    const cursor = known.get(replay.number)?.cursor;
    if (cursor === undefined) return { replay, cursor: createCursor(replay.position) };
    resetCursor(cursor, replay.position);
    return { replay, cursor };
  });
}

/** Takes over what a piece of work says about its endpoint, unless something newer is known by now. */
export function notePlace(entry: Entry, { version, isActive: active, consecutiveFailures }: EndpointPlace): void {
  if (version < entry.endpoint.version) return;
  if (version > entry.endpoint.version) entry.isOutdated = true;
  if (!active) entry.isActive = false;
  entry.consecutiveFailures = consecutiveFailures;
}

/** What the endpoint gets at a position of the log. */
export function maskAt({ subscriptions }: DispatchEndpoint, seq: number): number {
  for (let index = subscriptions.length - 1; index >= 0; index -= 1) {
    const subscription = subscriptions[index];
    if (subscription !== undefined && subscription.fromSeq <= seq) return subscription.mask;
  }
  return 0;
}

/** All that the endpoint gets at any position of the log from this one on. */
export function maskFrom({ subscriptions }: DispatchEndpoint, seq: number): number {
  let mask = 0;
  for (let index = subscriptions.length - 1; index >= 0; index -= 1) {
    const subscription = subscriptions[index];
    if (subscription === undefined) continue;
    mask |= subscription.mask;
    if (subscription.fromSeq <= seq) break;
  }
  return mask;
}

/** The first position from this one on at which the endpoint gets anything at all; none at all: beyond every log. */
export function wantedFrom(endpoint: DispatchEndpoint, seq: number): number {
  if (maskAt(endpoint, seq) !== 0) return seq;
  const next = endpoint.subscriptions.find(({ fromSeq, mask }) => fromSeq > seq && mask !== 0);
  return next?.fromSeq ?? Number.MAX_SAFE_INTEGER;
}

/** The lane has gone through all of its part of the log. */
export function dropReplay(entry: Entry, done: ReplayLane): void {
  entry.replays = entry.replays.filter((lane) => lane !== done);
}

function isActive(endpoint: DispatchEndpoint): boolean {
  return endpoint.status === 'active' && endpoint.archivedAtMs === null;
}
