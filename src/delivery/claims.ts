/** Decides which endpoint gets the next slot, and turns what it sends next into the work item of a claim. */

import { hash } from 'node:crypto';
import type { RandomBytes } from '../domain/clock.ts';
import { LEASE_MS } from '../domain/delivery/delivery-step.ts';
import type { DispatchEndpoint, LogEntry, NewBatch } from '../domain/delivery/webhook-store.ts';
import { newId } from '../domain/ids.ts';
import { retentionStartMs } from '../domain/retention-terms.ts';
import {
  type Claim,
  charactersOf,
  type DispatchState,
  isFailing,
  pollAt,
  queueTurn,
  RETRY_DELAY_MS,
  readDueAt,
  type StartedClaim,
} from './dispatch-state.ts';
import { type EndpointState, enoughFor, type Next, type NextSource, nextOf, unsavedOf } from './endpoint-state.ts';
import type { LogPages } from './log-pages.ts';
import { shiftPending } from './source-cursor.ts';
import { slotsOf, takeTurn } from './turns.ts';

type ClaimDeps = {
  readonly pages: Pick<LogPages, 'find'>;
  readonly prepare: PrepareClaim;
  /** Whether the queue to the store takes no more urgent, or no more background items for now. */
  readonly isFull: (isUrgent: boolean) => boolean;
  readonly nowMs: () => number;
  /** The present for what is too old to be kept. */
  readonly retentionNowMs: () => number;
};

/**
 * Starts the next claim; null: there is none, or no room for one. Each organization gets one slot in turn for one of its ready
 * endpoints, which then goes to the end of their line, until it has nothing more to send.
 */
export function nextClaim(dispatch: DispatchState, deps: ClaimDeps): StartedClaim | null {
  // Every item that the store returns brings the dispatcher back here.
  while (!deps.isFull(true)) {
    const state = takeTurn(dispatch);
    if (state === undefined) return null;
    if (!state.isActive || state.isOutdated) continue;
    const isFaulty = state.claimsFailed > 0 && state.pausedUntilMs > deps.nowMs();
    const next = (isFaulty ? null : unsavedOf(state)) ?? giveSlot(dispatch, state, deps);
    if (next === null) continue;
    queueTurn(dispatch, state);
    return start(dispatch, { state, next }, deps);
  }
  return null;
}

function giveSlot(dispatch: DispatchState, state: EndpointState, deps: ClaimDeps): Next | null {
  const { pages, isFull } = deps;
  const now = deps.nowMs();
  const slots = slotsOf(dispatch, state, { isFailingDelayed: isFull(false) });
  if (slots === 0) pollAt(dispatch, state, now + RETRY_DELAY_MS);
  if (state.inFlight >= slots) return null;
  if (state.pausedUntilMs > now) {
    pollAt(dispatch, state, state.pausedUntilMs);
    return null;
  }
  const headSeq = dispatch.heads.get(state.endpoint.organizationNumber) ?? 0;
  const keptFromMs = retentionStartMs(Math.min(now, deps.retentionNowMs()));
  const next = nextOf(state, { pages, headSeq, nowMs: now, keptFromMs });
  if (state.pollAtMs !== null) pollAt(dispatch, state, state.pollAtMs);
  if (next === null) return null;
  state.slotsGiven += 1;
  if (next.kind === 'waiting') shiftWaiting(dispatch, state, now);
  return next;
}

function shiftWaiting(dispatch: DispatchState, state: EndpointState, nowMs: number): void {
  state.waiting.shift();
  if (state.waiting.length > 0 || !state.isMoreDue) return;
  state.isMoreDue = false;
  readDueAt(dispatch, state, nowMs);
}

function start(
  dispatch: DispatchState,
  { state, next }: Pick<StartedClaim, 'state' | 'next'>,
  { prepare, nowMs }: ClaimDeps,
): StartedClaim {
  const claim = prepare(state, next);
  const isFailingNow = isFailing(state);
  const estimate = claim.entries === null ? state.readCharacters : charactersOf(claim.entries);
  const bodyCharacters = claim.sends ? estimate : 0;
  if (claim.sends) {
    state.inFlight += 1;
    dispatch.bodies.add(state.endpoint.organizationNumber, bodyCharacters);
    if (isFailingNow) dispatch.failingBodies.add(state.endpoint.organizationNumber, bodyCharacters);
    dispatch.slots.add(state.endpoint.organizationNumber, 1);
    if (isFailingNow) dispatch.failingInFlight += 1;
  }
  if (next.kind !== 'waiting') next.cursor.advancing += 1;
  const started = { state, next, claim, startedAtMs: nowMs(), isFailing: isFailingNow, holdsSlot: claim.sends };
  return { ...started, bodyCharacters };
}

/** Divides a batch into messages that the destination can take; one message where that is the whole batch. */
export type SplitBatch = (batch: Omit<SplitMessage, 'tooLarge'>) => readonly SplitMessage[];

type SplitMessage = {
  readonly dispatchId: string;
  readonly entries: readonly LogEntry[];
  /** The error of a message that cannot be sent because of its size; else null. */
  readonly tooLarge: string | null;
};

export type PrepareClaim = ReturnType<typeof createClaims>;

export function createClaims({ random, split }: { readonly random: RandomBytes; readonly split: SplitBatch }) {
  const attemptId = () => newId('webhookattempt', random);

  function advance({ endpoint }: EndpointState, next: NextSource): Claim {
    const { cursor } = next;
    const fromPosition = cursor.position;
    const { taken, toPosition } = shiftPending(cursor, enoughFor(endpoint));
    cursor.position = toPosition;
    const replayId = next.kind === 'replay' ? next.source.replay.id : null;
    const messages = taken.length === 0 ? [] : splitFor(endpoint, taken, replayId);
    const sent = messages.find(({ tooLarge }) => tooLarge === null);
    return {
      item: {
        kind: 'advance',
        endpointNumber: endpoint.number,
        version: endpoint.version,
        source: next.kind === 'replay' ? { kind: 'replay', number: next.source.replay.number } : { kind: 'live' },
        fromPosition,
        toPosition,
        batches: messages.map((message) => toBatch(message, message === sent)),
        leaseMs: LEASE_MS,
      },
      entries: sent?.entries ?? null,
      sends: sent !== undefined,
      waits: messages.some((message) => message.tooLarge === null && message !== sent),
    };
  }

  function splitFor(endpoint: DispatchEndpoint, entries: readonly LogEntry[], replayId: string | null) {
    const ids = entries.map(({ id }) => id);
    const dispatchId = dispatchIdOf(endpoint.id, ids, replayId);
    if (endpoint.destinationKind === 'http') return [{ dispatchId, entries, tooLarge: null }];
    return split({ dispatchId, entries });
  }

  function toBatch({ dispatchId, entries, tooLarge }: SplitMessage, isSent: boolean): NewBatch {
    if (entries.length === 0) throw new Error('a batch has no events');
    // Not those of its ends: instants decrease where the clock was set back.
    const instants = entries.map(({ createdAtMs }) => createdAtMs);
    return {
      dispatchId,
      attemptId: attemptId(),
      seqs: entries.map(({ seq }) => seq),
      eventIds: entries.map(({ id }) => id),
      created: { firstMs: Math.min(...instants), lastMs: Math.max(...instants) },
      disposition: tooLarge !== null ? 'too_large' : isSent ? 'send' : 'wait',
      error: tooLarge,
    };
  }

  /** Moves the cursor of a source on at once, as if the item were stored. */
  return (state: EndpointState, next: Next): Claim => {
    if (next.kind !== 'waiting') return advance(state, next);
    const { number, fence } = next.delivery;
    const { endpoint } = state;
    return {
      item: {
        kind: 'claim',
        endpointNumber: endpoint.number,
        version: endpoint.version,
        number,
        fence,
        attemptId: attemptId(),
        leaseMs: LEASE_MS,
      },
      entries: null,
      sends: true,
      waits: false,
    };
  };
}

const HASH_DIGITS = 16;

/** Derives the id of a delivery from its events; those of a replay are named with its id. */
export function dispatchIdOf(endpointId: string, eventIds: readonly string[], replayId: string | null): string {
  const names = replayId === null ? eventIds : eventIds.map((id) => `${id}:${replayId}`);
  return `${endpointId}:${hash('sha256', names.join(','), 'hex').slice(0, HASH_DIGITS)}`;
}
