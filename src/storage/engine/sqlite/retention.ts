/** Retention on SQLite: each step is one short transaction of the writer. */

import type { LogCuts } from '../../../domain/events/log-port.ts';
import { parseEventId } from '../../../domain/events/request-event.ts';
import type { ManagementCuts } from '../../../domain/management/management-port.ts';
import type { RetentionTask, StepTimes } from '../../../domain/retention-walk.ts';
import type { TelemetryCuts } from '../../../domain/traces/telemetry-port.ts';
import { IDS_PER_QUERY_MAX } from '../../queries.ts';
import { createBacklog } from '../../retention/backlog.ts';
import { LOG_PARTS } from '../../retention/log-parts.ts';
import { MANAGEMENT_PARTS } from '../../retention/management-parts.ts';
import {
  endOf,
  type PartEnd,
  type Parts,
  type RemovePart,
  type RetentionQueries,
  type StepBudget,
} from '../../retention/parts.ts';
import { NO_CUTS, TELEMETRY_PARTS } from '../../retention/telemetry-parts.ts';
import type { Engine } from '../../store.ts';
import type { QueryRunner, Transact } from '../../transaction.ts';
import type { Database } from './connection.ts';
import { FREED_TEXT_MIN_BYTES, type LargeTexts } from './large-texts.ts';
import type { RequestKeys } from './request-keys.ts';

type TelemetryPart = keyof typeof TELEMETRY_PARTS;

/** Travels from the main thread to the writer thread. */
export type Removal = { readonly after: number } & (
  | { readonly port: 'log'; readonly part: 'events' | keyof typeof LOG_PARTS; readonly cuts: LogCuts }
  | { readonly port: 'telemetry'; readonly part: TelemetryPart | 'texts'; readonly cuts: TelemetryCuts }
  | { readonly port: 'management'; readonly part: keyof typeof MANAGEMENT_PARTS; readonly cuts: ManagementCuts }
);

export type RemovalStep = { readonly removal: Removal; readonly rowsMax: number };

export type RemovalDone = StepTimes & { readonly end: PartEnd };

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
): Pick<Engine, 'logRetention' | 'telemetryRetention' | 'managementRetention'> {
  function taskOf(removal: Removal): RetentionTask {
    return async (rowsMax) => {
      const { end, ...times } = await remove({ removal, rowsMax });
      const { next, ...removed } = end;
      return { ...times, end: { ...removed, next: next === null ? [] : [taskOf({ ...removal, after: next })] } };
    };
  }

  const after = 0;
  // Texts last: they become unused by the removals before.
  const telemetryTasks = (parts: readonly TelemetryPart[], cuts: TelemetryCuts) =>
    [...parts, 'texts' as const].map((part) => taskOf({ port: 'telemetry', part, cuts, after }));
  return {
    logRetention: {
      begin: (cuts) =>
        (['events', ...namesOf(LOG_PARTS)] as const).map((part) => taskOf({ port: 'log', part, cuts, after })),
    },
    telemetryRetention: {
      begin: (cuts) => telemetryTasks(namesOf(TELEMETRY_PARTS), cuts),
      backlog: createBacklog(queries, runQuery),
      beginErasure: async () => telemetryTasks(['traces'], NO_CUTS),
    },
    managementRetention: {
      begin: (cuts) => namesOf(MANAGEMENT_PARTS).map((part) => taskOf({ port: 'management', part, cuts, after })),
      traceTerms: async () => (await runQuery(queries.listTraceTerms, {})).map(({ storedDays }) => storedDays),
    },
  };
}

function namesOf<Name extends string>(parts: { readonly [Each in Name]: unknown }): readonly Name[] {
  return Object.keys(parts) as Name[];
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
  const log = { events: prepareExpiredEvents(db, requests), ...LOG_PARTS } satisfies Parts<LogCuts>;
  const telemetry = {
    ...TELEMETRY_PARTS,
    texts: async (_, { rowsMax }) => endOf(largeTexts.freeSome(rowsMax * FREED_TEXT_MIN_BYTES)),
  } satisfies Parts<TelemetryCuts>;

  function remove(removal: Removal, queries: RetentionQueries, budget: StepBudget): Promise<PartEnd> {
    const step = { ...budget, sequenceAt: null };
    switch (removal.port) {
      case 'log':
        return log[removal.part](queries, { ...step, ...removal });
      case 'telemetry':
        return telemetry[removal.part](queries, { ...step, ...removal });
      case 'management':
        return MANAGEMENT_PARTS[removal.part](queries, { ...step, ...removal });
    }
  }

  return async ({ removal, rowsMax }) => {
    const startedAtMs = nowMs();
    const isOver = () => nowMs() >= startedAtMs + STEP_TIME_MS;
    let removedAtMs = startedAtMs;
    const end = await transact(async (runner) => {
      const done = await remove(removal, runner.queries.retention, { ...runner, ...AT_ONCE, rowsMax, isOver });
      removedAtMs = nowMs();
      return done;
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

/**
 * Removes events that are past their term, oldest first, and the requests whose events are all removed; `after` is the
 * number of the last organization that is done.
 */
function prepareExpiredEvents(db: Database, requests: RequestKeys): RemovePart<LogCuts> {
  const statements = prepareStatements(db);

  function remove(organization: number, { createdAtMs, id, seq }: Row): void {
    statements.dropEvent.run(organization, createdAtMs, id);
    statements.dropEnvelope.run(organization, seq);
    const parsed = parseEventId(id);
    // Later events of a request are never older, so only its last event removes the request.
    if (parsed !== null) requests.remove({ organizationNumber: organization, key: parsed.base }, createdAtMs);
  }

  return async (_, { cuts, after, rowsMax, heavyRowsAtOnce, isOver }) => {
    let next = after;
    let events = 0;
    // Every step makes progress, however little time there is.
    for (let examined = 0; examined === 0 || (examined < rowsMax && !isOver()); ) {
      const organization = statements.nextOrganization.get(next);
      if (organization === undefined) return { removed: { events }, next: null };
      const limit = Math.min(heavyRowsAtOnce, rowsMax - examined);
      const rows = statements.oldest.all(organization, cuts.eventsBeforeMs, limit);
      for (const row of rows) remove(organization, row);
      events += rows.length;
      // Visiting an organization costs about as much as a removal.
      examined += Math.max(1, rows.length);
      if (rows.length < limit) next = organization;
    }
    return { removed: { events }, next };
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
