/**
 * Decides what is sent next, and to whom. It follows the log on its own: whoever stores events waits for nobody here. What it
 * knows may be old, because other processes deliver too; the store refuses what is not so any more.
 */

import type { DeliveryStore, LogEntry, WorkOutcome } from '../domain/webhook-store.ts';
import type { Claim, PrepareClaim } from './claims.ts';
import { dropReplay, type Entry, notePlace } from './entry.ts';
import { endCut, resetCursor } from './lane-cursor.ts';
import { createLogPages } from './log-pages.ts';
import { type Next, nextOf, unsavedOf } from './next-work.ts';
import { createRoster } from './roster.ts';
import type { WorkQueue } from './work-queue.ts';

export type Dispatcher = {
  /** Something may have happened: reads what is new, then gives out what is due. */
  refresh(): Promise<void>;
  /** Begins nothing any more. */
  stop(): void;
  /** Attempts of this process that have begun and not ended. */
  inFlight(): number;
  /** Whether there is anybody to send to, as far as is known. */
  hasReceivers(): boolean;
  /** When to look again without being told; null: nothing is planned. */
  nextLookAtMs(): number | null;
};

type Claimed = Extract<WorkOutcome, { kind: 'claimed' }>['claimed'] & {};

/** An attempt that has been claimed. */
export type Sending = {
  readonly entry: Entry;
  readonly claimed: Claimed;
  /** When the claim was asked for: its lease begins no earlier. */
  readonly askedAtMs: number;
  /** What it holds, where that is at hand. */
  readonly entries: readonly LogEntry[] | null;
  /** To be called once its result is on its way to the store: from then on the slot may be given again. */
  readonly free: () => void;
  /** The result is stored; null: nobody knows. */
  readonly ended: (outcome: WorkOutcome | null, wasReached: boolean) => void;
};

export type DispatcherDeps = {
  readonly store: Pick<DeliveryStore, 'changes' | 'heads' | 'events' | 'due' | 'isAlone'>;
  readonly prepare: PrepareClaim;
  readonly queue: Pick<WorkQueue, 'add' | 'isFull'>;
  readonly send: (sending: Sending) => void;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly concurrency: number;
  readonly onCapped: () => void;
  readonly onLeaseLost: () => void;
  /** There will be something to do then. */
  readonly onPlan: (atMs: number) => void;
  readonly onError: (error: unknown, doing: string) => void;
};

/**
 * From so many failures in a row on an endpoint gets one slot, and rests after each attempt that reached nobody. Somebody
 * who answers may be refusing no more than some bad batches, and be glad about the next one.
 */
const FAILING_FROM = 3;
const REST_STEP_MS = 1_000;
const REST_MAX_MS = 5_000;
/** What could not be begun is tried again after so long. */
const BUSY_WAIT_MS = 200;
/** A log that could not be read is read again after so long. */
const UNREADABLE_WAIT_MS = 1_000;
const HOUR_MS = 3_600_000;

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { prepare, queue, nowMs, concurrency } = deps;
  const roster = createRoster({ store: deps.store, nowMs, onLost: takeOver, onPlan: deps.onPlan });
  const pages = createLogPages({
    events: deps.store.events,
    onLoaded(organizationNumber) {
      roster.readyAll(organizationNumber);
      pump();
    },
    onFailed(organizationNumber, error) {
      roster.watchAll(organizationNumber, nowMs() + UNREADABLE_WAIT_MS);
      deps.onError(error, 'the log could not be read');
    },
  });
  let inFlight = 0;
  let failingInFlight = 0;
  let isStopped = false;

  function takeOver(entry: Entry, { number, fence }: { readonly number: number; readonly fence: number }): void {
    queue.add({ kind: 'lose', endpointNumber: entry.endpoint.number, number, fence, random: deps.random() }).then(
      (outcome) => {
        if (outcome.kind !== 'recorded') return;
        deps.onLeaseLost();
        roster.planDue(entry, outcome.nextAtMs);
      },
      (error: unknown) => {
        roster.planDue(entry, nowMs() + BUSY_WAIT_MS);
        deps.onError(error, 'a lost delivery could not be taken over');
      },
    );
  }

  /** One slot to each in turn, until nobody takes another. */
  function pump(): void {
    for (let isBusy = true; isBusy && !isStopped; ) {
      isBusy = false;
      // Whoever gets a slot stands at the end of the line again, behind those who have not been asked in this round.
      for (const entry of [...roster.ready]) {
        // Each piece of work that is stored brings us back here.
        if (inFlight >= concurrency || queue.isFull(true)) return;
        roster.ready.delete(entry);
        if (!entry.isActive || entry.isOutdated) continue;
        for (const bare of unsavedOf(entry)) begin(entry, bare);
        if (!grant(entry)) continue;
        roster.ready.add(entry);
        isBusy = true;
      }
    }
  }

  function grant(entry: Entry): boolean {
    const now = nowMs();
    const slots = slotsOf(entry);
    if (slots === 0) roster.watch(entry, now + BUSY_WAIT_MS);
    if (entry.own >= slots) return false;
    if (entry.restsUntilMs > now) {
      roster.watch(entry, entry.restsUntilMs);
      return false;
    }
    const next = nextOf(entry, { pages, headSeq: roster.headOf(entry), nowMs: now });
    if (entry.lookAtMs !== null) roster.watch(entry, entry.lookAtMs);
    if (next === null) return false;
    entry.grants += 1;
    if (next.kind === 'waiting') takeWaiting(entry, now);
    begin(entry, next);
    return true;
  }

  function takeWaiting(entry: Entry, now: number): void {
    entry.waiting.shift();
    if (entry.waiting.length > 0 || !entry.isMoreDue) return;
    entry.isMoreDue = false;
    roster.planDue(entry, now);
  }

  function slotsOf(entry: Entry): number {
    if (isFailing(entry)) return failingInFlight * 2 >= concurrency || queue.isFull(false) ? 0 : 1;
    return inFlight * 2 >= concurrency ? 1 : entry.endpoint.maxInFlight;
  }

  function begin(entry: Entry, next: Next): void {
    const claim = prepare(entry, next);
    const cursor = next.kind === 'waiting' ? null : next.cursor;
    const askedAtMs = nowMs();
    const free = claim.sends ? takeSlot(entry) : () => undefined;
    if (cursor !== null) cursor.cutting += 1;
    // Whoever fails waits for those who do not.
    queue
      .add(claim.work, !isFailing(entry))
      .then(
        (outcome) => settle({ entry, next, claim, askedAtMs, free }, outcome),
        (error: unknown) => {
          free();
          // Whether it was stored is unknown. The next cut will be told where the lane stands, and what was begun
          // without being sent will be found when its lease is over.
          if (cursor !== null) resetCursor(cursor, cursor.saved);
          roster.planDue(entry, nowMs() + BUSY_WAIT_MS);
          deps.onError(error, 'a delivery could not be begun');
        },
      )
      .finally(() => {
        if (cursor !== null) endCut(cursor);
        roster.ready.add(entry);
        pump();
      });
  }

  function takeSlot(entry: Entry): () => void {
    const isCountedFailing = isFailing(entry);
    let isTaken = true;
    entry.own += 1;
    inFlight += 1;
    if (isCountedFailing) failingInFlight += 1;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      entry.own -= 1;
      inFlight -= 1;
      if (isCountedFailing) failingInFlight -= 1;
    };
  }

  type Begun = {
    readonly entry: Entry;
    readonly next: Next;
    readonly claim: Claim;
    readonly askedAtMs: number;
    readonly free: () => void;
  };

  function settle({ entry, next, claim, askedAtMs, free }: Begun, outcome: WorkOutcome): void {
    if (outcome.kind === 'refused') {
      free();
      noteRefusal(entry, next, outcome);
      return;
    }
    if (outcome.kind !== 'claimed') throw new Error(`a claim was ${outcome.kind}`);
    notePlace(entry, outcome.place);
    if (claim.work.kind === 'cut') noteLane(entry, next, claim.work.toPosition);
    if (claim.waits) roster.planDue(entry, nowMs());
    if (outcome.claimed === null) {
      free();
      return;
    }
    deps.send({
      entry,
      claimed: outcome.claimed,
      askedAtMs,
      entries: claim.entries,
      free: () => {
        free();
        roster.ready.add(entry);
        // What is begun now reaches the store behind the result, and in the same commit.
        pump();
      },
      ended: (recorded, wasReached) => noteEnd(entry, recorded, wasReached),
    });
  }

  function noteLane(entry: Entry, next: Next, position: number): void {
    if (next.kind === 'waiting') return;
    next.cursor.saved = position;
    if (next.kind === 'replay' && position >= next.lane.replay.toSeq) dropReplay(entry, next.lane);
  }

  function noteRefusal(entry: Entry, next: Next, { reason, place }: Extract<WorkOutcome, { kind: 'refused' }>): void {
    if (place === null) entry.isActive = false;
    else notePlace(entry, place);
    if (next.kind !== 'waiting') {
      if (reason === 'moved' && place !== null) noteLane(entry, next, place.position);
      resetCursor(next.cursor, next.cursor.saved);
    } else if (reason !== 'taken' && reason !== 'expired') roster.planDue(entry, nowMs() + BUSY_WAIT_MS);
    if (reason === 'full') rest(entry, BUSY_WAIT_MS);
    if (reason === 'capped') {
      deps.onCapped();
      rest(entry, HOUR_MS - (nowMs() % HOUR_MS));
    }
  }

  function noteEnd(entry: Entry, outcome: WorkOutcome | null, wasReached: boolean): void {
    if (outcome?.kind !== 'recorded') {
      // Somebody else may have it now, or nobody.
      roster.planDue(entry, nowMs() + BUSY_WAIT_MS);
      return;
    }
    notePlace(entry, outcome.place);
    roster.planDue(entry, outcome.nextAtMs);
    if (isFailing(entry) && !wasReached)
      rest(entry, Math.min((entry.consecutiveFailures - FAILING_FROM + 1) * REST_STEP_MS, REST_MAX_MS));
    else entry.restsUntilMs = 0;
    roster.ready.add(entry);
    pump();
  }

  function rest(entry: Entry, delayMs: number): void {
    entry.restsUntilMs = Math.max(entry.restsUntilMs, nowMs() + delayMs);
    roster.watch(entry, entry.restsUntilMs);
  }

  return {
    async refresh() {
      if (isStopped) return;
      await roster.refresh();
      roster.wakeWatched();
      pump();
    },
    stop() {
      isStopped = true;
    },
    inFlight: () => inFlight,
    hasReceivers: () => roster.hasActive(),
    nextLookAtMs: () => roster.nextWatchAtMs(),
  };
}

function isFailing({ consecutiveFailures }: Entry): boolean {
  return consecutiveFailures >= FAILING_FROM;
}
