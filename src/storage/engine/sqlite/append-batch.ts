/** The group commit: everything that came while the last commit ran becomes one transaction. */

import { addHours } from '../../../../gen/storage/sqlite/analytics-hours.ts';
import * as common from '../../../../gen/storage/sqlite/append.ts';
import * as own from '../../../../gen/storage/sqlite/append-sqlite.ts';
import { findChange, listRunningOf } from '../../../../gen/storage/sqlite/monitors.ts';
import { hideTrace } from '../../../../gen/storage/sqlite/retention.ts';
import { markTraces } from '../../../../gen/storage/sqlite/search-index.ts';
import { findRootSpan, listSummaries } from '../../../../gen/storage/sqlite/traces.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { Watch } from '../../../domain/evaluations/job-append.ts';
import type { Settle } from '../../../domain/evaluations/jobs.ts';
import { type Append, type AppendOutcome, apply } from '../../append/apply.ts';
import { createGuess } from '../../append/guess.ts';
import { toMarked } from '../../append/marked-traces.ts';
import type { Asked, Reader } from '../../append/reader.ts';
import type { LogEnds, WrittenLog } from '../../append/working-log.ts';
import { createWorkingSet, type Written } from '../../append/working-set.ts';
import type { Backlog } from '../../evaluations/backlog.ts';
import { createWatchedProjects } from '../../monitors/running.ts';
import { toHidden } from '../../retention/expired-traces.ts';
import { type Asked as Prepared, prepareChange, prepareQuestion, prepareRows } from './ask.ts';
import type { Database } from './connection.ts';
import { isConflict, isStorageFailure } from './failures.ts';

export type AppendBatch = (appends: readonly Append[]) => readonly AppendOutcome[];

export type AppendBatchDeps = {
  readonly clock: Clock;
  readonly settle: Settle;
  readonly backlog: Backlog;
};

/** Throws when the storage fails, and then nothing of the batch is stored. */
export function prepareAppendBatch(db: Database, { clock, settle, backlog }: AppendBatchDeps): AppendBatch {
  const read = prepareReader(db);
  const write = prepareWriter(db);
  const addToHours = prepareRows(db, addHours);
  const lastSequence = prepareQuestion(db, own.findLastSequence);
  const guess = createGuess();
  const beginToWatch = prepareWatch(db);
  // Where the logs end is known with the batches that are taken to be new, too.
  const readNew: Reader = (name, key) => (name === 'findLogHead' ? read(name, key) : []);

  function run(appends: readonly Append[], reader: Reader): AppendOutcome[] {
    let last: number | undefined;
    const drawSequence = () => {
      last = (last ?? lastSequence.get({})?.sequence ?? 0) + 1;
      return last;
    };
    const ends = logEnds(clock());
    const { tables, written, countHours } = createWorkingSet({
      read: reader,
      drawSequence,
      watchOf: beginToWatch(),
      settle,
      backlog,
      ...ends,
    });
    const outcomes = appends.map((append) => apply(tables, append));
    // While the spans that are to be replaced are still as they were.
    const hours = countHours();
    write(written);
    addToHours(hours);
    for (const [projectNumber, count] of written.jobCounts) backlog.note(projectNumber, count);
    return outcomes;
  }

  const storeAsNew = db.transaction((appends: readonly Append[]) => run(appends, readNew));
  const storeTogether = db.transaction((appends: readonly Append[]) => run(appends, read));
  // Inside another transaction this becomes a savepoint: what fails is undone alone.
  const storeAlone = db.transaction((append: Append) => run([append], read)[0] ?? null);
  const storeEach = db.transaction((appends: readonly Append[]): AppendOutcome[] =>
    appends.map((append) => {
      try {
        return storeAlone(append);
      } catch (error) {
        if (isStorageFailure(error)) throw error;
        return error instanceof Error ? error : new Error(String(error));
      }
    }),
  );

  function storeAll(appends: readonly Append[]): AppendOutcome[] {
    if (guess.isNew(appends)) {
      try {
        return storeAsNew.immediate(appends);
      } catch (error) {
        if (!isConflict(error)) throw error;
        guess.wasWrong();
      }
    }
    return storeTogether.immediate(appends);
  }

  return (appends) => {
    try {
      return storeAll(appends);
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      // One of them cannot be stored; the others must not pay for it.
      return storeEach.immediate(appends);
    }
  };
}

function logEnds(nowMs: number): LogEnds {
  return {
    beginLog(organizationNumber, stored) {
      // Time never runs backwards in a log, whatever the clock does.
      const createdAtMs = Math.max(nowMs, stored?.createdAtMs ?? 0);
      const created = new Date(createdAtMs).toISOString();
      return {
        organizationNumber,
        seq: stored?.seq ?? 0,
        createdAtMs,
        created,
        lastKeyIndex: stored?.lastKeyIndex ?? 0,
      };
    },
  };
}

/** The monitors of projects as they are in the transaction that begins: only this thread changes them. */
function prepareWatch(db: Database) {
  const change = prepareQuestion(db, findChange);
  const list = prepareQuestion(db, listRunningOf);
  const known = createWatchedProjects();
  function look(projectNumber: number): Watch {
    const asOf = change.get({ projectNumber })?.number ?? 0;
    const before = known.watchOf(projectNumber);
    if (before?.asOf === asOf) return before;
    const watch = { asOf, monitors: asOf === 0 ? [] : list.all({ projectNumber }) };
    known.keep(projectNumber, watch);
    return watch;
  }
  return () => {
    const looked = new Map<number, Watch>();
    return (projectNumber: number): Watch => {
      const known = looked.get(projectNumber);
      if (known !== undefined) return known;
      const watch = look(projectNumber);
      looked.set(projectNumber, watch);
      return watch;
    };
  };
}

function prepareReader(db: Database): Reader {
  const asked: Readonly<Record<Asked, Prepared<unknown, unknown>>> = {
    findTrace: prepareQuestion(db, common.findTrace),
    findSpan: prepareQuestion(db, common.findSpan),
    findWholeSpan: prepareQuestion(db, common.findWholeSpan),
    findSpanId: prepareQuestion(db, common.findSpanId),
    findRequest: prepareQuestion(db, common.findRequest),
    findGovernanceEvent: prepareQuestion(db, common.findGovernanceEvent),
    findLogHead: prepareQuestion(db, common.findLogHead),
    findEvent: prepareQuestion(db, common.findEvent),
    findJob: prepareQuestion(db, common.findJob),
    findRootSpan: prepareQuestion(db, findRootSpan),
    listOverdue: prepareQuestion(db, common.listOverdue),
    listSummaries: prepareQuestion(db, listSummaries),
  };
  return ((name: Asked, key: unknown) => asked[name].all(key)) as Reader;
}

/** Rows are written table by table: that is what pages and the journal take least of. */
function prepareWriter(db: Database): (written: Written) => void {
  const hide = prepareChange(db, hideTrace);
  const traces = { insert: prepareChange(db, common.insertTraces), replace: prepareChange(db, common.replaceTraces) };
  const spans = { insert: prepareChange(db, common.insertSpans), replace: prepareChange(db, common.replaceSpans) };
  const replaceEvaluation = prepareChange(db, common.replaceEvaluations);
  const jobs = {
    store: prepareChange(db, common.storeJobs),
    remove: prepareRows(db, common.removeJobs),
    removeOf: prepareRows(db, common.removeJobsOfTraces),
  };
  const requests = { insert: prepareChange(db, own.insertRequests), replace: prepareChange(db, own.replaceRequests) };
  const insertEvent = prepareChange(db, own.insertEvents);
  const insertEnvelope = prepareChange(db, own.insertEnvelopes);
  const insertGovernance = prepareChange(db, own.insertGovernanceEvents);
  const replaceHead = prepareChange(db, own.replaceLogHeads);

  function writeLog({ head, requests: entries, events, governance }: WrittenLog): void {
    for (const { row, stored } of entries.values()) (stored === null ? requests.insert : requests.replace)(row);
    for (const event of events) insertEnvelope(event);
    for (const event of events) insertEvent(event);
    for (const row of governance.values()) insertGovernance(row);
    if (entries.size + events.length > 0) replaceHead(head);
  }

  const mark = prepareRows(db, markTraces);

  return (written) => {
    // A large one takes long to erase, so it only goes out of reach here; retention removes it.
    for (const trace of written.erased) hide(toHidden(trace));
    jobs.removeOf(written.erased);
    for (const { row, isNew } of written.traces.values()) (isNew ? traces.insert : traces.replace)(row);
    for (const { row, isNew } of written.spans.values()) (isNew ? spans.insert : spans.replace)(row);
    for (const row of written.evaluations.values()) replaceEvaluation(row);
    mark(toMarked(written));
    for (const { job, key } of written.jobs.values()) {
      if (job === null) jobs.remove([key]);
      else jobs.store(job);
    }
    for (const { written: log } of written.logs.values()) writeLog(log);
  };
}
