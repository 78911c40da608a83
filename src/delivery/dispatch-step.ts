/**
 * The state machine of the dispatcher: each event changes the state and returns effects. Nothing here waits, reads or sends;
 * the dispatcher performs the effects and reports their outcomes as events.
 */

import type {
  ClaimedDelivery,
  DispatchEndpoint,
  DueList,
  LogEntry,
  LogHead,
  WaitingDelivery,
  WorkOutcome,
} from '../domain/delivery/webhook-store.ts';
import {
  activeOf,
  charactersOf,
  countBody,
  type DispatchState,
  FAILING_FROM,
  freeSlot,
  isFailing,
  markPolledReady,
  markReady,
  pause,
  pollAt,
  queueTurn,
  RETRY_DELAY_MS,
  readDueAt,
  type Sending,
  type StartedClaim,
} from './dispatch-state.ts';
import {
  applySnapshot,
  createEndpointState,
  type EndpointState,
  type Next,
  renewEndpointState,
  scanAgain,
} from './endpoint-state.ts';
import { endAdvance, resetCursor } from './source-cursor.ts';

export type DispatchEvent =
  /** Endpoints changed, or this process reads them for the first time. */
  | { readonly kind: 'endpoints'; readonly endpoints: readonly DispatchEndpoint[] }
  /** The ends of the logs of all organizations with active endpoints; of those without events none. */
  | { readonly kind: 'heads'; readonly heads: readonly LogHead[] }
  /** The logs may be others: what was found in them is forgotten. */
  | { readonly kind: 'logs_replaced' }
  /** The store named due deliveries, as of `asOfMs`. */
  | { readonly kind: 'due'; readonly lists: readonly DueList[]; readonly asOfMs: number }
  /** An earlier process left deliveries behind. */
  | { readonly kind: 'left_behind'; readonly lists: readonly DueList[] }
  | { readonly kind: 'page_read' | 'page_failed'; readonly organizationNumber: number }
  /** Endpoints whose `pollAtMs` has come become ready. */
  | { readonly kind: 'polled' }
  /** The clock was set back, so that all known instants may be far in the future. */
  | { readonly kind: 'set_back' }
  | { readonly kind: 'claim_ended'; readonly start: StartedClaim; readonly outcome: WorkOutcome }
  /** Whether the store has the claim is unknown. `isAway`: the store could not serve, whatever the claim was. */
  | { readonly kind: 'claim_failed'; readonly start: StartedClaim; readonly isAway: boolean }
  /** The events of a waiting delivery, whose size was an estimate until now. */
  | { readonly kind: 'events_read'; readonly start: StartedClaim; readonly entries: readonly LogEntry[] }
  /** The result is on its way to the store, and says that the slot may be given again. */
  | { readonly kind: 'slot_freed'; readonly start: StartedClaim }
  /** Null: whether the store has the result is unknown. */
  | {
      readonly kind: 'attempt_ended';
      readonly start: StartedClaim;
      readonly outcome: WorkOutcome | null;
      readonly wasReached: boolean;
    }
  | { readonly kind: 'takeover_ended'; readonly endpointNumber: number; readonly outcome: WorkOutcome | null };

export type DispatchEffect =
  | ({ readonly kind: 'send' } & Sending)
  /** Takes a delivery over from its lost sender. */
  | { readonly kind: 'take_over'; readonly state: EndpointState; readonly delivery: Omit<WaitingDelivery, 'isReplay'> };

type EventOf<Kind extends DispatchEvent['kind']> = Extract<DispatchEvent, { readonly kind: Kind }>;

const PAUSE_STEP_MS = 1_000;
const PAUSE_MAX_MS = 5_000;
/** The delay before a log is read again that could not be read. */
const PAGE_RETRY_DELAY_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Due times of an endpoint with waiting deliveries are read again after this time at the latest. */
const DUE_READ_MAX_MS = 60_000;
export const DUE_PER_ENDPOINT = 16;
const NO_EFFECTS: readonly DispatchEffect[] = [];

export function stepDispatch(dispatch: DispatchState, event: DispatchEvent, nowMs: number): readonly DispatchEffect[] {
  switch (event.kind) {
    case 'endpoints':
      for (const endpoint of event.endpoints) renew(dispatch, endpoint, nowMs);
      return NO_EFFECTS;
    case 'heads':
      recordHeads(dispatch, event, nowMs);
      return NO_EFFECTS;
    case 'logs_replaced':
      for (const state of dispatch.endpoints.values()) scanAgain(state);
      dispatch.heads.clear();
      return NO_EFFECTS;
    case 'due':
      for (const list of event.lists) noteDue(dispatch, list, event.asOfMs);
      return takeovers(dispatch, event.lists);
    case 'left_behind':
      return takeovers(dispatch, event.lists);
    case 'page_read':
      markReady(dispatch, event.organizationNumber, nowMs);
      return NO_EFFECTS;
    case 'page_failed':
      for (const state of activeOf(dispatch, event.organizationNumber))
        pollAt(dispatch, state, nowMs + PAGE_RETRY_DELAY_MS);
      return NO_EFFECTS;
    case 'polled':
      markPolledReady(dispatch, nowMs);
      return NO_EFFECTS;
    case 'set_back':
      for (const state of dispatch.endpoints.values()) resetWaits(dispatch, state, nowMs);
      return NO_EFFECTS;
    case 'claim_ended':
      return endClaim(dispatch, event, nowMs);
    case 'claim_failed':
      failClaim(dispatch, event, nowMs);
      return NO_EFFECTS;
    case 'events_read':
      event.start.state.readCharacters = charactersOf(event.entries);
      countBody(dispatch, event.start, event.start.state.readCharacters);
      return NO_EFFECTS;
    case 'slot_freed':
      freeSlot(dispatch, event.start);
      return NO_EFFECTS;
    case 'attempt_ended':
      endAttempt(dispatch, event, nowMs);
      return NO_EFFECTS;
    case 'takeover_ended':
      endTakeover(dispatch, event, nowMs);
      return NO_EFFECTS;
  }
}

function renew(dispatch: DispatchState, endpoint: DispatchEndpoint, nowMs: number): void {
  const { endpoints, ready, polled } = dispatch;
  const known = endpoints.get(endpoint.number);
  if (endpoint.archivedAtMs !== null) {
    endpoints.delete(endpoint.number);
    if (known === undefined) return;
    known.isActive = false;
    ready.remove(known.endpoint.organizationNumber, known);
    polled.delete(known);
    return;
  }
  const state = known ?? createEndpointState(endpoint, nowMs);
  if (known === undefined) endpoints.set(endpoint.number, state);
  else renewEndpointState(known, endpoint, nowMs);
  queueTurn(dispatch, state);
}

function recordHeads(dispatch: DispatchState, { heads }: EventOf<'heads'>, nowMs: number): void {
  dispatch.isShared = heads.length > 1;
  for (const { organizationNumber, seq } of heads) {
    if (dispatch.heads.get(organizationNumber) === seq) continue;
    dispatch.heads.set(organizationNumber, seq);
    markReady(dispatch, organizationNumber, nowMs);
  }
}

function noteDue(dispatch: DispatchState, { endpointNumber, waiting, nextAtMs }: DueList, asOfMs: number): void {
  const state = dispatch.endpoints.get(endpointNumber);
  if (state === undefined) return;
  state.waiting = [...waiting];
  state.isMoreDue = waiting.length >= DUE_PER_ENDPOINT;
  // Maintenance corrects due times that a wrong clock has set.
  const againAtMs = nextAtMs === null ? null : Math.min(Math.max(nextAtMs, asOfMs + 1), asOfMs + DUE_READ_MAX_MS);
  readDueAt(dispatch, state, againAtMs);
  if (waiting.length > 0) queueTurn(dispatch, state);
}

function resetWaits(dispatch: DispatchState, state: EndpointState, nowMs: number): void {
  state.pausedUntilMs = 0;
  state.oldest = null;
  state.pollAtMs = null;
  state.readDueAtMs = null;
  readDueAt(dispatch, state, nowMs);
}

function takeovers(dispatch: DispatchState, lists: readonly DueList[]): readonly DispatchEffect[] {
  let effects: DispatchEffect[] | null = null;
  for (const { endpointNumber, lost } of lists) {
    const state = dispatch.endpoints.get(endpointNumber);
    if (state === undefined || lost.length === 0) continue;
    effects ??= [];
    for (const delivery of lost) effects.push({ kind: 'take_over', state, delivery });
  }
  return effects ?? NO_EFFECTS;
}

function endClaim(
  dispatch: DispatchState,
  { start: started, outcome }: EventOf<'claim_ended'>,
  nowMs: number,
): readonly DispatchEffect[] {
  started.state.claimsFailed = 0;
  const claimed = outcome.kind === 'claimed' ? noteClaimed(dispatch, started, outcome, nowMs) : null;
  if (outcome.kind === 'refused') noteRefusal(dispatch, started, outcome, nowMs);
  if (claimed === null) freeSlot(dispatch, started);
  settleClaim(dispatch, started);
  if (outcome.kind === 'recorded') throw new Error('outcome kind mismatch: the store returned a result for a claim');
  return claimed === null ? NO_EFFECTS : [{ kind: 'send', start: started, claimed }];
}

function failClaim(dispatch: DispatchState, { start: started, isAway }: EventOf<'claim_failed'>, nowMs: number): void {
  const { state, next } = started;
  // If the store has committed this advance, it refuses the next one and returns the real position. A delivery that was
  // claimed but not sent is taken over when its lease ends.
  if (next.kind !== 'waiting') resetCursor(next.cursor, next.cursor.saved);
  readDueAt(dispatch, state, nowMs + RETRY_DELAY_MS);
  // While the store is away the queue pauses for all. Claims that failed in one commit count once.
  if (!isAway && state.pausedUntilMs <= nowMs) {
    pause(dispatch, state, nowMs + Math.min(RETRY_DELAY_MS * 2 ** state.claimsFailed, PAUSE_MAX_MS));
    state.claimsFailed += 1;
  }
  freeSlot(dispatch, started);
  settleClaim(dispatch, started);
}

function settleClaim(dispatch: DispatchState, { state, next }: StartedClaim): void {
  if (next.kind !== 'waiting') endAdvance(next.cursor);
  queueTurn(dispatch, state);
}

type Outcome<Kind extends WorkOutcome['kind']> = Extract<WorkOutcome, { readonly kind: Kind }>;

function noteClaimed(
  dispatch: DispatchState,
  { state, next, claim }: StartedClaim,
  { claimed, snapshot }: Outcome<'claimed'>,
  nowMs: number,
): ClaimedDelivery | null {
  applySnapshot(state, snapshot);
  if (claim.item.kind === 'advance') noteSaved(state, next, claim.item.toPosition);
  if (claim.waits) readDueAt(dispatch, state, nowMs);
  return claimed;
}

function noteSaved(state: EndpointState, next: Next, position: number): void {
  if (next.kind === 'waiting') return;
  next.cursor.saved = position;
  if (next.kind === 'replay' && position >= next.source.replay.toSeq) {
    state.replays = state.replays.filter((source) => source !== next.source);
  }
}

function noteRefusal(
  dispatch: DispatchState,
  { state, next }: StartedClaim,
  { reason, snapshot }: Outcome<'refused'>,
  nowMs: number,
): void {
  if (snapshot === null) state.isActive = false;
  else applySnapshot(state, snapshot);
  if (next.kind !== 'waiting') {
    if (reason === 'moved' && snapshot !== null) noteSaved(state, next, snapshot.position);
    resetCursor(next.cursor, next.cursor.saved);
  } else if (reason !== 'taken' && reason !== 'expired') readDueAt(dispatch, state, nowMs + RETRY_DELAY_MS);
  if (reason === 'full') pause(dispatch, state, nowMs + RETRY_DELAY_MS);
  if (reason === 'capped') pause(dispatch, state, nowMs + HOUR_MS - (nowMs % HOUR_MS));
}

function endAttempt(
  dispatch: DispatchState,
  { start: started, outcome, wasReached }: EventOf<'attempt_ended'>,
  nowMs: number,
): void {
  const { state } = started;
  if (outcome?.kind === 'recorded') {
    applySnapshot(state, outcome.snapshot);
    readDueAt(dispatch, state, outcome.nextAtMs);
    if (isFailing(state) && !wasReached) {
      const steps = state.consecutiveFailures - FAILING_FROM + 1;
      pause(dispatch, state, nowMs + Math.min(steps * PAUSE_STEP_MS, PAUSE_MAX_MS));
    } else state.pausedUntilMs = 0;
    // The result is stale or lost: another sender may have the delivery, or none.
  } else readDueAt(dispatch, state, nowMs + RETRY_DELAY_MS);
  freeSlot(dispatch, started);
}

function endTakeover(
  dispatch: DispatchState,
  { endpointNumber, outcome }: EventOf<'takeover_ended'>,
  nowMs: number,
): void {
  const state = dispatch.endpoints.get(endpointNumber);
  if (state === undefined) return;
  if (outcome === null) readDueAt(dispatch, state, nowMs + RETRY_DELAY_MS);
  else if (outcome.kind === 'recorded') readDueAt(dispatch, state, outcome.nextAtMs);
}
