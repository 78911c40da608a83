/** The endpoints that one process delivers to, kept up to date with the store, and when to look at each. */

import type { DeliveryStore, DispatchEndpoint } from '../domain/webhook-store.ts';
import { createEntry, type Entry, renewEntry } from './entry.ts';
import { lookAgain } from './next-work.ts';

export type Roster = {
  /** Reads what changed, where logs end and what is due. */
  refresh(): Promise<void>;
  find(endpointNumber: number): Entry | undefined;
  hasActive(): boolean;
  /** Where the log of an endpoint's organization ends. */
  headOf(entry: Entry): number;
  /** Those who may have something to do, in the order they take turns. */
  readonly ready: Set<Entry>;
  /** Something of these may be ready now. */
  readyAll(organizationNumber: number): void;
  /** Something of these is to be tried again then. */
  watchAll(organizationNumber: number, atMs: number): void;
  /** Looks at it at an instant without being told. */
  watch(entry: Entry, atMs: number): void;
  /** A delivery of it will be due then; null: none. */
  planDue(entry: Entry, atMs: number | null): void;
  /** Puts those whose instant has come among the ready. */
  wakeWatched(): void;
  nextWatchAtMs(): number | null;
};

export type RosterDeps = {
  readonly store: Pick<DeliveryStore, 'changes' | 'heads' | 'due' | 'isAlone'>;
  readonly nowMs: () => number;
  /** A delivery whose sender was never heard of again. */
  readonly onLost: (entry: Entry, delivery: { readonly number: number; readonly fence: number }) => void;
  /** There will be something to look at then. */
  readonly onPlan: (atMs: number) => void;
};

const DUE_PER_ENDPOINT = 16;
const DUE_ENDPOINTS_MAX = 500;
/** How often others may have made something due without telling. */
const ASK_ALL_MS = 1_000;
/** Beyond any lease. */
const FAR_FUTURE_MS = 3_600_000;

export function createRoster({ store, nowMs, onLost, onPlan }: RosterDeps): Roster {
  const entries = new Map<number, Entry>();
  const heads = new Map<number, number>();
  const ready = new Set<Entry>();
  const watched = new Set<Entry>();
  let lastChange = 0;
  let isFirst = true;
  let allAskedAtMs = Number.NEGATIVE_INFINITY;

  function eachActive(organizationNumber: number, visit: (entry: Entry) => void): void {
    for (const entry of entries.values()) {
      if (entry.isActive && entry.endpoint.organizationNumber === organizationNumber) visit(entry);
    }
  }

  function readyAll(organizationNumber: number): void {
    const now = nowMs();
    // Those who rest are looked at when they have rested.
    eachActive(organizationNumber, (entry) => {
      if (entry.restsUntilMs <= now) ready.add(entry);
    });
  }

  function takeOver(endpoint: DispatchEndpoint): void {
    const known = entries.get(endpoint.number);
    if (endpoint.archivedAtMs !== null) {
      entries.delete(endpoint.number);
      if (known === undefined) return;
      known.isActive = false;
      ready.delete(known);
      watched.delete(known);
      return;
    }
    const entry = known ?? createEntry(endpoint, nowMs());
    if (known === undefined) entries.set(endpoint.number, entry);
    else renewEntry(known, endpoint, nowMs());
    ready.add(entry);
  }

  async function readHeads(): Promise<void> {
    for (const { organizationNumber, seq } of await store.heads()) {
      if (heads.get(organizationNumber) === seq) continue;
      heads.set(organizationNumber, seq);
      readyAll(organizationNumber);
    }
  }

  async function readDue(): Promise<void> {
    const now = nowMs();
    const all = [...entries.values()];
    if (isFirst && store.isAlone) {
      // Whoever was sending before this process began is gone.
      await inParts(all, async (some) => tellLost(await askDue(some, now + FAR_FUTURE_MS)));
    }
    isFirst = false;
    const isDue = ({ askDueAtMs }: Entry) => askDueAtMs !== null && askDueAtMs <= now;
    const asked = isEverybodyAsked(now) ? all : all.filter(isDue);
    await inParts(asked, async (some) => {
      const lists = await askNow(some, now);
      tellLost(lists);
      for (const list of lists) noteDue(list, now);
    });
  }

  /** Where others deliver too, they may have made something due, or have left something behind. */
  function isEverybodyAsked(now: number): boolean {
    if (store.isAlone || Math.abs(now - allAskedAtMs) < ASK_ALL_MS) return false;
    allAskedAtMs = now;
    return true;
  }

  type DueLists = Awaited<ReturnType<DeliveryStore['due']>>;

  async function askNow(some: readonly Entry[], now: number): Promise<DueLists> {
    // What is planned from here on may be newer than the answer.
    for (const entry of some) entry.askDueAtMs = null;
    try {
      return await askDue(some, now);
    } catch (error) {
      for (const entry of some) entry.askDueAtMs = now;
      throw error;
    }
  }

  function askDue(some: readonly Entry[], atMs: number): Promise<DueLists> {
    const numbers = some.map(({ endpoint }) => endpoint.number);
    return store.due(numbers, { nowMs: atMs, perEndpointMax: DUE_PER_ENDPOINT });
  }

  function tellLost(lists: DueLists): void {
    for (const { endpointNumber, lost } of lists) {
      const entry = entries.get(endpointNumber);
      if (entry !== undefined) for (const delivery of lost) onLost(entry, delivery);
    }
  }

  function noteDue({ endpointNumber, waiting, nextAtMs }: DueLists[number], now: number): void {
    const entry = entries.get(endpointNumber);
    if (entry === undefined) return;
    entry.waiting = [...waiting];
    entry.isMoreDue = waiting.length >= DUE_PER_ENDPOINT;
    planDue(entry, nextAtMs === null ? null : Math.max(nextAtMs, now + 1));
    if (waiting.length > 0) ready.add(entry);
  }

  function planDue(entry: Entry, atMs: number | null): void {
    if (atMs === null) return;
    entry.askDueAtMs = Math.min(entry.askDueAtMs ?? atMs, atMs);
    watch(entry, atMs);
  }

  function watch(entry: Entry, atMs: number): void {
    lookAgain(entry, atMs);
    watched.add(entry);
    onPlan(atMs);
  }

  return {
    async refresh() {
      const { change, endpoints } = await store.changes(lastChange);
      for (const endpoint of endpoints) takeOver(endpoint);
      lastChange = change;
      await readHeads();
      await readDue();
    },
    find: (endpointNumber) => entries.get(endpointNumber),
    hasActive: () => [...entries.values()].some((entry) => entry.isActive),
    headOf: ({ endpoint }) => heads.get(endpoint.organizationNumber) ?? 0,
    ready,
    readyAll,
    watchAll(organizationNumber, atMs) {
      eachActive(organizationNumber, (entry) => watch(entry, atMs));
    },
    watch,
    planDue,
    wakeWatched() {
      const now = nowMs();
      for (const entry of watched) {
        if (entry.lookAtMs !== null && entry.lookAtMs > now) continue;
        entry.lookAtMs = null;
        watched.delete(entry);
        if (entry.isActive) ready.add(entry);
      }
    },
    nextWatchAtMs() {
      let next: number | null = null;
      for (const { lookAtMs } of watched) if (lookAtMs !== null && (next === null || lookAtMs < next)) next = lookAtMs;
      return next;
    },
  };
}

async function inParts(all: readonly Entry[], visit: (some: readonly Entry[]) => Promise<void>): Promise<void> {
  for (let index = 0; index < all.length; index += DUE_ENDPOINTS_MAX) {
    await visit(all.slice(index, index + DUE_ENDPOINTS_MAX));
  }
}
