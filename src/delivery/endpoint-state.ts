/** What a dispatcher knows of one endpoint, and the pure rules about it: what it gets of the log, and what it sends next. */

import type {
  DispatchEndpoint,
  EndpointSnapshot,
  LogEntry,
  RunningReplay,
  WaitingDelivery,
} from '../domain/delivery/webhook-store.ts';
import { NO_EVENTS } from '../domain/events/event-type.ts';
import type { LogPages } from './log-pages.ts';
import { createCursor, type Enough, hasEnough, resetCursor, type SourceCursor, scanLog } from './source-cursor.ts';

type ReplaySource = { readonly replay: RunningReplay; readonly cursor: SourceCursor };

export type EndpointState = {
  endpoint: DispatchEndpoint;
  isActive: boolean;
  consecutiveFailures: number;
  /** Claims and attempts of this process. */
  inFlight: number;
  readonly live: SourceCursor;
  /** The live event that waits longest, and when this process found it; null: none has waited yet. */
  oldest: { readonly entry: LogEntry; readonly foundAtMs: number } | null;
  replays: ReplaySource[];
  /** Due deliveries that the store has named. */
  waiting: WaitingDelivery[];
  /** When to read the due deliveries from the store; null: not before something changes. */
  readDueAtMs: number | null;
  /** Whether the store has more due deliveries than it named. */
  isMoreDue: boolean;
  /** Slots given so far; sources take turns by it. */
  slotsGiven: number;
  /** The events of the waiting delivery that was read last; before any was read, the most that one may have. */
  readCharacters: number;
  /** Claims in a row that the store could not store, though it was not away. */
  claimsFailed: number;
  /** No claim starts before. */
  pausedUntilMs: number;
  /** When the endpoint becomes ready by itself; null: not before something changes. */
  pollAtMs: number | null;
  /** The store has a newer version; no claim starts before this process has read it. */
  isOutdated: boolean;
};

export function createEndpointState(endpoint: DispatchEndpoint, nowMs: number): EndpointState {
  return {
    endpoint,
    isActive: isActive(endpoint),
    consecutiveFailures: endpoint.consecutiveFailures,
    inFlight: 0,
    live: createCursor(endpoint.position),
    oldest: null,
    replays: endpoint.replays.map((replay) => ({ replay, cursor: createCursor(replay.position) })),
    waiting: [],
    readDueAtMs: nowMs,
    isMoreDue: false,
    slotsGiven: 0,
    readCharacters: BATCH_MAX_CHARACTERS,
    claimsFailed: 0,
    pausedUntilMs: 0,
    pollAtMs: null,
    isOutdated: false,
  };
}

/** Replaces the endpoint by a newer version, and drops what was found under the older one. */
export function renewEndpointState(state: EndpointState, endpoint: DispatchEndpoint, nowMs: number): void {
  state.endpoint = endpoint;
  state.isActive = isActive(endpoint);
  state.consecutiveFailures = endpoint.consecutiveFailures;
  state.isOutdated = false;
  state.waiting = [];
  state.readDueAtMs = nowMs;
  state.claimsFailed = 0;
  state.pausedUntilMs = 0;
  resetCursor(state.live, endpoint.position);
  const known = new Map(state.replays.map((source) => [source.replay.number, source]));
  state.replays = endpoint.replays.map((replay) => {
    const cursor = known.get(replay.number)?.cursor;
    if (cursor === undefined) return { replay, cursor: createCursor(replay.position) };
    resetCursor(cursor, replay.position);
    return { replay, cursor };
  });
}

/** Scans the logs again from the positions in the store. */
export function scanAgain(state: EndpointState): void {
  state.oldest = null;
  for (const { cursor } of [{ cursor: state.live }, ...state.replays]) resetCursor(cursor, cursor.saved);
}

/** Applies what a work item returned about the endpoint, unless this process has read a newer version. */
export function applySnapshot(state: EndpointState, snapshot: EndpointSnapshot): void {
  if (snapshot.version < state.endpoint.version) return;
  if (snapshot.version > state.endpoint.version) state.isOutdated = true;
  if (!snapshot.isActive) state.isActive = false;
  state.consecutiveFailures = snapshot.consecutiveFailures;
}

function isActive(endpoint: DispatchEndpoint): boolean {
  return endpoint.status === 'active' && endpoint.archivedAtMs === null;
}

/** A batch for HTTP has no more, unless a single event has. Batches for queues are divided by their own rule. */
export const BATCH_MAX_CHARACTERS = 1024 * 1024;

export function enoughFor({ destinationKind, maxBatchSize }: DispatchEndpoint): Enough {
  const characters = destinationKind === 'http' ? BATCH_MAX_CHARACTERS : Number.POSITIVE_INFINITY;
  return { events: maxBatchSize, characters };
}

/** The event types that the endpoint gets at a position of the log. */
export function maskAt({ subscriptions }: DispatchEndpoint, seq: number): number {
  for (let index = subscriptions.length - 1; index >= 0; index -= 1) {
    const subscription = subscriptions[index];
    if (subscription !== undefined && subscription.fromSeq <= seq) return subscription.mask;
  }
  return 0;
}

/** All event types that the endpoint gets at this position of the log or later. */
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

/** The first position from this one on at which the endpoint gets any type; beyond every log if there is none. */
export function wantedFrom(endpoint: DispatchEndpoint, seq: number): number {
  if (maskAt(endpoint, seq) !== 0) return seq;
  const next = endpoint.subscriptions.find(({ fromSeq, mask }) => fromSeq > seq && mask !== 0);
  return next?.fromSeq ?? Number.MAX_SAFE_INTEGER;
}

/** What gets the next slot of an endpoint: a source whose events become a batch, or a waiting delivery. */
export type Next =
  | { readonly kind: 'live'; readonly cursor: SourceCursor }
  | { readonly kind: 'replay'; readonly cursor: SourceCursor; readonly source: ReplaySource }
  | { readonly kind: 'waiting'; readonly delivery: WaitingDelivery };

export type NextSource = Exclude<Next, { kind: 'waiting' }>;

type NextInputs = {
  readonly pages: Pick<LogPages, 'find'>;
  readonly headSeq: number;
  readonly nowMs: number;
  /** Older events have left retention, and are not sent even where the log still has them. */
  readonly keptFromMs: number;
};

/** Null: nothing is ready. If a batch will be ready at a known instant, `pollAtMs` of the state is set. */
export function nextOf(state: EndpointState, inputs: NextInputs): Next | null {
  const live = isLiveReady(state, inputs) ? ({ kind: 'live', cursor: state.live } as const) : null;
  const others = othersOf(state, inputs);
  if (others.length === 0) return live;
  // Live events get every second slot even when others are ready; the others take turns in the rest.
  if (live !== null && state.slotsGiven % 2 === 0) return live;
  return others[(state.slotsGiven >> 1) % others.length] ?? live;
}

function isLiveReady(state: EndpointState, { pages, headSeq, nowMs, keptFromMs }: NextInputs): boolean {
  const { endpoint, live } = state;
  if (live.resetTo !== null) return false;
  const isScanned = scanLog(live, {
    pages,
    organizationNumber: endpoint.organizationNumber,
    toSeq: headSeq,
    maskOf: ({ seq, createdAtMs }) => (createdAtMs >= keptFromMs ? maskAt(endpoint, seq) : NO_EVENTS),
    wantedFrom: (seq) => wantedFrom(endpoint, seq),
    maskFrom: (seq) => maskFrom(endpoint, seq),
    enough: enoughFor(endpoint),
  });
  // The missing page may hold more events of the same batch.
  if (!isScanned) return false;
  const oldest = live.pending[0];
  if (oldest === undefined) return false;
  if (hasEnough(live, enoughFor(endpoint)) || endpoint.maxBatchDelayMs === 0) return true;
  const batchAtMs = waitsSinceMs(state, oldest, nowMs) + endpoint.maxBatchDelayMs;
  if (batchAtMs <= nowMs) return true;
  pollNoLaterThan(state, batchAtMs);
  return false;
}

/** After the clock was set back, events are created later than now, and would wait until it has caught up. */
function waitsSinceMs(state: EndpointState, entry: LogEntry, nowMs: number): number {
  const foundAtMs = Math.min(state.oldest?.entry === entry ? state.oldest.foundAtMs : nowMs, nowMs);
  state.oldest = { entry, foundAtMs };
  return Math.min(entry.createdAtMs, foundAtMs);
}

function othersOf(state: EndpointState, inputs: NextInputs): readonly Next[] {
  const others: Next[] = [];
  const [delivery] = state.waiting;
  if (delivery !== undefined) others.push({ kind: 'waiting', delivery });
  const source = state.replays.find((each) => isReplayReady(state, each, inputs));
  if (source !== undefined) others.push({ kind: 'replay', cursor: source.cursor, source });
  return others;
}

function isReplayReady(
  { endpoint }: EndpointState,
  { replay, cursor }: ReplaySource,
  { pages, keptFromMs }: NextInputs,
): boolean {
  if (cursor.resetTo !== null) return false;
  // Where the clock was set back, the positions of the window hold events of other instants too.
  const fromMs = Math.max(replay.fromMs, keptFromMs);
  scanLog(cursor, {
    pages,
    organizationNumber: endpoint.organizationNumber,
    toSeq: replay.toSeq,
    maskOf: ({ createdAtMs }) => (createdAtMs >= fromMs && createdAtMs <= replay.toMs ? replay.mask : NO_EVENTS),
    wantedFrom: (seq) => seq,
    maskFrom: () => replay.mask,
    enough: enoughFor(endpoint),
  });
  if (hasEnough(cursor, enoughFor(endpoint))) return true;
  return cursor.pending.length > 0 && cursor.scanned >= replay.toSeq;
}

/** A crash loses positions that are not saved; at most this many sequence numbers are then scanned again. */
const UNSAVED_SEQS_MAX = 10_000;

/** A source that scanned far, or to its end, and found no events: its position is to be saved. Null: none. */
export function unsavedOf(state: EndpointState): NextSource | null {
  const { live, replays } = state;
  if (isEmpty(live) && live.scanned - live.position >= UNSAVED_SEQS_MAX) return { kind: 'live', cursor: live };
  for (const source of replays) {
    const { cursor, replay } = source;
    const isOver = cursor.scanned >= replay.toSeq && cursor.position < replay.toSeq;
    if (isEmpty(cursor) && (isOver || cursor.scanned - cursor.position >= UNSAVED_SEQS_MAX)) {
      return { kind: 'replay', cursor, source };
    }
  }
  return null;
}

function isEmpty({ pending, advancing, resetTo }: SourceCursor): boolean {
  return pending.length === 0 && advancing === 0 && resetTo === null;
}

export function pollNoLaterThan(state: EndpointState, atMs: number): void {
  state.pollAtMs = state.pollAtMs === null ? atMs : Math.min(state.pollAtMs, atMs);
}
