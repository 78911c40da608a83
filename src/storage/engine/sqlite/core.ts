/** The writer: every verb that needs the write handle, one at a time. The same code runs in a thread and in-process. */

import type { Kysely } from 'kysely';
import type { Clock } from '../../../domain/clock.ts';
import { createBacklog } from '../../../domain/evaluations/backlog.ts';
import { JOB_QUEUE_DEFAULTS, type JobQueueOptions } from '../../../domain/evaluations/jobs.ts';
import type { TraceChangeStore } from '../../../domain/traces/trace-changes.ts';
import { createPeopleWriter, type PeopleWriter } from '../../annotations/writers.ts';
import { type AnswerWork, createAnswerWork } from '../../answers/answers.ts';
import type { Append, AppendOutcome } from '../../append/apply.ts';
import type { LookUps } from '../../append/reader.ts';
import { createLeaseWork, type LeaseWork } from '../../budgets/leases.ts';
import { createDeliveryWork, type DeliveryWork } from '../../delivery/work.ts';
import { createJobWork, type JobWork } from '../../evaluations/jobs.ts';
import { createRooms } from '../../management/rooms.ts';
import { createUnit, type Mapper, unitOn } from '../../mapper.ts';
import type { OfNumbers } from '../../queries.ts';
import type { IndexStep } from '../../search/index-steps.ts';
import { createSpendWriter, type SpendWriter } from '../../spend/spend-blocks.ts';
import type { Query } from '../../statements/statement.ts';
import { createLogRecordWriter, type LogRecordWriter } from '../../traces/log-records.ts';
import { createTraceChanges } from '../../traces/trace-changes.ts';
import { createKeepSums, type KeepSums } from '../../traces/trace-finder.ts';
import type { Transact } from '../../transaction.ts';
import { createWriteWatch } from '../../write-watch.ts';
import { prepareAppendBatch } from './append-batch.ts';
import type { Database } from './connection.ts';
import { isConflict, isStorageFailure } from './failures.ts';
import { prepareLargeTexts } from './large-texts.ts';
import { connectTo, openMapper } from './mapper.ts';
import type { SqliteQueries } from './queries.ts';
import { prepareRequestKeys } from './request-keys.ts';
import { prepareRemoval, type RemovalDone, type RemovalStep } from './retention.ts';
import { listVerbs, type RoomVerb, type RoomVerbs } from './rooms.ts';
import { createPrepareOnce, type PreparedQuery, prepareChange, prepareQuery, prepareRows } from './run-query.ts';
import { openDatabase } from './schema.ts';

import { openQueries } from './statements.ts';

/** The verbs of the writer. They reject with SQLite's own error when the storage fails. */
export type WriterVerbs = RoomVerbs &
  TraceChangeStore &
  DeliveryWork &
  SpendWriter &
  LogRecordWriter &
  PeopleWriter &
  LeaseWork &
  AnswerWork &
  JobWork & {
    append(appends: readonly Append[]): Promise<readonly AppendOutcome[]>;
    keepSums: KeepSums;
    /** One step of retention. */
    removeExpired(step: RemovalStep): Promise<RemovalDone>;
    /** Stores that the index of traces has a step. */
    endIndexStep(step: IndexStep): Promise<void>;
    /** Of the newest requests only the writer knows where they are. */
    findRequest: LookUps['findRequest'];
    /** Resolves when reads and writes work. */
    check(): Promise<void>;
  };

type ReadVerb = 'check' | 'findRequest';

export type Core = {
  readonly verbs: WriterVerbs;
  /** Runs a job on the write handle between two verbs. */
  run<T>(job: () => T | Promise<T>): Promise<T>;
  /** Closes the handle once all earlier jobs are done. */
  close(): Promise<void>;
};

/** Rejects with the unavailable Fault when the storage fails or the writer has ended. */
export type CallWriter = <V extends keyof WriterVerbs>(
  verb: V,
  ...args: Parameters<WriterVerbs[V]>
) => ReturnType<WriterVerbs[V]>;

export type Writer = {
  readonly call: CallWriter;
  /** Finishes all calls, then closes the database. */
  close(): Promise<void>;
};

type OpenCoreOptions = {
  readonly file: string;
  readonly clock: Clock;
  /** Runs before each write; throws where another process may have the database. */
  readonly requireLock?: (() => void) | undefined;
  /** How long a trace must be quiet before it is evaluated. */
  readonly jobQueue?: JobQueueOptions;
};

export type OpenedCore = { readonly core: Core; readonly db: Database; readonly queries: SqliteQueries };

/** Throws StartError for a file that cannot be used. */
export function openCore({ file, clock, requireLock, jobQueue = JOB_QUEUE_DEFAULTS }: OpenCoreOptions): OpenedCore {
  const db = openDatabase(file);
  return { core: createCore({ db, clock, requireLock, jobQueue }), db, queries: openQueries() };
}

type CoreDeps = Pick<OpenCoreOptions, 'clock' | 'requireLock'> & {
  readonly db: Database;
  readonly jobQueue: JobQueueOptions;
};

function createCore({ db, clock, requireLock, jobQueue }: CoreDeps): Core {
  const countSome = prepareQuery(db, openQueries().evaluations.countSomeJobs);
  const backlog = createBacklog({
    waitingMax: jobQueue.waitingMax,
    nowMs: () => performance.now(),
    // Queued with the verbs, which wait for one step of a count at most.
    countSome: (some) => run(() => countSome.get(some)),
  });
  const requests = prepareRequestKeys(db);
  const largeTexts = prepareLargeTexts(db);
  const appendBatch = prepareAppendBatch(db, { clock, jobQueue, backlog, requests, largeTexts });
  const [mapper, connection] = [openMapper(), connectTo(db)];
  const transact = createTransact(db, mapper, connection);
  const keepSums = createKeepSums(transact);
  const spendWriter = createSpendWriter(transact);
  const logRecords = createLogRecordWriter(transact);
  const people = createPeopleWriter(transact, { jobQueue, backlog });
  const traceChanges = createTraceChanges(transact, { jobQueue, backlog });
  const removeExpired = prepareRemoval({ db, transact, requests, largeTexts });
  const endIndexStep = prepareStepEnd(db);
  const deliveries = createDeliveryWork(transact, isConflict);
  const jobs = createJobWork(transact, backlog);
  const leases = createLeaseWork(transact);
  const answers = createAnswerWork(transact);
  const probe = prepareProbe(db);
  const { watch, doWritesFail } = createWriteWatch(isStorageFailure);
  let last: Promise<unknown> = Promise.resolve();

  /** Verbs run one after the other: each has a transaction of its own on the one handle. */
  function run<T>(job: () => T | Promise<T>): Promise<T> {
    const result = last.then(job).finally(() => {
      if (db.open && db.inTransaction) db.exec('ROLLBACK');
    });
    last = result.catch(() => undefined);
    return result;
  }

  function write<T>(job: () => T | Promise<T>): Promise<T> {
    return run(() => {
      requireLock?.();
      return watch(job);
    });
  }

  function inTurn(served: Omit<WriterVerbs, ReadVerb | RoomVerb>): Omit<WriterVerbs, ReadVerb | RoomVerb> {
    const verbs = Object.entries<(...args: never[]) => Promise<unknown>>(served);
    const each = verbs.map(([verb, serve]) => [verb, (...args: never[]) => write(() => serve(...args))]);
    return Object.fromEntries(each);
  }

  return {
    verbs: {
      ...listVerbs(
        createRooms({
          read: (body) => run(() => body(unitOn(mapper, connection))),
          transact: (body) => write(() => transact(body)),
          log: { nowMs: async () => clock(), prepare: async () => undefined, isEnvelopeApart: true },
        }),
      ),
      ...inTurn({
        ...traceChanges,
        ...deliveries,
        ...spendWriter,
        ...logRecords,
        ...people,
        ...jobs,
        ...leases,
        ...answers,
        append: async (appends) => appendBatch(appends),
        keepSums,
        removeExpired,
        endIndexStep: async (step) => endIndexStep(step),
      }),
      findRequest: (key) => run(() => requests.find(key)),
      check: () =>
        doWritesFail()
          ? write(probe.write)
          : run(() => {
              requireLock?.();
              probe.read();
            }),
    },
    run,
    close: () => run(() => void db.close()),
  };
}

function prepareStepEnd(db: Database): (step: IndexStep) => void {
  const removePending = prepareRows(db, openQueries().searchIndex.removePending);
  const [removeState, insertState] = [
    db.prepare('DELETE FROM search_state'),
    db.prepare<[string]>('INSERT INTO search_state VALUES (?)'),
  ];
  const end = db.transaction(({ step, marks }: IndexStep) => {
    removePending(marks.map(({ sequence: traceSequence, ...mark }) => ({ ...mark, traceSequence })));
    removeState.run();
    insertState.run(step);
  });
  return end.immediate;
}

function prepareProbe(db: Database): { read(): void; write(): void } {
  const read = db.prepare('SELECT count(*) FROM installation');
  // More than free pages can hold, so that the write succeeds only if the file can grow.
  const filler = Buffer.alloc(65_536);
  const { fillProbe, emptyProbe } = openQueries().append;
  const [fill, empty] = [prepareChange(db, fillProbe), prepareChange(db, emptyProbe)];
  return {
    read: () => void read.get(),
    write: () => {
      fill({ filler });
      empty({});
    },
  };
}

/** Transactions on the handle that writes. The caller lets each end before the next begins. */
export function createTransact(db: Database, mapper: Mapper, connection: Kysely<unknown>): Transact {
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const prepareOnce = createPrepareOnce(db);

  async function runQuery<Params, Row>(query: Query<Params, Row>, params: Params): Promise<readonly Row[]> {
    return prepareOnce(prepareQuery<Params, Row>, query).all(params);
  }

  return async (body) => {
    begin.run();
    const unit = createUnit(mapper, () => connection);
    try {
      const result = await body({
        get em() {
          return unit.use();
        },
        queries: openQueries(),
        isSingleProcess: true,
        runQuery,
        async queryByNumbers(query, numbers) {
          const prepared = prepareOnce(prepareQuery, query) as PreparedQuery<OfNumbers, never>;
          return numbers.flatMap((number) => prepared.all({ numbers: [number] }));
        },
        change: async (source, params) => prepareOnce(prepareChange, source)(params),
        changeRows(source, rows) {
          if (rows.length > 0) prepareOnce(prepareRows, source)(rows);
        },
      });
      await unit.settle();
      commit.run();
      return result;
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}
