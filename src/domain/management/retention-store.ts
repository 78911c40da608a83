/** The ports that retention uses: what is stored about the time, and the removal of expired records. */

/** What is stored about the time. */
export type ClockStore = {
  /** The time, which MUST be by the clock that dates events; null where that is the clock of this process. */
  nowMs(): Promise<number | null>;
  instants(): Promise<StoredInstants>;
  /** Stores an instant that is certain to have come. Nothing, on a database without an organization. */
  trust(atMs: number): Promise<void>;
};

export type StoredInstants = {
  /** The instant that was stored last as certain; null: none was. */
  readonly trustedAtMs: number | null;
  /** When the newest event was created or a project key last used; null: there is none. */
  readonly newestAtMs: number | null;
  /** When the newest event was created; null: there is none. */
  readonly logEndAtMs: number | null;
  /** How often the end of a log was ahead of the clock and went back to it. */
  readonly logResets: number;
};

/** Removes expired records. */
export type RetentionStore = {
  /** The distinct trace retentions that projects have stored, archived projects included. */
  traceTerms(): Promise<readonly (number | null)[]>;
  /**
   * About how many traces are past a cut and not erased yet: MUST count those of at most 200 spans that were received in a
   * whole hour before it and began at most 35 days before it.
   */
  backlog(cuts: readonly TraceCut[]): Promise<number>;
  /** Begins a run over all stored records. Nothing changes before its first step. */
  begin(cuts: RetentionCuts): RetentionWalk;
  /** Begins to erase what was removed before and could not be erased at once: large traces, and large texts. */
  beginErasure(): RetentionWalk;
};

/** Before these nothing was stored. */
export const NO_CUTS: RetentionCuts = {
  eventsBeforeMs: 0,
  traces: [],
  logRecordsBeforeMs: 0,
  feedbackBeforeMs: 0,
  answersBeforeMs: 0,
  auditBeforeMs: null,
};

export type RetentionCuts = {
  /** The first instant of a month: events created earlier are removed, and requests without any event left. */
  readonly eventsBeforeMs: number;
  readonly traces: readonly TraceCut[];
  /** Log records received before the instant are no longer kept for their spans. */
  readonly logRecordsBeforeMs: number;
  /** Feedback received before the instant no longer waits for its trace. */
  readonly feedbackBeforeMs: number;
  /** Answers that the gateway has kept are removed if they expired before the instant. */
  readonly answersBeforeMs: number;
  /** Audit entries from before the instant are removed; null: they are kept for ever. */
  readonly auditBeforeMs: number | null;
};

/** Traces received before the instant are removed from projects that store this very term during the step. */
export type TraceCut = { readonly storedDays: number | null; readonly expiredBeforeMs: number };

export type RetentionWalk = {
  /**
   * Runs one small step. It MUST NOT delay an append for more than 100 ms, MUST remove at most `rowsMax` rows beside
   * whole months, MUST remove nothing that has not expired, and MUST make a trace that it cannot erase at once
   * unreachable before it removes anything of it. It MUST be safe while other processes run steps. After the last step
   * all expired records are gone, except those that others lock.
   */
  step(rowsMax: number): Promise<RetentionStep>;
};

export type RetentionStep = {
  /**
   * `locked`: other transactions have locked all remaining records, so try again later. `busy`: another process runs
   * retention, and this run ends.
   */
  readonly outcome: 'more' | 'locked' | 'done' | 'busy';
  readonly removed: RetentionCounts;
  /** How long the step may have blocked other writes. */
  readonly heldMs: number;
  /** How long the removals took of it: what fewer rows would shorten, without the commit. */
  readonly removingMs: number;
};

export type RetentionCounts = {
  /** Removed one by one. */
  readonly events: number;
  /** Removed with their spans and evaluations. */
  readonly traces: number;
  /** Log records whose span never came. */
  readonly logRecords: number;
  /** Entries of the audit log. */
  readonly auditEntries: number;
  /** Monthly tables that were dropped. */
  readonly months: number;
};
