/** Connections that are kept for the next attempt at the same destination. */

import type { Connection } from './http-connection.ts';

export type PoolLimits = {
  readonly idleMaxMs: number;
  readonly perTargetMax: number;
  readonly totalMax: number;
};

export type ConnectionPool = {
  /** An open connection to one of the addresses; null when none is kept. `key` is scheme, host and port. */
  readonly take: (key: string, addresses: readonly string[]) => Connection | null;
  /** `keptMs`: how long the receiver leaves it open, where it says so. */
  readonly give: (key: string, connection: Connection, keptMs: number | null) => void;
  /** Connections that are kept and still open. */
  readonly size: () => number;
  readonly close: () => void;
};

type Idle = { readonly key: string; readonly connection: Connection; readonly untilMs: number };

/** A request must not meet the receiver's own end of the connection on its way. */
const MARGIN_MS = 500;
const SWEEP_EVERY_MS = 1_000;

export function createConnectionPool(limits: PoolLimits, nowMs: () => number): ConnectionPool {
  /** Of each key, and of all: the oldest first. */
  const idle = new Map<string, Idle[]>();
  const all = new Set<Idle>();
  let sweeper: NodeJS.Timeout | null = null;
  let isClosed = false;

  const drop = (each: Idle) => {
    const kept = idle.get(each.key) ?? [];
    kept.splice(kept.indexOf(each), 1);
    if (kept.length === 0) idle.delete(each.key);
    all.delete(each);
    each.connection.destroy();
  };
  /** Whoever holds many connections that lie idle must not keep others from keeping theirs: the oldest makes room. */
  const makeRoom = (key: string) => {
    const [oldestOfKey] = idle.get(key) ?? [];
    if (oldestOfKey && (idle.get(key)?.length ?? 0) >= limits.perTargetMax) drop(oldestOfKey);
    const [oldest] = all;
    if (oldest && all.size >= limits.totalMax) drop(oldest);
  };
  const sweep = () => {
    sweeper = null;
    const now = nowMs();
    for (const each of all) if (!isUsable(each, now)) drop(each);
    plan();
  };
  const plan = () => {
    if (sweeper || all.size === 0) return;
    sweeper = setTimeout(sweep, SWEEP_EVERY_MS).unref();
  };
  return {
    take(key, addresses) {
      const kept = idle.get(key) ?? [];
      let found: Connection | null = null;
      // The newest first: it is the least likely to have been closed on the other side.
      for (let each = kept.pop(); each; each = found ? undefined : kept.pop()) {
        all.delete(each);
        if (isUsable(each, nowMs()) && addresses.includes(each.connection.peer)) found = each.connection;
        else each.connection.destroy();
      }
      if (kept.length === 0) idle.delete(key);
      return found;
    },
    give(key, connection, keptMs) {
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
    size() {
      let open = 0;
      for (const { connection } of all) if (connection.isOpen()) open += 1;
      return open;
    },
    close() {
      isClosed = true;
      if (sweeper) clearTimeout(sweeper);
      for (const { connection } of all) connection.destroy();
      idle.clear();
      all.clear();
    },
  };
}

function isUsable({ connection, untilMs }: Idle, now: number): boolean {
  return connection.isOpen() && now <= untilMs;
}
