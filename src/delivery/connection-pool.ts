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
  readonly close: () => void;
};

type Idle = { readonly connection: Connection; readonly untilMs: number };

/** A request must not meet the receiver's own end of the connection on its way. */
const MARGIN_MS = 500;
const SWEEP_EVERY_MS = 1_000;

export function createConnectionPool(limits: PoolLimits, nowMs: () => number): ConnectionPool {
  const idle = new Map<string, Idle[]>();
  let total = 0;
  let sweeper: NodeJS.Timeout | null = null;
  let isClosed = false;

  const sweep = () => {
    sweeper = null;
    const now = nowMs();
    for (const [key, kept] of idle) {
      const left = kept.filter((each) => isUsable(each, now));
      for (const each of kept) if (!left.includes(each)) each.connection.destroy();
      total -= kept.length - left.length;
      if (left.length > 0) idle.set(key, left);
      else idle.delete(key);
    }
    plan();
  };
  const plan = () => {
    if (sweeper || total === 0) return;
    sweeper = setTimeout(sweep, SWEEP_EVERY_MS).unref();
  };
  return {
    take(key, addresses) {
      const kept = idle.get(key);
      // The newest first: it is the least likely to have been closed on the other side.
      for (let each = kept?.pop(); each; each = kept?.pop()) {
        total -= 1;
        if (isUsable(each, nowMs()) && addresses.includes(each.connection.peer)) return each.connection;
        each.connection.destroy();
      }
      return null;
    },
    give(key, connection, keptMs) {
      const idleMs = Math.min(limits.idleMaxMs, (keptMs ?? Number.POSITIVE_INFINITY) - MARGIN_MS);
      const kept = idle.get(key) ?? [];
      if (isClosed || idleMs <= 0 || kept.length >= limits.perTargetMax || total >= limits.totalMax) {
        connection.destroy();
        return;
      }
      connection.rest();
      if (kept.push({ connection, untilMs: nowMs() + idleMs }) === 1) idle.set(key, kept);
      total += 1;
      plan();
    },
    close() {
      isClosed = true;
      if (sweeper) clearTimeout(sweeper);
      for (const each of [...idle.values()].flat()) each.connection.destroy();
      idle.clear();
      total = 0;
    },
  };
}

function isUsable({ connection, untilMs }: Idle, now: number): boolean {
  return connection.isOpen() && now <= untilMs;
}
