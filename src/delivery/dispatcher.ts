/**
 * Performs the effects of the dispatcher's state machine: reads what changed, claims, sends, and asks to be polled. It follows the
 * logs at its own pace, so no append waits for it. Its state may be old, because other processes deliver too; the store
 * refuses claims that are no longer possible.
 */

import type { DeliveryStore, LogHead } from '../domain/delivery/webhook-store.ts';
import { createSemaphore } from '../scheduling/semaphore.ts';
import { nextClaim, type PrepareClaim } from './claims.ts';
import {
  activeOrganizations,
  createDispatchState,
  nextPollAtMs,
  type Sending,
  type StartedClaim,
} from './dispatch-state.ts';
import { type DispatchEffect, type DispatchEvent, DUE_PER_ENDPOINT, stepDispatch } from './dispatch-step.ts';
import type { EndpointState } from './endpoint-state.ts';
import { createLogPages, type PageRequest } from './log-pages.ts';
import type { Sender, SenderDeps } from './sender.ts';
import { isAway, type WorkQueue } from './work-queue.ts';

type DispatcherDeps = Pick<SenderDeps, 'nowMs' | 'pause' | 'random'> & {
  readonly store: Pick<DeliveryStore, 'changes' | 'connections' | 'heads' | 'events' | 'due' | 'isSingleProcess'>;
  readonly prepare: PrepareClaim;
  readonly queue: Pick<WorkQueue, 'add' | 'isFull'>;
  readonly sender: Sender;
  readonly retentionNowMs: () => number;
  readonly concurrency: number;
  readonly onCapped: () => void;
  readonly onLeaseLost: () => void;
  /** Something will be ready at that instant. */
  readonly onPlan: (atMs: number) => void;
  readonly onError: (error: unknown, doing: string) => void;
};

const DUE_ENDPOINTS_MAX = 500;
/** Other processes deliver too and may schedule deliveries without notifying this one, so all endpoints are read this often. */
const READ_ALL_INTERVAL_MS = 1_000;
/** Later than the end of any lease, also of one that a wrong clock has given. */
const FAR_FUTURE_MS = Number.MAX_SAFE_INTEGER;
/** Pages of the log that are read at once, because one may have ten megabytes. */
const READS = { permitsMax: 8, ofOwnerMax: 4 };
/** Waits are counted anew when the clock goes back by more than it is ever corrected by in small steps. */
const SET_BACK_MS = 1_000;

export function createDispatcher(deps: DispatcherDeps) {
  const { store, queue, sender, nowMs } = deps;
  const state = createDispatchState(deps.concurrency);
  const pages = createLogPages();
  const reads = createSemaphore<number>(READS);
  const claimDeps = { pages, prepare: deps.prepare, isFull: queue.isFull, nowMs, retentionNowMs: deps.retentionNowMs };
  const attempts = new Set<Promise<void>>();
  let lastChange = 0;
  let connections = store.connections();
  let isFirst = true;
  let allReadAtMs = Number.NEGATIVE_INFINITY;
  let refreshedAtMs = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  function step(event: DispatchEvent): void {
    for (const effect of stepDispatch(state, event, nowMs())) perform(effect);
    plan();
  }

  /** Starts claims until no endpoint can use another slot. */
  function startClaims(): void {
    while (!isStopped) {
      const start = nextClaim(state, claimDeps);
      if (start === null) break;
      storeClaim(start);
    }
    for (const request of pages.takeRequests()) void readPage(request);
    plan();
  }

  function plan(): void {
    if (state.scheduleAtMs === null) return;
    deps.onPlan(state.scheduleAtMs);
    state.scheduleAtMs = null;
  }

  function perform(effect: DispatchEffect): void {
    if (effect.kind === 'take_over') {
      takeOver(effect);
      return;
    }
    const attempt = send(effect).finally(() => attempts.delete(attempt));
    attempts.add(attempt);
  }

  function storeClaim(start: StartedClaim): void {
    // Claims of failing endpoints wait for those of the others.
    queue.add(start.claim.item, !start.isFailing).then(
      (outcome) => {
        if (outcome.kind === 'refused' && outcome.reason === 'capped') deps.onCapped();
        step({ kind: 'claim_ended', start, outcome });
        startClaims();
      },
      (error: unknown) => {
        deps.onError(error, 'a delivery could not be begun');
        step({ kind: 'claim_failed', start, isAway: isAway(error) });
        startClaims();
      },
    );
  }

  async function send({ start, claimed }: Sending): Promise<void> {
    const made = await sender.attempt({ start, claimed }, (entries) => {
      step({ kind: 'events_read', start, entries });
      startClaims();
    });
    const recorded = sender.record(made);
    // After a success the endpoint's next claim does not wait until the result is stored: both are in one commit. After a
    // failure the stored result decides whether the endpoint gets another slot at once.
    if (made.result.kind === 'accepted') {
      step({ kind: 'slot_freed', start });
      startClaims();
    }
    step({ kind: 'attempt_ended', start, ...(await recorded) });
    startClaims();
  }

  function takeOver({ state: { endpoint }, ...effect }: Extract<DispatchEffect, { kind: 'take_over' }>): void {
    const { number, fence } = effect.delivery;
    queue.add({ kind: 'lose', endpointNumber: endpoint.number, number, fence, random: deps.random() }).then(
      (outcome) => {
        if (outcome.kind === 'recorded') deps.onLeaseLost();
        step({ kind: 'takeover_ended', endpointNumber: endpoint.number, outcome });
      },
      (error: unknown) => {
        deps.onError(error, 'a lost delivery could not be taken over');
        step({ kind: 'takeover_ended', endpointNumber: endpoint.number, outcome: null });
      },
    );
  }

  async function readPage(request: PageRequest): Promise<void> {
    const { organizationNumber, range } = request;
    await reads.acquire(organizationNumber);
    try {
      pages.add(request, await store.events(organizationNumber, range));
    } catch (error) {
      pages.fail(request);
      deps.onError(error, 'the log could not be read');
      step({ kind: 'page_failed', organizationNumber });
      return;
    } finally {
      reads.release(organizationNumber);
    }
    // Some stores answer within the same turn of the event loop; a long log would block everything else.
    setImmediate(() => {
      step({ kind: 'page_read', organizationNumber });
      startClaims();
    });
  }

  /** A restored database may have counted fewer changes than this process has seen; then all endpoints are read. */
  async function readChanges(): ReturnType<DeliveryStore['changes']> {
    const changes = await store.changes(lastChange);
    return changes.change < lastChange ? await store.changes(0) : changes;
  }

  /** After a restore or a failover, pages may hold events that were lost, and lack those that took their positions. */
  function forgetReplaced(heads: readonly LogHead[]): void {
    const isShorter = heads.some(({ organizationNumber, seq }) => seq < (state.heads.get(organizationNumber) ?? 0));
    const now = store.connections();
    if (now === connections && !isShorter) return;
    connections = now;
    pages.clear();
    step({ kind: 'logs_replaced' });
  }

  async function readDue(): Promise<void> {
    const now = nowMs();
    const all = [...state.endpoints.values()];
    if (isFirst && store.isSingleProcess) {
      // No other process sends, so all deliveries that are `sending` were lost with the process before this one.
      await inBatches(all, async (batch) => step({ kind: 'left_behind', lists: await listDue(batch, FAR_FUTURE_MS) }));
    }
    isFirst = false;
    const isDue = ({ readDueAtMs }: EndpointState) => readDueAtMs !== null && readDueAtMs <= now;
    await inBatches(mustReadAll(now) ? all : all.filter(isDue), async (batch) => {
      // A later event may set it again while the store answers.
      for (const endpoint of batch) endpoint.readDueAtMs = null;
      try {
        step({ kind: 'due', lists: await listDue(batch, now), asOfMs: now });
      } catch (error) {
        for (const endpoint of batch) endpoint.readDueAtMs = now;
        throw error;
      }
    });
  }

  function mustReadAll(now: number): boolean {
    if (store.isSingleProcess || Math.abs(now - allReadAtMs) < READ_ALL_INTERVAL_MS) return false;
    allReadAtMs = now;
    return true;
  }

  function listDue(batch: readonly EndpointState[], atMs: number) {
    const numbers = batch.map(({ endpoint }) => endpoint.number);
    return store.due(numbers, { nowMs: atMs, perEndpointMax: DUE_PER_ENDPOINT });
  }

  return {
    /** Reads what changed, then sends what is due. */
    async refresh(): Promise<void> {
      if (isStopped) return;
      const now = nowMs();
      if (now < refreshedAtMs - SET_BACK_MS) step({ kind: 'set_back' });
      refreshedAtMs = now;
      const { change, endpoints } = await readChanges();
      step({ kind: 'endpoints', endpoints });
      lastChange = change;
      const heads = await store.heads([...activeOrganizations(state)]);
      forgetReplaced(heads);
      step({ kind: 'heads', heads });
      await readDue();
      step({ kind: 'polled' });
      startClaims();
    },
    /** Starts no further claims. */
    stop(): void {
      isStopped = true;
    },
    /** Resolves when no attempt is in flight or waits to be recorded; after the delay the remaining ones are aborted. */
    async drain(delayMs: number): Promise<void> {
      const timeout = deps.pause(delayMs).then(sender.abort);
      await Promise.race([Promise.all(attempts), timeout]);
      await Promise.all(attempts);
    },
    /** Attempts of this process that have started and not ended. */
    inFlight: state.slots.total,
    hasActiveEndpoints(): boolean {
      for (const { isActive } of state.endpoints.values()) if (isActive) return true;
      return false;
    },
    /** When something will be ready without any change; null: nothing. */
    nextPollAtMs: () => nextPollAtMs(state),
  };
}

async function inBatches(
  all: readonly EndpointState[],
  visit: (batch: readonly EndpointState[]) => Promise<void>,
): Promise<void> {
  for (let index = 0; index < all.length; index += DUE_ENDPOINTS_MAX) {
    await visit(all.slice(index, index + DUE_ENDPOINTS_MAX));
  }
}
