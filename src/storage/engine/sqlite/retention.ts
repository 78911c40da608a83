/** Retention on SQLite: each step is one short transaction of the writer. */

import { parseEventId } from '../../../domain/events/request-event.ts';
import { NO_CUTS, type RetentionCuts, type RetentionStore } from '../../../domain/management/retention-store.ts';
import { IDS_PER_QUERY_MAX } from '../../queries.ts';
import { createBacklog } from '../../retention/backlog.ts';
import { continueAfter, type RemovalTask, removePart, SHARED_PARTS, type SharedPart } from '../../retention/steps.ts';
import { beginWalk, type StepBudget, type StepTimes, type TaskEnd } from '../../retention/walk.ts';
import type { QueryRunner, Transact, Transaction } from '../../transaction.ts';
import type { Database } from './connection.ts';
import { FREED_TEXT_MIN_BYTES, type LargeTexts } from './large-texts.ts';
import type { RequestKeys } from './request-keys.ts';

/** Travels between the main thread and the writer thread. */
type Task = RemovalTask<'events' | SharedPart | 'texts'>;

export type RemovalStep = { readonly task: Task; readonly cuts: RetentionCuts; readonly rowsMax: number };

export type RemovalDone = StepTimes & { readonly end: TaskEnd<Task> };

/** A step stops after this long, however few rows it has removed: some rows are heavy. */
const STEP_TIME_MS = 20;
const CHECKPOINT_PAGES = 500;
const AT_ONCE = {
  // A query takes no more ids.
  rowsAtOnce: IDS_PER_QUERY_MAX,
  // A span may hold several texts of 1 MiB.
  heavyRowsAtOnce: 8,
};

/** Only one process has the file open, so no step is ever busy. */
export function createRetention(
  { queries: { retention: queries }, runQuery }: QueryRunner,
  remove: (step: RemovalStep) => Promise<RemovalDone>,
): RetentionStore {
  const begin = (parts: readonly Task['part'][], cuts: RetentionCuts) =>
    beginWalk(
      parts.map((part): Task => ({ part, after: 0 })),
      (task, rowsMax) => remove({ task, cuts, rowsMax }),
    );
  return {
    traceTerms: async () => (await runQuery(queries.listTraceTerms, {})).map(({ storedDays }) => storedDays),
    backlog: createBacklog(queries, runQuery),
    // Texts last: they become unused by the removals before.
    begin: (cuts) => begin(['events', ...SHARED_PARTS, 'texts'], cuts),
    beginErasure: () => begin(['traces', 'texts'], NO_CUTS),
  };
}

type RemovalDeps = {
  readonly db: Database;
  readonly transact: Transact;
  readonly requests: RequestKeys;
  readonly largeTexts: Pick<LargeTexts, 'freeSome'>;
  /** Monotonic. */
  readonly nowMs?: () => number;
};

/** The writer's side of retention. */
export function prepareRemoval({
  db,
  transact,
  requests,
  largeTexts,
  nowMs = () => performance.now(),
}: RemovalDeps): (step: RemovalStep) => Promise<RemovalDone> {
  const removeEvents = prepareExpiredEvents(db, requests);

  async function remove(
    { task, cuts }: RemovalStep,
    pace: StepBudget & Pick<Transaction, 'queries'>,
  ): Promise<TaskEnd<Task>> {
    const { after, part } = task;
    if (part === 'texts') return { next: largeTexts.freeSome(pace.rowsMax * FREED_TEXT_MIN_BYTES) ? [task] : [] };
    if (part !== 'events')
      return await removePart(pace.queries.retention, { part, after }, { ...pace, cuts, sequenceAt: null });
    const { removed, next } = removeEvents({ ...pace, after, beforeMs: cuts.eventsBeforeMs });
    return { removed: { events: removed }, next: continueAfter(part, next) };
  }

  return async (step) => {
    const startedAtMs = nowMs();
    const isOver = () => nowMs() >= startedAtMs + STEP_TIME_MS;
    const { rowsMax } = step;
    let removedAtMs = startedAtMs;
    const end = await transact(async (runner) => {
      const after = await remove(step, { ...runner, ...AT_ONCE, rowsMax, isOver });
      removedAtMs = nowMs();
      return after;
    });
    // Steps change many pages. Without a checkpoint now and then, the next automatic one would cover too many steps, and
    // the commit that runs it would take too long; one after each step would write the same pages again and again.
    if (countLogPages(db) >= CHECKPOINT_PAGES) db.pragma('wal_checkpoint(PASSIVE)');
    return { end, heldMs: nowMs() - startedAtMs, removingMs: removedAtMs - startedAtMs };
  };
}

/** Pages of the write-ahead log that are not in the database yet. */
function countLogPages(db: Database): number {
  // NOOP only counts.
  const [state] = db.pragma('wal_checkpoint(NOOP)') as readonly {
    readonly log: number;
    readonly checkpointed: number;
  }[];
  return state === undefined ? 0 : state.log - state.checkpointed;
}

type EventsStep = Pick<StepBudget, 'rowsMax' | 'heavyRowsAtOnce' | 'isOver'> & {
  /** Organizations up to this number are done. */
  readonly after: number;
  readonly beforeMs: number;
};

/**
 * Removes events that are past their term, oldest first, and the requests whose events are all removed. Returns a function
 * to call inside a transaction; `next` is where the next step begins, null at the end.
 */
function prepareExpiredEvents(
  db: Database,
  requests: RequestKeys,
): (step: EventsStep) => { readonly removed: number; readonly next: number | null } {
  const statements = prepareStatements(db);

  function remove(organization: number, { createdAtMs, id, seq }: Row): void {
    statements.dropEvent.run(organization, createdAtMs, id);
    statements.dropEnvelope.run(organization, seq);
    const parsed = parseEventId(id);
    // Later events of a request are never older, so only its last event removes the request.
    if (parsed !== null) requests.remove({ organizationNumber: organization, key: parsed.base }, createdAtMs);
  }

  return ({ after, beforeMs, rowsMax, heavyRowsAtOnce, isOver }) => {
    let next = after;
    let removed = 0;
    // Every step makes progress, however little time there is.
    for (let examined = 0; examined === 0 || (examined < rowsMax && !isOver()); ) {
      const organization = statements.nextOrganization.get(next);
      if (organization === undefined) return { removed, next: null };
      const limit = Math.min(heavyRowsAtOnce, rowsMax - examined);
      const rows = statements.oldest.all(organization, beforeMs, limit);
      for (const row of rows) remove(organization, row);
      removed += rows.length;
      // Visiting an organization costs about as much as a removal.
      examined += Math.max(1, rows.length);
      if (rows.length < limit) next = organization;
    }
    return { removed, next };
  };
}

type Row = { readonly createdAtMs: number; readonly id: string; readonly seq: number };

function prepareStatements(db: Database) {
  return {
    nextOrganization: db
      .prepare<[number], number>(
        'SELECT organization_number FROM log_heads WHERE organization_number > ? ORDER BY organization_number LIMIT 1',
      )
      .pluck(),
    oldest: db.prepare<[number, number, number], Row>(
      `SELECT created_at AS createdAtMs, id, seq FROM events
       WHERE organization_number = ? AND created_at < ? ORDER BY created_at, id LIMIT ?`,
    ),
    dropEvent: db.prepare<[number, number, string]>(
      'DELETE FROM events WHERE organization_number = ? AND created_at = ? AND id = ?',
    ),
    dropEnvelope: db.prepare<[number, number]>('DELETE FROM envelopes WHERE organization_number = ? AND seq = ?'),
  };
}
