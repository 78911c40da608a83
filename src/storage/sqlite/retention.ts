/** Retention on SQLite: the walk is kept here, each of its steps is one transaction of the writer. */

import type { RetentionCounts, RetentionCuts, RetentionStore, RetentionWalk } from '../../domain/store.ts';
import type { Database } from './connection.ts';
import { prepareExpiredEvents } from './expired-events.ts';
import { prepareExpiredTraces } from './expired-traces.ts';
import type { ReadLane } from './read-lane.ts';

/** Where a walk stands: events of organizations come first, then traces. */
type Position =
  | { readonly part: 'events'; readonly after: number }
  | { readonly part: 'traces'; readonly after: number };

export type RemovalStep = { readonly position: Position; readonly cuts: RetentionCuts; readonly rowsMax: number };

/** `next` is where the walk goes on; null at its end. */
export type RemovalDone = {
  readonly removed: RetentionCounts;
  readonly next: Position | null;
  readonly heldMs: number;
};

/** Takes a step where the writer is. */
export type RemoveExpired = (step: RemovalStep) => Promise<RemovalDone>;

/** The transaction of a step begins to end after this long, however few rows it has removed: some rows are heavy. */
const STEP_TIME_MS = 15;
const NOTHING: RetentionCounts = { events: 0, traces: 0, months: 0 };

/** The writer's side: one step as one transaction. `nowMs` is monotonic. */
export function prepareRemoval(db: Database, nowMs = () => performance.now()): (step: RemovalStep) => RemovalDone {
  const removeEvents = prepareExpiredEvents(db);
  const removeTraces = prepareExpiredTraces(db);
  const remove = db.transaction(({ position, cuts, rowsMax }: RemovalStep): Omit<RemovalDone, 'heldMs'> => {
    const endMs = nowMs() + STEP_TIME_MS;
    const isOver = () => nowMs() >= endMs;
    if (position.part === 'events') {
      const beforeMs = cuts.eventsBeforeMs;
      const { removed, next } = removeEvents({ afterOrganization: position.after, beforeMs, rowsMax, isOver });
      const following = next === null ? { part: 'traces' as const, after: 0 } : { ...position, after: next };
      return { removed: { ...NOTHING, events: removed }, next: following };
    }
    const { removed, next } = removeTraces({ afterSequence: position.after, cuts: cuts.traces, rowsMax, isOver });
    return { removed: { ...NOTHING, traces: removed }, next: next === null ? null : { ...position, after: next } };
  });
  return (step) => {
    const startedAtMs = nowMs();
    const done = remove.immediate(step);
    // A step changes many pages. Left to the next checkpoint that comes by itself, those of many steps would make it
    // so large that whoever commits then waits for too long.
    db.pragma('wal_checkpoint(PASSIVE)');
    return { ...done, heldMs: nowMs() - startedAtMs };
  };
}

/** Only one process has the file open, so nobody else is ever at it. */
export function prepareRetention(db: Database, lane: ReadLane, remove: RemoveExpired): RetentionStore {
  const terms = db.prepare<[], number | null>('SELECT DISTINCT trace_retention_days FROM projects').pluck();
  return {
    nowMs: async () => null,
    traceTerms: () => lane(() => terms.all()),
    begin: (cuts) => beginWalk(cuts, remove),
  };
}

function beginWalk(cuts: RetentionCuts, remove: RemoveExpired): RetentionWalk {
  let position: Position | null = { part: 'events', after: 0 };
  return {
    async step(rowsMax) {
      if (position === null) return { outcome: 'done', removed: NOTHING, heldMs: 0 };
      const { removed, next, heldMs } = await remove({ position, cuts, rowsMax });
      position = next;
      return { outcome: next === null ? 'done' : 'more', removed, heldMs };
    },
  };
}
