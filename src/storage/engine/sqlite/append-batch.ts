/** The group commit: the appends of a batch, which the commit queue cut, become one transaction. */

import type { Clock } from '../../../domain/clock.ts';
import type { Backlog } from '../../../domain/evaluations/backlog.ts';
import type { ActiveMonitors, JobQueueOptions } from '../../../domain/evaluations/jobs.ts';
import {
  type Append,
  type AppendOutcome,
  type Applied,
  applyBatch,
  createInsertOnlyHeuristic,
} from '../../append/apply.ts';
import { createBudgetCache } from '../../append/batch-budgets.ts';
import { type LogHeads, nextCreation, type WrittenLog, type WrittenOrganization } from '../../append/batch-log.ts';
import { toChangedSpan } from '../../append/batch-spans.ts';
import { listIndexMarks } from '../../append/batch-telemetry.ts';
import { READ_NAMES, type Reader, type ReadName } from '../../append/reader.ts';
import { newHead } from '../../delivery/work-rows.ts';
import { toError } from '../../errors.ts';
import { createActiveMonitorCache } from '../../monitors/monitors.ts';
import { toHidden } from '../../retention/expired-traces.ts';
import type { Query } from '../../statements/statement.ts';
import type { Database } from './connection.ts';
import { isConflict, isStorageFailure } from './failures.ts';
import type { LargeTexts } from './large-texts.ts';
import type { SqliteQueries } from './queries.ts';
import type { RequestKeys } from './request-keys.ts';
import { type PreparedQuery as Prepared, prepareChange, prepareQuery, prepareRows } from './run-query.ts';
import { openQueries } from './statements.ts';

// More than a batch can leave unused in the long run, because it stores less.
const FREED_MAX_BYTES = 16 * 1024 * 1024;

type AppendBatch = (appends: readonly Append[]) => readonly AppendOutcome[];

type AppendBatchDeps = {
  readonly clock: Clock;
  readonly jobQueue: JobQueueOptions;
  readonly backlog: Backlog;
  readonly requests: RequestKeys;
  readonly largeTexts: LargeTexts;
};

/** Throws when the storage fails; nothing of the batch is stored then. */
export function prepareAppendBatch(
  db: Database,
  { clock, jobQueue, backlog, requests, largeTexts }: AppendBatchDeps,
): AppendBatch {
  const queries = openQueries();
  const read = prepareReader(db, queries, requests);
  const writeTelemetry = prepareTelemetryWriter(db, queries, largeTexts);
  const writeLog = prepareLogWriter(db, queries, requests);
  const lastSequence = prepareQuery(db, queries.appendSqlite.findLastSequence);
  const heuristic = createInsertOnlyHeuristic();
  const beginToWatch = prepareActiveMonitors(db, queries.monitors);
  const budgets = createBudgetCache();
  // A batch of new rows still reads the ends of the logs.
  const readNew: Reader = (name, key) => (name === 'findLogHead' ? read(name, key) : []);

  function run(appends: readonly Append[], reader: Reader): AppendOutcome[] {
    let last: number | undefined;
    const drawSequence = () => {
      last = (last ?? lastSequence.get({})?.sequence ?? 0) + 1;
      return last;
    };
    const ends = logHeadsAt(clock());
    const activeMonitorsOf = beginToWatch();
    const deps = { read: reader, drawSequence, activeMonitorsOf, jobQueue, backlog, budgets, ...ends };
    const { outcomes, telemetry, log } = applyBatch(deps, appends);
    writeTelemetry(telemetry);
    writeLog(log);
    largeTexts.freeSome(FREED_MAX_BYTES);
    for (const [projectNumber, count] of log.jobCounts) backlog.note(projectNumber, count);
    return outcomes;
  }

  const storeAsNew = db.transaction((appends: readonly Append[]) => run(appends, readNew));
  const storeTogether = db.transaction((appends: readonly Append[]) => run(appends, read));
  // A savepoint inside of the outer transaction: a failure undoes this append alone.
  const storeAlone = db.transaction((append: Append) => run([append], read)[0] ?? null);
  const storeEach = db.transaction((appends: readonly Append[]): AppendOutcome[] =>
    appends.map((append) => {
      try {
        return requests.undoing(() => storeAlone(append));
      } catch (error) {
        if (isStorageFailure(error)) throw error;
        return toError(error);
      }
    }),
  );

  function storeAll(appends: readonly Append[]): AppendOutcome[] {
    if (heuristic.expectsInsertsOnly(appends)) {
      try {
        return requests.undoing(() => storeAsNew.immediate(appends));
      } catch (error) {
        if (!isConflict(error)) throw error;
        heuristic.recordConflict();
      }
    }
    return requests.undoing(() => storeTogether.immediate(appends));
  }

  function store(appends: readonly Append[]): AppendOutcome[] {
    try {
      return storeAll(appends);
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      // One append cannot be stored; the others are stored one by one.
      return requests.undoing(() => storeEach.immediate(appends));
    }
  }

  return (appends) => {
    const outcomes = store(appends);
    requests.noteCommit();
    return outcomes;
  };
}

function logHeadsAt(nowMs: number): LogHeads {
  return {
    beginLog(organizationNumber, stored) {
      const { seq, lastKeyIndex, resets, ...end } = stored ?? newHead(organizationNumber);
      const { createdAtMs, isReset } = nextCreation(end.createdAtMs, nowMs);
      const created = new Date(createdAtMs).toISOString();
      return { organizationNumber, seq, createdAtMs, created, lastKeyIndex, resets: resets + (isReset ? 1 : 0) };
    },
  };
}

/** The monitors of projects as of the transaction that begins: only this thread changes them. */
function prepareActiveMonitors(db: Database, { findChange, listRunningOf }: SqliteQueries['monitors']) {
  const change = prepareQuery(db, findChange);
  const list = prepareQuery(db, listRunningOf);
  const known = createActiveMonitorCache();
  function readActive(projectNumber: number): ActiveMonitors {
    const asOf = change.get({ projectNumber })?.number ?? 0;
    const before = known.activeMonitorsOf(projectNumber);
    if (before?.asOf === asOf) return before;
    const active = { asOf, monitors: asOf === 0 ? [] : list.all({ projectNumber }) };
    known.keep(projectNumber, active);
    return active;
  }
  return () => {
    const readOnce = new Map<number, ActiveMonitors>();
    return (projectNumber: number): ActiveMonitors => {
      const cached = readOnce.get(projectNumber);
      if (cached !== undefined) return cached;
      const active = readActive(projectNumber);
      readOnce.set(projectNumber, active);
      return active;
    };
  };
}

function prepareReader(db: Database, { append, traces }: SqliteQueries, requests: RequestKeys): Reader {
  const { findRootSpan, listSummaries } = traces;
  const reads: Readonly<Record<ReadName, Query<never, unknown>>> = { ...append, findRootSpan, listSummaries };
  const prepared = Object.fromEntries(READ_NAMES.map((name) => [name, prepareQuery(db, reads[name])])) as Readonly<
    Record<ReadName, Prepared<unknown, unknown>>
  >;
  return ((name: ReadName, key: never) =>
    name === 'findRequest' ? requests.find(key) : prepared[name].all(key)) as Reader;
}

/** Writes table by table, which touches the fewest pages and writes the least to the journal. */
function prepareTelemetryWriter(
  db: Database,
  { analytics, append, retention, searchIndex }: SqliteQueries,
  { prepareWrite }: LargeTexts,
): (written: Applied['telemetry']) => void {
  const hide = prepareChange(db, retention.hideTrace);
  const traces = { insert: prepareChange(db, append.insertTraces), replace: prepareChange(db, append.replaceTraces) };
  const spans = { insert: prepareWrite(append.insertSpans), replace: prepareWrite(append.replaceSpans) };
  const texts = { replace: prepareChange(db, append.replaceTexts), remove: prepareRows(db, append.removeTexts) };
  const changeSpans = prepareRows(db, append.changeSpans);
  const replaceUsageNode = prepareChange(db, append.replaceUsageNodes);
  const replaceEvaluation = prepareWrite(append.replaceEvaluations);
  const removeSaid = [
    append.removeFeedbackOf,
    append.removeAnnotationsOf,
    append.removeQueueItemsOf,
    append.removeFiringsOf,
  ].map((removal) => prepareRows(db, removal));
  const mark = prepareRows(db, searchIndex.markTraces);
  const addToHours = prepareRows(db, analytics.addHours);
  return (written) => {
    // Erasing a large trace takes long, so an append only hides it; retention removes it.
    for (const trace of written.erased) hide(toHidden(trace));
    for (const removeOf of removeSaid) removeOf(written.erased);
    for (const { row, isNew } of written.traces.values()) (isNew ? traces.insert : traces.replace)(row);
    for (const { text, ...key } of written.texts.values()) {
      if (text === null) texts.remove([key]);
      else texts.replace({ ...key, text });
    }
    for (const { row, isNew } of written.spans.values()) (isNew ? spans.insert : spans.replace)(row);
    changeSpans([...written.changedSpans.values()].map(toChangedSpan));
    for (const row of written.usageNodes.values()) replaceUsageNode(row);
    for (const row of written.evaluations.values()) replaceEvaluation(row);
    mark(listIndexMarks(written));
    addToHours(written.hours);
  };
}

function prepareLogWriter(
  db: Database,
  { append, appendSqlite: own }: SqliteQueries,
  requestKeys: RequestKeys,
): (written: WrittenLog) => void {
  const jobs = {
    store: prepareChange(db, append.storeJobs),
    remove: prepareRows(db, append.removeJobs),
    removeOf: prepareRows(db, append.removeJobsOfTraces),
  };
  const insertEvent = prepareChange(db, own.insertEvents);
  const insertEnvelope = prepareChange(db, own.insertEnvelopes);
  const insertGovernance = prepareChange(db, own.insertGovernanceEvents);
  const replaceHead = prepareChange(db, own.replaceLogHeads);
  const addToBuckets = prepareRows(db, append.addToBuckets);
  const changeLeases = prepareRows(db, append.changeLeases);

  function writeOrganization({ head, requests, events, governance, buckets }: WrittenOrganization): void {
    for (const { row, stored } of requests.values()) (stored === null ? requestKeys.insert : requestKeys.replace)(row);
    for (const event of events) insertEnvelope(event);
    for (const event of events) insertEvent(event);
    for (const row of governance.values()) insertGovernance(row);
    addToBuckets(buckets());
    if (requests.size + events.length > 0) replaceHead(head);
    requestKeys.indexSome(requests.size);
  }

  return (written) => {
    jobs.removeOf(written.erased);
    changeLeases([...written.leases.values()]);
    for (const { job, key } of written.jobs.values()) {
      if (job === null) jobs.remove([key]);
      else jobs.store(job);
    }
    for (const organization of written.organizations.values()) writeOrganization(organization.written);
  };
}
