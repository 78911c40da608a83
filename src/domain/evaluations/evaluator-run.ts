/** Runs of an evaluator over all traces that a search finds, and their port. */

export type EvaluatorRun = {
  readonly projectId: string;
  readonly id: string;
  readonly evaluatorId: string;
  /** The search, with fixed dates. */
  readonly searchJson: string;
  readonly status: 'running' | 'completed' | 'cancelled' | 'failed';
  /** The cursor of the next page; empty for the first. */
  readonly cursor: string;
  /** Null: the search has not started. */
  readonly tracesFound: number | null;
  /** False: `tracesFound` is a lower bound. */
  readonly isFoundExactly: boolean;
  /** Traces by the status of their outcome. */
  readonly processed: number;
  readonly skipped: number;
  readonly failed: number;
  /** Why the run failed. */
  readonly error: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** A run that one worker has leased. */
export type LeasedRun = EvaluatorRun & {
  /** Unique to the lease. */
  readonly fence: number;
  /** Failures in a row since the last page that succeeded. */
  readonly failures: number;
};

type RunLease = { readonly nowMs: number; readonly untilMs: number; readonly fence: number };

/** The new state of a leased run. */
export type RunProgress = LeasedRun & {
  readonly leasedUntilMs: number;
};

export type EvaluatorRunStore = {
  /**
   * MUST answer `limit_reached` and store nothing when `runningMax` runs of the project are running, and
   * `too_many_started` when `startedMax` were started since `startedSinceMs`. Removes the ended runs of the project that
   * are older than `endedBeforeMs`.
   */
  insert(run: EvaluatorRun, limits: RunLimits): Promise<'stored' | 'limit_reached' | 'too_many_started'>;
  /** Null for a run of another project. */
  find(projectId: string, id: string): Promise<EvaluatorRun | null>;
  /** The newest first. */
  list(projectId: string, limit: number): Promise<readonly EvaluatorRun[]>;
  /** Ends a running run. MUST NOT change an ended one. */
  cancel(run: Pick<EvaluatorRun, 'projectId' | 'id'>, nowMs: number): Promise<void>;
  /**
   * Leases a run whose previous lease has expired. MUST lease it to one caller only until the new lease expires. MUST let
   * projects take turns, however many runs each has. Null: no run is free.
   */
  lease(lease: RunLease): Promise<LeasedRun | null>;
  /** MUST answer false and store nothing when the run has ended, or another worker has leased it. */
  advance(progress: RunProgress): Promise<boolean>;
};

type RunLimits = {
  readonly runningMax: number;
  readonly startedMax: number;
  readonly startedSinceMs: number;
  readonly endedBeforeMs: number;
};
