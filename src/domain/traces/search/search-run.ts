/** Work on all traces that a search finds, which goes on page by page whatever process does it, and its port. */

import type { AuditRecord } from '../../management/management.ts';

export type SearchRun = {
  readonly projectId: string;
  readonly id: string;
  /** The search, with fixed dates. */
  readonly searchJson: string;
  readonly status: 'running' | 'completed' | 'cancelled' | 'failed';
  /** Null: the search has not started. */
  readonly tracesFound: number | null;
  /** False: `tracesFound` is a lower bound. */
  readonly isFoundExactly: boolean;
  /** Why the run failed. */
  readonly error: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** A run that one worker has leased. */
export type Leased<Run extends SearchRun> = Run & {
  /** Unique to the lease. */
  readonly fence: number;
  /** Failures in a row since the last page that succeeded. */
  readonly failures: number;
};

/** The run after a page of its search. `restMs`: how long no process may continue the run. */
export type PageOutcome<Run extends SearchRun> = { readonly next: Leased<Run>; readonly restMs: number };

type RunLease = { readonly nowMs: number; readonly untilMs: number; readonly fence: number };

/** The new state of a leased run. */
export type RunProgress<Run extends SearchRun> = Leased<Run> & {
  readonly leasedUntilMs: number;
};

export type SearchRunStore<Run extends SearchRun> = {
  /**
   * MUST return `limit_reached` and store nothing when `runningMax` runs of the project are running, and
   * `too_many_started` when `startedMax` were started since `startedSinceMs`. Removes the ended runs of the project that
   * are older than `endedBeforeMs`. Stores `audited` with the run, if given.
   */
  insert(run: Run, limits: RunLimits, audited?: AuditRecord): Promise<InsertOutcome>;
  /** Null for a run of another project. */
  find(projectId: string, id: string): Promise<Run | null>;
  /** The newest first. */
  list(projectId: string, limit: number): Promise<readonly Run[]>;
  /** Ends a running run. MUST NOT change an ended one. */
  cancel(run: Pick<SearchRun, 'projectId' | 'id'>, nowMs: number): Promise<void>;
  /**
   * Leases a run whose previous lease has expired. MUST lease it to one caller only until the new lease expires. MUST let
   * projects take turns, however many runs each has. Null: no run is free.
   */
  lease(lease: RunLease): Promise<Leased<Run> | null>;
  /** MUST return false and store nothing when the run has ended, or another worker has leased it. */
  advance(progress: RunProgress<Run>): Promise<boolean>;
};

type InsertOutcome = 'stored' | 'limit_reached' | 'too_many_started';

export type RunLimits = {
  readonly runningMax: number;
  readonly startedMax: number;
  readonly startedSinceMs: number;
  readonly endedBeforeMs: number;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Ended runs stay readable for at least this long. */
const KEPT_MS = 90 * DAY_MS;

export const RUN_BEGINNING = { status: 'running', tracesFound: null, isFoundExactly: true, error: null } as const;

/** `startedMax`: of an hour. */
export function limitsOf(
  { runningMax, startedMax }: Pick<RunLimits, 'runningMax' | 'startedMax'>,
  { nowMs, retentionNowMs }: { readonly nowMs: number; readonly retentionNowMs: number },
): RunLimits {
  return { runningMax, startedMax, startedSinceMs: nowMs - HOUR_MS, endedBeforeMs: retentionNowMs - KEPT_MS };
}
