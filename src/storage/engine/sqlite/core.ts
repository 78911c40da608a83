/** The writer: every verb that needs the write handle, one at a time. The same code runs in a thread and in-process. */

import * as questions from '../../../../gen/storage/sqlite/all.ts';
import { emptyProbe, fillProbe } from '../../../../gen/storage/sqlite/append.ts';
import { countSomeJobs } from '../../../../gen/storage/sqlite/evaluations.ts';
import type { Clock } from '../../../domain/clock.ts';
import { SETTLE, type Settle } from '../../../domain/evaluations/jobs.ts';
import type { Append, AppendOutcome } from '../../append/apply.ts';
import { createDeliveryWork, type DeliveryWork } from '../../delivery/work.ts';
import { createBacklog } from '../../evaluations/backlog.ts';
import { createJobWork, type JobWork } from '../../evaluations/jobs.ts';
import { createManagementWriter, type ManagementWriter } from '../../management.ts';
import { withQuestions } from '../../questions.ts';
import { createIndexWriter, type IndexWriter } from '../../search/index-writer.ts';
import { createSpendWriter, type SpendWriter } from '../../spend/spend-writer.ts';
import type { KeepSums } from '../../traces/complete-sums.ts';
import { createKeepSums } from '../../traces/trace-finder.ts';
import { prepareAppendBatch } from './append-batch.ts';
import { createTransact, prepareChange, prepareQuestion } from './ask.ts';
import type { Database } from './connection.ts';
import { isStorageFailure, storageFault } from './failures.ts';
import { prepareRemoval, type RemovalDone, type RemovalStep } from './retention.ts';
import { openDatabase } from './schema.ts';

/** What the writer can be asked for. Rejects with the database's own error when the storage fails. */
export type WriterVerbs = ManagementWriter &
  DeliveryWork &
  IndexWriter &
  SpendWriter &
  JobWork & {
    append(appends: readonly Append[]): Promise<readonly AppendOutcome[]>;
    keepSums: KeepSums;
    /** One step of retention. */
    removeExpired(step: RemovalStep): Promise<RemovalDone>;
    /** Resolves when reads and writes work. */
    check(): Promise<void>;
  };

export type Core = {
  readonly verbs: WriterVerbs;
  /** Runs something on the write handle between two verbs. */
  run<T>(job: () => T | Promise<T>): Promise<T>;
  /** Closes the handle once everything asked for before is done. */
  close(): Promise<void>;
};

/** Rejects with the unavailable Fault when the storage fails or the writer is gone. */
export type CallWriter = <V extends keyof WriterVerbs>(
  verb: V,
  ...args: Parameters<WriterVerbs[V]>
) => ReturnType<WriterVerbs[V]>;

export type Writer = {
  readonly call: CallWriter;
  /** Finishes what was asked for, then lets go of the database. */
  close(): Promise<void>;
};

export type OpenCoreOptions = {
  readonly file: string;
  readonly clock: Clock;
  /** How long traces are left alone before they are evaluated. */
  readonly settle?: Settle;
};

export type OpenedCore = { readonly core: Core; readonly db: Database };

/** Throws StartError for a file that cannot be used. */
export function openCore({ file, clock, settle = SETTLE }: OpenCoreOptions): OpenedCore {
  const db = openDatabase(file);
  return { core: createCore({ db, clock, settle }), db };
}

/** The writer in the calling thread, for databases that live in memory. */
export function callInline({ verbs }: Core): CallWriter {
  const call = async (verb: keyof Core['verbs'], ...args: readonly unknown[]): Promise<unknown> => {
    const run = verbs[verb] as (...args: readonly unknown[]) => Promise<unknown>;
    try {
      return await run(...args);
    } catch (error) {
      throw isStorageFailure(error) ? storageFault(error) : error;
    }
  };
  return call as CallWriter;
}

export type CoreDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly settle: Settle;
};

export function createCore({ db, clock, settle }: CoreDeps): Core {
  const countSome = prepareQuestion(db, countSomeJobs);
  const backlog = createBacklog({
    waitingMax: settle.waitingMax,
    nowMs: () => performance.now(),
    // In turn with the verbs, which wait for one step of a count at most.
    countSome: (some) => run(() => countSome.get(some)),
  });
  const appendBatch = prepareAppendBatch(db, { clock, settle, backlog });
  const transact = createTransact(db);
  const keepSums = createKeepSums(withQuestions(questions, transact));
  const indexWriter = createIndexWriter(withQuestions(questions, transact));
  const spendWriter = createSpendWriter(withQuestions(questions, transact));
  const management = createManagementWriter(questions, transact, { settle, backlog });
  const removeExpired = prepareRemoval(db, transact);
  const deliveries = createDeliveryWork(questions, transact);
  const jobs = createJobWork(questions, transact, backlog);
  const probe = prepareProbe(db);
  let last: Promise<unknown> = Promise.resolve();
  let writesFail = false;

  /** A verb runs to its end before the next: a transaction of one must never hold rows of another. */
  function run<T>(job: () => T | Promise<T>): Promise<T> {
    const result = last.then(job).finally(() => {
      if (db.open && db.inTransaction) db.exec('ROLLBACK');
    });
    last = result.catch(() => undefined);
    return result;
  }

  function write<T>(job: () => T | Promise<T>): Promise<T> {
    return run(async () => {
      try {
        const answer = await job();
        writesFail = false;
        return answer;
      } catch (error) {
        if (isStorageFailure(error)) writesFail = true;
        throw error;
      }
    });
  }

  function inTurn(served: Omit<WriterVerbs, 'check'>): Omit<WriterVerbs, 'check'> {
    const verbs = Object.entries<(...args: never[]) => Promise<unknown>>(served);
    const each = verbs.map(([verb, serve]) => [verb, (...args: never[]) => write(() => serve(...args))]);
    return Object.fromEntries(each);
  }

  return {
    verbs: {
      ...inTurn({
        ...management,
        ...deliveries,
        ...indexWriter,
        ...spendWriter,
        ...jobs,
        append: async (appends) => appendBatch(appends),
        keepSums,
        removeExpired,
      }),
      // Writing is tried only after it has failed: otherwise a full disk would be known already.
      check: () => (writesFail ? write(probe.write) : run(probe.read)),
    },
    run,
    close: () => run(() => void db.close()),
  };
}

function prepareProbe(db: Database): { read(): void; write(): void } {
  const read = db.prepare('SELECT count(*) FROM installation');
  // More than free room inside of pages can hold, so that it succeeds only when the file may grow.
  const filler = Buffer.alloc(65_536);
  const [fill, empty] = [prepareChange(db, fillProbe), prepareChange(db, emptyProbe)];
  return {
    read: () => void read.get(),
    write: () => {
      fill({ filler });
      empty({});
    },
  };
}
