/** A run of retention: a queue of tasks, each of which takes one step and returns the tasks that follow it. */

import type { RetentionCounts, RetentionStep, RetentionWalk } from '../../domain/management/retention-store.ts';
import type { Transaction } from '../transaction.ts';

export type TaskEnd<Task> = {
  readonly removed?: Partial<RetentionCounts>;
  /** Tasks to run next, before those in the queue. */
  readonly next: readonly Task[];
};

/** `locked`: other transactions have locked the rows. `busy`: another process runs retention. */
export type TaskOutcome<Task> = StepTimes & { readonly end: TaskEnd<Task> | 'locked' | 'busy' };

export type StepTimes = Pick<RetentionStep, 'heldMs' | 'removingMs'>;

type RunTask<Task> = (task: Task, rowsMax: number) => Promise<TaskOutcome<Task>>;

/** The limits of a step, which is part of a transaction. */
export type StepBudget = Pick<Transaction, 'runQuery' | 'change'> & {
  readonly rowsMax: number;
  /** The number of rows removed between two checks of the time. */
  readonly rowsAtOnce: number;
  /** The same for rows of any size. */
  readonly heavyRowsAtOnce: number;
  /** Whether the time of the step is over. */
  readonly isOver: () => boolean;
};

type Waiting<Task> = { readonly task: Task; readonly triesLeft: number };

// How often a task may find its rows locked before it is left to the next run.
const TRIES_MAX = 10;
const NOTHING: RetentionCounts = { events: 0, traces: 0, logRecords: 0, auditEntries: 0, months: 0 };
export const NOTHING_LEFT: RetentionStep = { outcome: 'done', removed: NOTHING, heldMs: 0, removingMs: 0 };

export function beginWalk<Task>(tasks: readonly Task[], run: RunTask<Task>): RetentionWalk {
  let waiting = queueOf(tasks);

  /** A task whose rows were locked is tried again after all others. */
  function finish({ task, triesLeft }: Waiting<Task>, end: TaskEnd<Task> | 'locked'): RetentionCounts {
    const rest = waiting.slice(1);
    if (end === 'locked') {
      waiting = triesLeft > 1 ? [...rest, { task, triesLeft: triesLeft - 1 }] : rest;
      return NOTHING;
    }
    waiting = [...queueOf(end.next), ...rest];
    return { ...NOTHING, ...end.removed };
  }

  return {
    async step(rowsMax) {
      const [first] = waiting;
      if (first === undefined) return NOTHING_LEFT;
      // The queue changes only after the transaction has committed: until then the task may be retried.
      const { end, ...times } = await run(first.task, rowsMax);
      if (end === 'busy') return { outcome: 'busy', removed: NOTHING, ...times };
      const removed = finish(first, end);
      return { outcome: outcomeOf(waiting), removed, ...times };
    },
  };
}

function outcomeOf(waiting: readonly Waiting<unknown>[]): 'more' | 'locked' | 'done' {
  if (waiting.length === 0) return 'done';
  return waiting.every(({ triesLeft }) => triesLeft < TRIES_MAX) ? 'locked' : 'more';
}

function queueOf<Task>(tasks: readonly Task[]): readonly Waiting<Task>[] {
  return tasks.map((task) => ({ task, triesLeft: TRIES_MAX }));
}
