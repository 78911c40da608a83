/** A walk of retention: a queue of tasks, each of which takes one step and says what is to follow it. */

import type { RetentionCounts, RetentionWalk } from '../../domain/store.ts';
import type { Transaction } from '../questions.ts';

export type TaskEnd<Task> = {
  readonly removed?: Partial<RetentionCounts>;
  /** What comes next, before the tasks that wait. */
  readonly next: readonly Task[];
};

/** `held`: others have what it needs. `busy`: another process is at it. */
export type TaskOutcome<Task> = { readonly end: TaskEnd<Task> | 'held' | 'busy'; readonly heldMs: number };

export type RunTask<Task> = (task: Task, rowsMax: number) => Promise<TaskOutcome<Task>>;

/** A step is part of a transaction, in which it may do only so much. */
export type Pace = Pick<Transaction, 'ask' | 'change'> & {
  readonly rowsMax: number;
  /** Removed between two looks at the time. */
  readonly rowsAtOnce: number;
  /** Whether there is no time left. */
  readonly isOver: () => boolean;
};

type Waiting<Task> = { readonly task: Task; readonly triesLeft: number };

// Times that a task may find what it needs held by others before it is left to the next walk.
const TRIES_MAX = 10;
const NOTHING: RetentionCounts = { events: 0, traces: 0, auditEntries: 0, months: 0 };

export function beginWalk<Task>(tasks: readonly Task[], run: RunTask<Task>): RetentionWalk {
  let waiting = queueOf(tasks);

  /** What is held by others is tried again after everything else. */
  function settle({ task, triesLeft }: Waiting<Task>, end: TaskEnd<Task> | 'held'): RetentionCounts {
    const rest = waiting.slice(1);
    if (end === 'held') {
      waiting = triesLeft > 1 ? [...rest, { task, triesLeft: triesLeft - 1 }] : rest;
      return NOTHING;
    }
    waiting = [...queueOf(end.next), ...rest];
    return { ...NOTHING, ...end.removed };
  }

  return {
    async step(rowsMax) {
      const [first] = waiting;
      if (first === undefined) return { outcome: 'done', removed: NOTHING, heldMs: 0 };
      // How the walk goes on is known only once its transaction is committed: until then a task may be tried again.
      const { end, heldMs } = await run(first.task, rowsMax);
      if (end === 'busy') return { outcome: 'busy', removed: NOTHING, heldMs };
      const removed = settle(first, end);
      return { outcome: outcomeOf(waiting), removed, heldMs };
    },
  };
}

function outcomeOf(waiting: readonly Waiting<unknown>[]): 'more' | 'held' | 'done' {
  if (waiting.length === 0) return 'done';
  return waiting.every(({ triesLeft }) => triesLeft < TRIES_MAX) ? 'held' : 'more';
}

function queueOf<Task>(tasks: readonly Task[]): readonly Waiting<Task>[] {
  return tasks.map((task) => ({ task, triesLeft: TRIES_MAX }));
}
