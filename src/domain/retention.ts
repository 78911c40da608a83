/** Removes expired records in small steps that hardly delay other work. */

import type { RetentionClock } from './management/retention-clock.ts';
import { retentionStartMs, termStartMs, traceTermDays } from './retention-terms.ts';
import type { RetentionCounts, RetentionCuts, RetentionStep, RetentionStore, TraceCut } from './store.ts';

type RetentionDeps = {
  readonly store: RetentionStore;
  readonly clock: Pick<RetentionClock, 'check' | 'nowMs'>;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
  /** The term of audit log entries; null: for ever. */
  readonly auditDays: number | null;
  /** Resolves after the delay, or as soon as the signal aborts. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
};

export type RetentionReport = {
  /** `busy`: another process runs retention now. */
  readonly outcome: 'done' | 'busy' | 'stopped';
  readonly removed: RetentionCounts;
};

/**
 * Expired records stay this much longer: a running request, or a process whose clock is behind, may still read them.
 */
const LINGER_MS = 10 * 60_000;
const STEP_GOAL_MS = 20;
const ROWS_FIRST = 100;
const ROWS_MIN = 10;
const ROWS_MAX = 500;
const PAUSE_MIN_MS = 10;
/** After each step the database is free for this many times the duration of the step. */
const PAUSE_SHARE = 2;
const LOCKED_PAUSE_MS = 5_000;

export function createRetention(deps: RetentionDeps) {
  return {
    /** Removes expired records until none is left or the signal aborts. */
    async run(signal: AbortSignal): Promise<RetentionReport> {
      await deps.clock.check();
      const walk = deps.store.begin(await decideCuts(deps, deps.clock.nowMs() - LINGER_MS));
      let removed: RetentionCounts = { events: 0, traces: 0, auditEntries: 0, months: 0 };
      let rowsMax = ROWS_FIRST;
      while (!signal.aborted) {
        const step = await walk.step(rowsMax);
        removed = addCounts(removed, step.removed);
        if (step.outcome === 'done' || step.outcome === 'busy') return { outcome: step.outcome, removed };
        if (step.outcome === 'more') rowsMax = nextRowsMax(rowsMax, step.heldMs);
        await deps.pause(pauseAfter(step), signal);
      }
      return { outcome: 'stopped', removed };
    },
  };
}

/** The instants before which records may be removed. */
async function decideCuts(deps: RetentionDeps, atMs: number): Promise<RetentionCuts> {
  const { store, traceDefaultDays, auditDays } = deps;
  const terms = await store.traceTerms();
  const traces = terms.flatMap((storedDays): readonly TraceCut[] => {
    const expiredBeforeMs = termStartMs(traceTermDays(storedDays, traceDefaultDays), atMs);
    return expiredBeforeMs === null ? [] : [{ storedDays, expiredBeforeMs }];
  });
  return { eventsBeforeMs: retentionStartMs(atMs), traces, auditBeforeMs: termStartMs(auditDays, atMs) };
}

function pauseAfter({ outcome, heldMs }: RetentionStep): number {
  return outcome === 'locked' ? LOCKED_PAUSE_MS : Math.max(PAUSE_MIN_MS, heldMs * PAUSE_SHARE);
}

/** Shrinks steps immediately when they take too long, and grows them slowly while they are fast. */
function nextRowsMax(rowsMax: number, heldMs: number): number {
  if (heldMs > STEP_GOAL_MS) return Math.max(ROWS_MIN, Math.floor((rowsMax * STEP_GOAL_MS) / (2 * heldMs)));
  return heldMs > STEP_GOAL_MS / 2 ? rowsMax : Math.min(ROWS_MAX, rowsMax + ROWS_MIN * 2);
}

function addCounts(a: RetentionCounts, b: RetentionCounts): RetentionCounts {
  return {
    events: a.events + b.events,
    traces: a.traces + b.traces,
    auditEntries: a.auditEntries + b.auditEntries,
    months: a.months + b.months,
  };
}
