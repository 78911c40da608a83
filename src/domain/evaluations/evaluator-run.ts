/** A run of an evaluator over all traces that a search finds, and its port. */

export type EvaluatorRun = {
  readonly projectId: string;
  readonly id: string;
  readonly evaluatorId: string;
  /** The search as it was asked, its dates fixed. */
  readonly searchJson: string;
  readonly status: 'running' | 'completed' | 'cancelled' | 'failed';
  /** Where the search goes on; empty at its beginning. */
  readonly cursor: string;
  /** Null: nobody has looked yet. */
  readonly tracesFound: number | null;
  /** False where there may be more. */
  readonly isFoundExactly: boolean;
  /** By what came of them. */
  readonly processed: number;
  readonly skipped: number;
  readonly failed: number;
  /** Why it failed. */
  readonly error: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** A run that somebody works on. */
export type LeasedRun = EvaluatorRun & {
  /** Another one for each lease. */
  readonly fence: number;
  /** How often work on it was broken off since it last went on. */
  readonly failures: number;
};

export type RunLease = { readonly nowMs: number; readonly untilMs: number; readonly fence: number };

/** What has become of a run that was leased. */
export type RunProgress = LeasedRun & {
  readonly leasedUntilMs: number;
};

export type EvaluatorRunStore = {
  /**
   * MUST answer `limit_reached` and store nothing when `runningMax` runs of the project are under way. Ended runs of the
   * project from before `forgetBeforeMs` go.
   */
  insert(run: EvaluatorRun, limits: RunLimits): Promise<'stored' | 'limit_reached'>;
  /** Null for another project's. */
  find(projectId: string, id: string): Promise<EvaluatorRun | null>;
  /** The newest first. */
  list(projectId: string, limit: number): Promise<readonly EvaluatorRun[]>;
  /** Ends a run that is under way. MUST leave alone one that has ended. */
  cancel(run: Pick<EvaluatorRun, 'projectId' | 'id'>, nowMs: number): Promise<void>;
  /**
   * A run whose lease is over. MUST give it to one caller only until the new lease is over, too. MUST let projects take
   * turns, whatever number of runs each has. Null: there is none.
   */
  lease(lease: RunLease): Promise<LeasedRun | null>;
  /** MUST answer false and store nothing when the run has ended, or somebody else has it now. */
  advance(progress: RunProgress): Promise<boolean>;
};

export type RunLimits = { readonly runningMax: number; readonly forgetBeforeMs: number };
