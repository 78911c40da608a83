/** Keeps idle connections for the next attempt at the same destination. */

import type { Connection } from './http-connection.ts';

export type PoolLimits = {
  readonly idleMaxMs: number;
  readonly perTargetMax: number;
  readonly totalMax: number;
};

type Idle = { readonly key: string; readonly connection: Connection; readonly untilMs: number };

/** A request must not cross with the receiver closing the connection, so this process stops using it earlier. */
const MARGIN_MS = 500;
const EXPIRY_INTERVAL_MS = 1_000;

export function createConnectionPool(limits: PoolLimits, nowMs: () => number) {
  /** By key, and all of them: the oldest first. */
  const idle = new Map<string, Idle[]>();
  const all = new Set<Idle>();
  let expiryTimer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const drop = (each: Idle) => {
    const kept = idle.get(each.key) ?? [];
    kept.splice(kept.indexOf(each), 1);
    if (kept.length === 0) idle.delete(each.key);
    all.delete(each);
    each.connection.destroy();
  };
  /** A destination with many idle connections must not keep others from having one: the oldest makes room. */
  const makeRoom = (key: string) => {
    const [oldestOfKey] = idle.get(key) ?? [];
    if (oldestOfKey && (idle.get(key)?.length ?? 0) >= limits.perTargetMax) drop(oldestOfKey);
    const [oldest] = all;
    if (oldest && all.size >= limits.totalMax) drop(oldest);
  };
  const closeExpired = () => {
    expiryTimer = null;
    const now = nowMs();
    for (const each of all) if (!isUsable(each, now)) drop(each);
    plan();
  };
  const plan = () => {
    if (expiryTimer || all.size === 0) return;
    expiryTimer = setTimeout(closeExpired, EXPIRY_INTERVAL_MS).unref();
  };
  return {
    /** An open connection to one of the addresses; null if none is idle. `key` is scheme, host and port. */
    acquire(key: string, addresses: readonly string[]): Connection | null {
      const kept = idle.get(key) ?? [];
      let found: Connection | null = null;
      // The newest first, because the receiver is least likely to have closed it.
      for (let each = kept.pop(); each; each = found ? undefined : kept.pop()) {
        all.delete(each);
        if (isUsable(each, nowMs()) && addresses.includes(each.connection.peer)) found = each.connection;
        else each.connection.destroy();
      }
      if (kept.length === 0) idle.delete(key);
      return found;
    },
    /** `keptMs`: how long the receiver keeps it open; null when it does not say. */
    release(key: string, connection: Connection, keptMs: number | null): void {
      const idleMs = Math.min(limits.idleMaxMs, (keptMs ?? Number.POSITIVE_INFINITY) - MARGIN_MS);
      if (isClosed || idleMs <= 0) {
        connection.destroy();
        return;
      }
      makeRoom(key);
      connection.rest();
      const given = { key, connection, untilMs: nowMs() + idleMs };
      const kept = idle.get(key);
      if (kept) kept.push(given);
      else idle.set(key, [given]);
      all.add(given);
      plan();
    },
    /** Idle connections that are still open. */
    size(): number {
      let open = 0;
      for (const { connection } of all) if (connection.isOpen()) open += 1;
      return open;
    },
    close(): void {
      isClosed = true;
      if (expiryTimer) clearTimeout(expiryTimer);
      for (const { connection } of all) connection.destroy();
      idle.clear();
      all.clear();
    },
  };
}

function isUsable({ connection, untilMs }: Idle, now: number): boolean {
  return connection.isOpen() && now <= untilMs;
}
