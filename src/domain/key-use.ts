/** When credentials were last used: told to the store in batches, off the path of requests. */

import type { Caller } from './caller.ts';
import type { CredentialUse, ManagementStore } from './management.ts';

export type KeyUseDeps = {
  readonly store: Pick<ManagementStore, 'noteUse'>;
  /** Resolves after the delay, or as soon as the signal says stop. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

export type KeyUse = {
  /** The caller has proven a credential. Never fails, and costs one look into a map. */
  note(caller: Caller, nowMs: number): void;
  /** Stores what is left. */
  stop(): Promise<void>;
};

/** How exact the instant of the last use is. */
const INTERVAL_MS = 60_000;
const FLUSH_DELAY_MS = 1_000;
const RETRY_DELAY_MS = 10_000;
const BATCH_MAX = 500;

export function createKeyUse({ store, pause, onError }: KeyUseDeps): KeyUse {
  // By credential the instant that was noted last, oldest first; ids of keys and of projects may be the same text.
  const notedAtMs = { api_key: new Map<string, number>(), project_key: new Map<string, number>() };
  const pending = new Map<string, CredentialUse>();
  const stopping = new AbortController();
  let flushing: Promise<void> | null = null;

  async function flush(): Promise<void> {
    await pause(FLUSH_DELAY_MS, stopping.signal);
    while (pending.size > 0) {
      const batch = [...pending.entries()].slice(0, BATCH_MAX);
      try {
        await store.noteUse(batch.map(([, use]) => use));
        for (const [name, use] of batch) if (pending.get(name) === use) pending.delete(name);
      } catch (error) {
        onError(error);
        if (stopping.signal.aborted) break;
        await pause(RETRY_DELAY_MS, stopping.signal);
      }
    }
    flushing = null;
  }

  function add(kind: CredentialUse['kind'], id: string, atMs: number): void {
    const noted = notedAtMs[kind];
    forget(noted, atMs);
    noted.delete(id);
    noted.set(id, atMs);
    pending.set(`${kind} ${id}`, { kind, id, atMs });
    flushing ??= flush();
  }

  return {
    note(caller, nowMs) {
      if (caller.kind === 'open') return;
      const id = caller.kind === 'api_key' ? caller.key.id : caller.project.id;
      const lastMs = notedAtMs[caller.kind].get(id);
      if (lastMs === undefined || isOver(lastMs, nowMs)) add(caller.kind, id, nowMs);
    },
    async stop() {
      stopping.abort();
      await flushing;
    },
  };
}

/** A clock that was set back ends the interval too. */
function isOver(lastMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - lastMs) >= INTERVAL_MS;
}

/** What is no longer within the interval says nothing any more. */
function forget(noted: Map<string, number>, nowMs: number): void {
  for (const [id, atMs] of noted) {
    if (!isOver(atMs, nowMs)) return;
    noted.delete(id);
  }
}
