/** Removes expired records in small steps that hardly delay other work. */

import type { Log, LogCuts } from './events/log-port.ts';
import { FEEDBACK_WAITS_MS } from './feedback/feedback-event.ts';
import type { Management, ManagementCuts } from './management/management-port.ts';
import type { RetentionClock } from './management/retention-clock.ts';
import { retentionStartMs, termStartMs, traceTermDays } from './retention-terms.ts';
import { beginWalk, type RetentionCounts, type RetentionStep, type RetentionTask } from './retention-walk.ts';
import { LOG_RECORDS_KEPT_MS } from './traces/logs/log-record-store.ts';
import type { TelemetryCuts, TelemetryRetention, TraceCut } from './traces/telemetry-port.ts';

type TraceDeps = Pick<RetentionDeps, 'traceDefaultDays'> & {
  readonly store: TraceStores;
  readonly clock: Pick<RetentionClock, 'nowMs'>;
};

type TraceStores = Pick<Management, 'managementRetention'> & {
  readonly telemetryRetention: Omit<TelemetryRetention, 'beginErasure'>;
};

type RetentionDeps = {
  readonly store: TraceStores & Pick<Log, 'logRetention'>;
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
/** A store may end a step sooner. */
const STEP_GOAL_MS = 80;
/** The first step. Fewer rows would hardly take less time: a step has some twenty statements, however few rows it removes. */
const ROWS_MIN = 100;
const ROWS_MAX = 2_000;
const ROWS_GROWTH = 1.2;
/** The share of the goal that the step after a slow one is to take. */
const ROWS_SHRINKING = 0.75;
const PAUSE_MIN_MS = 10;
/**
 * After each step the database is free for this many times the duration of the step; for less, the more expired traces
 * there were when the run began.
 */
const PAUSE_SHARE_MAX = 2;
const PAUSE_SHARE_MIN = 0.25;
/** With so many expired traces, the pauses of a run are half as long as with none. */
const BACKLOG_HALVING = 10_000;
const LOCKED_PAUSE_MS = 5_000;
/** Steps of one turn, for which deletions of other projects wait. */
const ERASURE_STEPS_MAX = 20;

export function createRetention(deps: RetentionDeps) {
  return {
    /** Removes expired records until none is left or the signal aborts. */
    async run(signal: AbortSignal): Promise<RetentionReport> {
      await deps.clock.check();
      const cuts = await decideCuts(deps);
      const { logRetention: log, telemetryRetention: telemetry, managementRetention: management } = deps.store;
      const backlog = await telemetry.backlog(cuts.telemetry.traces);
      // What refers to other records goes before them: events to traces, and both to what management has.
      const tasks = [...log.begin(cuts.log), ...telemetry.begin(cuts.telemetry), ...management.begin(cuts.management)];
      return await takeSteps(tasks, { pause: deps.pause, backlog }, signal);
    },
  };
}

/**
 * Erases some of what was removed before, of any project, and could not be erased at once. `more`: something is left, or
 * another process erases just now.
 */
export function createErasure({ store, pause }: Pick<RetentionDeps, 'pause'> & { readonly store: ErasureStore }) {
  return async (signal: AbortSignal): Promise<'more' | 'done'> => {
    const pace = { pause, backlog: 0, stepsMax: ERASURE_STEPS_MAX };
    const { outcome } = await takeSteps(await store.beginErasure(), pace, signal);
    return outcome === 'done' ? 'done' : 'more';
  };
}

type ErasureStore = Pick<TelemetryRetention, 'beginErasure'>;
export type Erase = ReturnType<typeof createErasure>;

type Pace = Pick<RetentionDeps, 'pause'> & { readonly backlog: number; readonly stepsMax?: number };

/** `stopped` also after the last of the steps. */
async function takeSteps(
  tasks: readonly RetentionTask[],
  { pause, backlog, stepsMax = Number.POSITIVE_INFINITY }: Pace,
  signal: AbortSignal,
): Promise<RetentionReport> {
  let removed: RetentionCounts = { events: 0, traces: 0, logRecords: 0, auditEntries: 0, months: 0 };
  let rowsMax = ROWS_MIN;
  const takeStep = beginWalk(tasks);
  for (let steps = 0; steps < stepsMax && !signal.aborted; steps += 1) {
    const step = await takeStep(rowsMax);
    removed = addCounts(removed, step.removed);
    if (step.outcome === 'done' || step.outcome === 'busy') return { outcome: step.outcome, removed };
    if (step.outcome === 'more') rowsMax = nextRowsMax(rowsMax, step.removingMs);
    await pause(pauseAfter(step, backlog), signal);
  }
  return { outcome: 'stopped', removed };
}

/** About how many traces a run of retention would erase now. */
export async function countBacklog(deps: TraceDeps): Promise<number> {
  return await deps.store.telemetryRetention.backlog(await decideTraceCuts(deps, deps.clock.nowMs() - LINGER_MS));
}

type RetentionCuts = { readonly log: LogCuts; readonly telemetry: TelemetryCuts; readonly management: ManagementCuts };

/** The instants before which records may be removed. */
async function decideCuts(deps: RetentionDeps): Promise<RetentionCuts> {
  const atMs = deps.clock.nowMs() - LINGER_MS;
  const traces = await decideTraceCuts(deps, atMs);
  return {
    log: { eventsBeforeMs: retentionStartMs(atMs), answersBeforeMs: atMs },
    telemetry: {
      traces,
      logRecordsBeforeMs: atMs - LOG_RECORDS_KEPT_MS,
      feedbackBeforeMs: atMs - FEEDBACK_WAITS_MS,
    },
    management: { auditBeforeMs: termStartMs(deps.auditDays, atMs) },
  };
}

async function decideTraceCuts({ store, traceDefaultDays }: TraceDeps, atMs: number): Promise<readonly TraceCut[]> {
  const terms = await store.managementRetention.traceTerms();
  return terms.flatMap((storedDays): readonly TraceCut[] => {
    const expiredBeforeMs = termStartMs(traceTermDays(storedDays, traceDefaultDays), atMs);
    return expiredBeforeMs === null ? [] : [{ storedDays, expiredBeforeMs }];
  });
}

function pauseAfter({ outcome, heldMs }: RetentionStep, backlog: number): number {
  if (outcome === 'locked') return LOCKED_PAUSE_MS;
  const share = PAUSE_SHARE_MAX / (1 + backlog / BACKLOG_HALVING);
  return Math.max(PAUSE_MIN_MS, heldMs * Math.max(PAUSE_SHARE_MIN, share));
}

/**
 * Shrinks steps immediately when their removals take too long, and grows them slowly while they are fast. A slow disk
 * does not shrink them: the commit of a few rows takes about as long as that of many.
 */
function nextRowsMax(rowsMax: number, removingMs: number): number {
  if (removingMs > STEP_GOAL_MS) {
    return Math.max(ROWS_MIN, Math.floor((rowsMax * STEP_GOAL_MS * ROWS_SHRINKING) / removingMs));
  }
  return removingMs > STEP_GOAL_MS * ROWS_SHRINKING ? rowsMax : Math.min(ROWS_MAX, Math.ceil(rowsMax * ROWS_GROWTH));
}

function addCounts(a: RetentionCounts, b: RetentionCounts): RetentionCounts {
  return {
    events: a.events + b.events,
    traces: a.traces + b.traces,
    logRecords: a.logRecords + b.logRecords,
    auditEntries: a.auditEntries + b.auditEntries,
    months: a.months + b.months,
  };
}
