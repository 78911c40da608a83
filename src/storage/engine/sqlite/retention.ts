/** Retention on SQLite: each step is one short transaction of the writer. */

import * as queries from '../../../../gen/storage/sqlite/retention.ts';
import type { RetentionCuts, RetentionStore } from '../../../domain/store.ts';
import type { RunQuery, Transact } from '../../queries.ts';
import { continueAfter, type RemovalTask, removePart, SHARED_PARTS, type SharedPart } from '../../retention/steps.ts';
import { beginWalk, type StepBudget, type TaskEnd } from '../../retention/walk.ts';
import type { Database } from './connection.ts';
import { prepareExpiredEvents } from './expired-events.ts';

/** Travels between the main thread and the writer thread. */
type Task = RemovalTask<'events' | SharedPart>;

export type RemovalStep = { readonly task: Task; readonly cuts: RetentionCuts; readonly rowsMax: number };

export type RemovalDone = { readonly end: TaskEnd<Task>; readonly heldMs: number };

/** A step stops after this long, however few rows it has removed: some rows are heavy. */
const STEP_TIME_MS = 15;
// A span may hold several texts of 1 MiB.
const ROWS_AT_ONCE = 8;

/** Only one process has the file open, so no step is ever busy. */
export function createRetention(
  runQuery: RunQuery,
  remove: (step: RemovalStep) => Promise<RemovalDone>,
): RetentionStore {
  return {
    nowMs: async () => null,
    traceTerms: async () => (await runQuery(queries.listTraceTerms, {})).map(({ storedDays }) => storedDays),
    begin: (cuts) =>
      beginWalk(
        (['events', ...SHARED_PARTS] as const).map((part): Task => ({ part, after: 0 })),
        (task, rowsMax) => remove({ task, cuts, rowsMax }),
      ),
  };
}

/** The writer's side of retention. `nowMs` is monotonic. */
export function prepareRemoval(
  db: Database,
  transact: Transact,
  nowMs = () => performance.now(),
): (step: RemovalStep) => Promise<RemovalDone> {
  const removeEvents = prepareExpiredEvents(db);

  async function remove({ task, cuts }: RemovalStep, pace: StepBudget): Promise<TaskEnd<Task>> {
    const { after, part } = task;
    if (part !== 'events') return await removePart(queries, { part, after }, { ...pace, cuts, sequenceAt: null });
    const { removed, next } = removeEvents({ ...pace, after, beforeMs: cuts.eventsBeforeMs });
    return { removed: { events: removed }, next: continueAfter(part, next) };
  }

  return async (step) => {
    const startedAtMs = nowMs();
    const isOver = () => nowMs() >= startedAtMs + STEP_TIME_MS;
    const { rowsMax } = step;
    const end = await transact((runner) => remove(step, { ...runner, rowsMax, rowsAtOnce: ROWS_AT_ONCE, isOver }));
    // A step changes many pages. Without a checkpoint now, the next automatic one would cover many steps, and the
    // commit that runs it would take too long.
    db.pragma('wal_checkpoint(PASSIVE)');
    return { end, heldMs: nowMs() - startedAtMs };
  };
}
