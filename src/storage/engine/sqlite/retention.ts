/** Retention on SQLite: each step is one transaction of the writer, short enough for those that come after it. */

import * as questions from '../../../../gen/storage/sqlite/retention.ts';
import type { RetentionCuts, RetentionStore } from '../../../domain/store.ts';
import type { Ask, Transact } from '../../questions.ts';
import { goOn, type PartTask, removePart, SHARED_PARTS, type SharedPart } from '../../retention/parts.ts';
import { beginWalk, type Pace, type TaskEnd } from '../../retention/walk.ts';
import type { Database } from './connection.ts';
import { prepareExpiredEvents } from './expired-events.ts';

/** Goes to the writer and comes back from it. */
type Task = PartTask<'events' | SharedPart>;

export type RemovalStep = { readonly task: Task; readonly cuts: RetentionCuts; readonly rowsMax: number };

export type RemovalDone = { readonly end: TaskEnd<Task>; readonly heldMs: number };

/** The transaction of a step begins to end after this long, however few rows it has removed: some rows are heavy. */
const STEP_TIME_MS = 15;
// A span may hold several texts of 1 MiB.
const ROWS_AT_ONCE = 8;

/** Only one process has the file open, so nobody else is ever at it. */
export function createRetention(ask: Ask, remove: (step: RemovalStep) => Promise<RemovalDone>): RetentionStore {
  return {
    nowMs: async () => null,
    traceTerms: async () => (await ask(questions.listTraceTerms, {})).map(({ storedDays }) => storedDays),
    begin: (cuts) =>
      beginWalk(
        (['events', ...SHARED_PARTS] as const).map((part): Task => ({ part, after: 0 })),
        (task, rowsMax) => remove({ task, cuts, rowsMax }),
      ),
  };
}

/** The writer's side. `nowMs` is monotonic. */
export function prepareRemoval(
  db: Database,
  transact: Transact,
  nowMs = () => performance.now(),
): (step: RemovalStep) => Promise<RemovalDone> {
  const removeEvents = prepareExpiredEvents(db);

  async function remove({ task, cuts }: RemovalStep, pace: Pace): Promise<TaskEnd<Task>> {
    const { after, part } = task;
    if (part !== 'events') return await removePart(questions, { part, after }, { ...pace, cuts, sequenceAt: null });
    const { removed, next } = removeEvents({ ...pace, after, beforeMs: cuts.eventsBeforeMs });
    return { removed: { events: removed }, next: goOn(part, next) };
  }

  return async (step) => {
    const startedAtMs = nowMs();
    const isOver = () => nowMs() >= startedAtMs + STEP_TIME_MS;
    const { rowsMax } = step;
    const end = await transact((asking) => remove(step, { ...asking, rowsMax, rowsAtOnce: ROWS_AT_ONCE, isOver }));
    // A step changes many pages. Left to the next checkpoint that comes by itself, those of many steps would make it
    // so large that whoever commits then waits for too long.
    db.pragma('wal_checkpoint(PASSIVE)');
    return { end, heldMs: nowMs() - startedAtMs };
  };
}
