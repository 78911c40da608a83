/** A run of retention: a queue of the tasks of all ports, each of which takes one step and returns the tasks that follow it. */

/** What each port has: it removes its own expired records. */
export type PortRetention<Cuts> = {
  /**
   * The tasks of a run over all records of the port, in order. Nothing changes before a task is run. After the last step
   * all expired records MUST be gone, except those that others lock.
   */
  begin(cuts: Cuts): readonly RetentionTask[];
};

/**
 * Runs one small step. It MUST NOT delay an append for more than 100 ms, MUST remove at most `rowsMax` rows beside
 * whole months, MUST remove nothing that has not expired, and MUST be safe while other processes run steps, and when it
 * is run again.
 */
export type RetentionTask = (rowsMax: number) => Promise<TaskOutcome>;

/**
 * `locked`: other transactions have locked the rows, so try again later. `busy`: another process runs retention, and this
 * run ends.
 */
export type TaskOutcome<Task = RetentionTask> = StepTimes & { readonly end: TaskEnd<Task> | 'locked' | 'busy' };

export type TaskEnd<Task = RetentionTask> = {
  readonly removed?: Partial<RetentionCounts>;
  /** Tasks to run next, before those in the queue. */
  readonly next: readonly Task[];
};

export type StepTimes = {
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

/** `locked`: other transactions have locked all remaining records. */
export type RetentionStep = StepTimes & {
  readonly outcome: 'more' | 'locked' | 'done' | 'busy';
  readonly removed: RetentionCounts;
};

type Waiting = { readonly task: RetentionTask; readonly triesLeft: number };

// How often a task may find its rows locked before it is left to the next run.
const TRIES_MAX = 10;
const NOTHING: RetentionCounts = { events: 0, traces: 0, logRecords: 0, auditEntries: 0, months: 0 };
const NOTHING_LEFT: RetentionStep = { outcome: 'done', removed: NOTHING, heldMs: 0, removingMs: 0 };

/** Each step runs one task. */
export function beginWalk(tasks: readonly RetentionTask[]) {
  let waiting = queueOf(tasks);

  /** A task whose rows were locked is tried again after all others. */
  function finish({ task, triesLeft }: Waiting, end: TaskEnd | 'locked'): RetentionCounts {
    const rest = waiting.slice(1);
    if (end === 'locked') {
      waiting = triesLeft > 1 ? [...rest, { task, triesLeft: triesLeft - 1 }] : rest;
      return NOTHING;
    }
    waiting = [...queueOf(end.next), ...rest];
    return { ...NOTHING, ...end.removed };
  }

  return async (rowsMax: number): Promise<RetentionStep> => {
    const [first] = waiting;
    if (first === undefined) return NOTHING_LEFT;
    const { end, ...times } = await first.task(rowsMax);
    if (end === 'busy') return { outcome: 'busy', removed: NOTHING, ...times };
    const removed = finish(first, end);
    return { outcome: outcomeOf(waiting), removed, ...times };
  };
}

function outcomeOf(waiting: readonly Waiting[]): 'more' | 'locked' | 'done' {
  if (waiting.length === 0) return 'done';
  return waiting.every(({ triesLeft }) => triesLeft < TRIES_MAX) ? 'locked' : 'more';
}

function queueOf(tasks: readonly RetentionTask[]): readonly Waiting[] {
  return tasks.map((task) => ({ task, triesLeft: TRIES_MAX }));
}
