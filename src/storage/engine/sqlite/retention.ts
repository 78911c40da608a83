/** Retention on SQLite: each step is one transaction of the writer, short enough for those that come after it. */

import * as questions from '../../../../gen/storage/sqlite/retention.ts';
import type { RetentionCuts, RetentionStore } from '../../../domain/store.ts';
import type { Ask, Transact } from '../../questions.ts';
import { removeExpiredAudit } from '../../retention/expired-audit.ts';
import { removeExpiredTraces } from '../../retention/expired-traces.ts';
import { beginWalk, type Pace, type TaskEnd } from '../../retention/walk.ts';
import type { Database } from './connection.ts';
import { prepareExpiredEvents } from './expired-events.ts';
import { listExpiredTraces } from './expired-traces.ts';

/** Goes to the writer and comes back from it. */
type Task = { readonly part: (typeof PARTS)[number]; readonly after: number };

const PARTS = ['events', 'governance', 'traces', 'audit'] as const;

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
    begin: (cuts) => beginWalk(PARTS.map(beginPart), (task, rowsMax) => remove({ task, cuts, rowsMax })),
  };
}

function beginPart(part: Task['part']): Task {
  return { part, after: 0 };
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
    const next = (place: number | null) => (place === null ? [] : [{ part, after: place }]);
    if (part === 'events') {
      const done = removeEvents({ ...pace, after, beforeMs: cuts.eventsBeforeMs });
      return { removed: { events: done.removed }, next: next(done.next) };
    }
    if (part === 'governance') {
      const count = await removeGovernance(cuts.eventsBeforeMs, pace);
      return { next: count === 0 ? [] : [task] };
    }
    if (part === 'traces') {
      const deps = { questions, list: listExpiredTraces };
      const done = await removeExpiredTraces(deps, { ...pace, from: after, cuts: cuts.traces });
      return { removed: { traces: done.removed }, next: next(done.next) };
    }
    const done = await removeExpiredAudit(questions, { ...pace, after, beforeMs: cuts.auditBeforeMs });
    return { removed: { auditEntries: done.removed }, next: next(done.next) };
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

/** Answers how many; none when nothing is left. */
async function removeGovernance(beforeMs: number, { change, rowsMax, rowsAtOnce, isOver }: Pace): Promise<number> {
  let removed = 0;
  while (removed === 0 || (removed < rowsMax && !isOver())) {
    const limit = Math.min(rowsAtOnce, rowsMax - removed);
    const count = await change(questions.removeOldGovernance, { beforeMs, limit });
    removed += count;
    if (count < limit) break;
  }
  return removed;
}
