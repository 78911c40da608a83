/** Records when credentials were last used, in batches outside of requests. */

import type { Caller } from '../caller.ts';
import type { CredentialUse, ManagementStore } from '../management/management.ts';

type KeyUseDeps = {
  readonly store: Pick<ManagementStore, 'recordUse'>;
  /** Resolves after the delay, or as soon as the signal aborts. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

/** The resolution of the stored instants. */
const INTERVAL_MS = 60_000;
const FLUSH_DELAY_MS = 1_000;
const RETRY_DELAY_MS = 10_000;
const BATCH_MAX = 500;

export type KeyUse = ReturnType<typeof createKeyUse>;

export function createKeyUse({ store, pause, onError }: KeyUseDeps) {
  // By credential, the last recorded instant, oldest first. A map for each kind, because a key and a project may have the same id.
  const notedAtMs: Readonly<Record<CredentialUse['kind'], Map<string, number>>> = {
    api_key: new Map(),
    project_key: new Map(),
    virtual_key: new Map(),
    session: new Map(),
  };
  const pending = new Map<string, CredentialUse>();
  const stopping = new AbortController();
  let flushing: Promise<void> | null = null;

  async function flush(): Promise<void> {
    await pause(FLUSH_DELAY_MS, stopping.signal);
    while (pending.size > 0) {
      const batch = [...pending.entries()].slice(0, BATCH_MAX);
      try {
        await store.recordUse(batch.map(([, use]) => use));
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
    dropOlder(noted, atMs);
    noted.delete(id);
    noted.set(id, atMs);
    pending.set(`${kind} ${id}`, { kind, id, atMs });
    flushing ??= flush();
  }

  /** Records a use of a credential. Never fails, and costs one map lookup. */
  function note({ kind, id, atMs }: CredentialUse): void {
    const lastMs = notedAtMs[kind].get(id);
    if (lastMs === undefined || isOver(lastMs, atMs)) add(kind, id, atMs);
  }

  return {
    note,
    /** Records a use of the caller's credential. */
    record(caller: Caller, nowMs: number): void {
      if (caller.kind === 'open') return;
      const id = caller.kind === 'api_key' ? caller.key.id : caller.project.id;
      if (id !== null) note({ kind: caller.kind, id, atMs: nowMs });
      if (caller.session) note({ kind: 'session', id: caller.session.id, atMs: nowMs });
    },
    /** Stores the remaining uses. */
    async stop(): Promise<void> {
      stopping.abort();
      await flushing;
    },
  };
}

/** Also true when the clock was set back. */
function isOver(lastMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - lastMs) >= INTERVAL_MS;
}

/** Drops instants older than the interval. */
function dropOlder(noted: Map<string, number>, nowMs: number): void {
  for (const [id, atMs] of noted) {
    if (!isOver(atMs, nowMs)) return;
    noted.delete(id);
  }
}
