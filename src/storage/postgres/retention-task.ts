/** What a retention walk on PostgreSQL is made of. */

import type pg from 'pg';
import type { RetentionCounts } from '../../domain/store.ts';

/**
 * One step of the walk, inside a transaction of its own. It remembers nothing: how the walk goes on is known only
 * once the transaction is committed, and until then the same task may be tried again.
 */
export type Task = (client: pg.ClientBase, rowsMax: number) => Promise<TaskStep>;

export type TaskStep = {
  /** What comes next, before the tasks that wait. */
  readonly next: readonly Task[];
  readonly removed?: Partial<RetentionCounts>;
};

export const DONE: TaskStep = { next: [] };
