/**
 * Tells what may be deleted by its age. A clock can be wrong, and what it deletes is gone for good, so retention trusts it
 * only as far as stored instants and the running time of processes confirm it.
 */

import { AHEAD_MAX_MS, type Clock } from '../clock.ts';
import type { ClockStore, StoredInstants } from './clock-store.ts';

type RetentionClockDeps = {
  readonly store: ClockStore;
  readonly clock: Clock;
  /** Milliseconds that really passed, from any start. */
  readonly monotonicMs: () => number;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
};

export type RetentionClock = {
  /** Compares the clock with what is stored. Until the first time nothing counts as old. */
  check(): Promise<void>;
  /** The present for all deletions by age; never ahead of the clock. */
  nowMs(): number;
  /** By how much the clock is ahead of what is certain to have come; 0: deletions follow the clock. */
  heldMs(): number;
  /** How often the end of a log was ahead of the clock and went back to it, as of the last check. */
  logResets(): number;
};

type Reading = { readonly atMs: number; readonly monotonicMs: number };

/** A server may have been stopped for this long without anybody having to confirm its clock. */
export const JUMP_MAX_MS = 86_400_000;
/** A clock that ran evenly for this long, in one process, is right: the time has really passed. */
const STEADY_MS = 86_400_000;
/** How old the stored instant may become. A write every minute would keep an idle disk awake. */
const KEPT_EVERY_MS = 10 * 60_000;

export function createRetentionClock({ store, clock, monotonicMs, log }: RetentionClockDeps): RetentionClock {
  let trusted: Reading | null = null;
  let last: Reading | null = null;
  let steadySinceMs = monotonicMs();
  let heldMs = 0;
  let resets: number | null = null;

  // The monotonic clock has fractions; instants are whole milliseconds.
  const advance = ({ atMs, monotonicMs: sinceMs }: Reading, untilMs: number) => Math.floor(atMs + untilMs - sinceMs);

  /** Notes whether the clock has jumped since the last check, in either direction. */
  function watch(now: Reading): void {
    if (last !== null && Math.abs(now.atMs - advance(last, now.monotonicMs)) > AHEAD_MAX_MS) {
      steadySinceMs = now.monotonicMs;
    }
    last = now;
  }

  function decide(now: Reading, { trustedAtMs, newestAtMs }: StoredInstants): void {
    const certainMs =
      trusted === null
        ? (trustedAtMs ?? newestAtMs ?? now.atMs)
        : Math.max(advance(trusted, now.monotonicMs), trustedAtMs ?? 0);
    const isHeld = now.atMs - certainMs > JUMP_MAX_MS && now.monotonicMs - steadySinceMs < STEADY_MS;
    trusted = isHeld ? { ...now, atMs: certainMs } : now;
    noteHeld(isHeld ? now.atMs - certainMs : 0, certainMs);
  }

  function noteHeld(aheadMs: number, certainMs: number): void {
    const wasHeld = heldMs > 0;
    heldMs = aheadMs;
    if (aheadMs > 0 && !wasHeld) {
      const fields = { aheadMs, newestStored: new Date(certainMs).toISOString() };
      log.warn(fields, 'the clock is ahead of everything stored: nothing is deleted by age until that is confirmed');
    }
    if (aheadMs === 0 && wasHeld) log.info({}, 'the clock is confirmed: deletions by age go on');
  }

  function noteLogs(now: Reading, stored: StoredInstants): void {
    const aheadMs = (stored.logEndAtMs ?? 0) - now.atMs;
    if (resets === null && aheadMs > AHEAD_MAX_MS) {
      log.warn({ aheadMs }, 'a log ends ahead of the clock: the clock was wrong before, or is now');
    }
    if (resets !== null && stored.logResets > resets) {
      log.warn({ logs: stored.logResets - resets }, 'logs that ended ahead of the clock follow it again');
    }
    resets = stored.logResets;
  }

  return {
    async check() {
      const stored = await store.instants();
      // One clock that is ahead, of two, is not believed.
      const atMs = Math.min(clock(), (await store.nowMs()) ?? Number.POSITIVE_INFINITY);
      const now = { atMs, monotonicMs: monotonicMs() };
      watch(now);
      decide(now, stored);
      noteLogs(now, stored);
      const { trustedAtMs } = stored;
      const knownMs = trusted?.atMs ?? 0;
      if (trustedAtMs === null || Math.abs(knownMs - trustedAtMs) >= KEPT_EVERY_MS) await store.trust(knownMs);
    },
    nowMs: () => (trusted === null ? 0 : Math.min(clock(), advance(trusted, monotonicMs()))),
    heldMs: () => heldMs,
    logResets: () => resets ?? 0,
  };
}
