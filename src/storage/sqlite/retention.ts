/** Retention on SQLite: the walk is kept here, each of its steps is one transaction of the writer. */

import type { RetentionCounts, RetentionCuts, RetentionStore, RetentionWalk } from '../../domain/store.ts';
import type { Database } from './connection.ts';
import { prepareExpiredAudit } from './expired-audit.ts';
import { prepareExpiredEvents } from './expired-events.ts';
import { prepareExpiredGovernance } from './expired-governance.ts';
import { prepareExpiredTraces } from './expired-traces.ts';
import type { ReadLane } from './read-lane.ts';

/** Where a walk stands: events of organizations come first, then traces, then the audit log. */
type Position = { readonly part: 'events' | 'governance' | 'traces' | 'audit'; readonly after: number };

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
const NOTHING: RetentionCounts = { events: 0, traces: 0, auditEntries: 0, months: 0 };

/** The writer's side: one step as one transaction. `nowMs` is monotonic. */
export function prepareRemoval(db: Database, nowMs = () => performance.now()): (step: RemovalStep) => RemovalDone {
  const removeEvents = prepareExpiredEvents(db);
  const removeGovernance = prepareExpiredGovernance(db);
  const removeTraces = prepareExpiredTraces(db);
  const removeAudit = prepareExpiredAudit(db);
  const parts = {
    events: ({ position, cuts, rowsMax }: RemovalStep, isOver: () => boolean) => {
      const step = { afterOrganization: position.after, beforeMs: cuts.eventsBeforeMs, rowsMax, isOver };
      const { removed, next } = removeEvents(step);
      return { removed: { ...NOTHING, events: removed }, next: positionAt('events', next) };
    },
    governance: ({ position, cuts, rowsMax }: RemovalStep, isOver: () => boolean) => {
      const step = { afterOrganization: position.after, beforeMs: cuts.eventsBeforeMs, rowsMax, isOver };
      const { removed, next } = removeGovernance(step);
      return { removed: { ...NOTHING, events: removed }, next: positionAt('governance', next) };
    },
    traces: ({ position, cuts, rowsMax }: RemovalStep, isOver: () => boolean) => {
      const { removed, next } = removeTraces({ afterSequence: position.after, cuts: cuts.traces, rowsMax, isOver });
      return { removed: { ...NOTHING, traces: removed }, next: positionAt('traces', next) };
    },
    audit: ({ position, cuts, rowsMax }: RemovalStep, isOver: () => boolean) => {
      const step = { afterOrganization: position.after, beforeMs: cuts.auditBeforeMs, rowsMax, isOver };
      const { removed, next } = removeAudit(step);
      return { removed: { ...NOTHING, auditEntries: removed }, next: positionAt('audit', next) };
    },
  };
  const remove = db.transaction((step: RemovalStep): Omit<RemovalDone, 'heldMs'> => {
    const endMs = nowMs() + STEP_TIME_MS;
    return parts[step.position.part](step, () => nowMs() >= endMs);
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

/** The part that follows a part; null: none does. */
const FOLLOWING = { events: 'governance', governance: 'traces', traces: 'audit', audit: null } as const;

/** Where the walk goes on: within a part, or at the beginning of the one that follows it. */
function positionAt(part: Position['part'], next: number | null): Position | null {
  if (next !== null) return { part, after: next };
  const following = FOLLOWING[part];
  return following === null ? null : { part: following, after: 0 };
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
