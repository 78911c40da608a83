/** Puts the SQLite store together: reads on their own handle, writes through the writer. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import * as questions from '../../../../gen/storage/sqlite/all.ts';
import { findEvent, findRequest } from '../../../../gen/storage/sqlite/append.ts';
import { SETTLE, type Settle } from '../../../domain/evaluations/jobs.ts';
import type { Store } from '../../../domain/store.ts';
import { cacheKeyReads } from '../../keys/key-cache.ts';
import { isSeenByAuthentication, spreadManagement } from '../../management.ts';
import { createIndexQueue } from '../../search/index-builder.ts';
import { spreadIndexWriter } from '../../search/index-writer.ts';
import { createIndexer } from '../../search/indexer.ts';
import { createSpendBlocks } from '../../spend/spend-blocks.ts';
import { spreadSpendWriter } from '../../spend/spend-writer.ts';
import { StartError } from '../../start-error.ts';
import { createStore, type Engine, type StoreLog, type StoreState } from '../../store.ts';
import { completeSums } from '../../traces/complete-sums.ts';
import { takeInTurns } from '../../traces/trace-reads.ts';
import { createAsking } from './ask.ts';
import { type Database, openReadHandle, type ReadLane, readAtOnce } from './connection.ts';
import { type CallWriter, callInline, type OpenedCore, openCore, type WriterVerbs } from './core.ts';
import { type Lock, takeLock } from './lock.ts';
import { paceReads } from './read-pace.ts';
import { createRetention } from './retention.ts';
import { createSpendReads } from './spend-reader.ts';
import { spawnThread } from './thread-calls.ts';
import { createThreadReader, type LongReads, spawnReader } from './thread-reader.ts';
import { startThreadWriter } from './thread-writer.ts';
import { createAnalytics, createFinder, createSearch, createTraceReader, sortOutReads } from './trace-reader.ts';
import { createWake } from './wake.ts';

export type SqliteStoreOptions = {
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
  /** See OpenCoreOptions. */
  readonly settle?: Settle;
  /** Monotonic milliseconds, by which kept answers age. */
  readonly nowMs?: () => number;
};

// One batch commits while the next one is on its way, so that the writer never waits for the main thread.
const BATCHES_UNDER_WAY_MAX = 2;
// Of the thread, in MiB. Large posts make garbage, which the collector would let grow to twice that before it looks.
const WRITER_HEAP = { maxYoungGenerationSizeMb: 48 };
// Everybody who writes waits for a step of housekeeping to end, and everybody in the process for a read.
const SWEPT_MAX = 250;
const SEARCHED_AT_ONCE = 5_000;
/** For whoever edits the file behind the server's back: even that is seen soon. */
const KEY_AGE_MAX_MS = 1_000;

/** A database in a file, with the writer in its own thread. Throws StartError. */
export async function openFileStore(file: string, options: SqliteStoreOptions): Promise<Store> {
  createFolder(dirname(file));
  const lock = takeLock(file);
  try {
    return await openLocked(file, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openLocked(file: string, lock: Lock, options: SqliteStoreOptions): Promise<Store> {
  const { log, settle = SETTLE } = options;
  const spawn = () => spawnThread({ thread: 'writer', file, settle }, WRITER_HEAP);
  const writer = await startThreadWriter({ log, spawn });
  try {
    // Opened last and closed first: the writer then leaves one tidy file behind.
    const reader = openReadHandle(file);
    const threadReader = createThreadReader({ spawn: () => spawnReader(file) });
    const release = async () => {
      await threadReader.close();
      reader.close();
      await writer.close();
      lock.release();
    };
    const { call } = writer;
    return assembleStore({ ...options, call, reader, lane: readAtOnce, longReads: threadReader.reads, release });
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** A database that is gone when the process is. */
export async function openMemoryStore(options: SqliteStoreOptions): Promise<Store> {
  return createInlineStore(openCore({ file: ':memory:', clock: Date.now, settle: options.settle ?? SETTLE }), options);
}

/** A store on the one handle of a writer in the calling thread. */
export function createInlineStore({ core, db }: OpenedCore, options: SqliteStoreOptions): Store {
  // Reads wait for their turn, or they would see what a transaction has not committed.
  const lane: ReadLane = (read) => core.run(() => readAtOnce(read));
  // What is in memory is seen by the thread alone that has it.
  const longReads = null;
  return assembleStore({
    ...options,
    call: callInline(core),
    reader: db,
    lane,
    longReads,
    release: () => core.close(),
  });
}

type Parts = SqliteStoreOptions & {
  readonly call: CallWriter;
  readonly reader: Database;
  readonly lane: ReadLane;
  /** Where long reads are done; null: like all others. */
  readonly longReads: LongReads | null;
  readonly release: () => Promise<void>;
};

function assembleStore(parts: Parts): Store {
  const limits = { queueMaxBytes: parts.queueMaxBytes, batchesUnderWayMax: BATCHES_UNDER_WAY_MAX };
  return createStore(limits, (state) => startEngine(parts, state));
}

function startEngine(
  { call, reader, lane, longReads, release, nowMs = () => performance.now() }: Parts,
  { isClosed, refuseWhenClosed, isBusy }: StoreState,
): Engine {
  // Counts the writes that authentication must see (see key-cache.ts): only this process writes to the file, its lock
  // sees to that.
  let generation = 0;
  const wake = createWake();
  const openLane: ReadLane = async (read) => {
    refuseWhenClosed();
    return await lane(read);
  };
  const openCall = (async (verb: keyof WriterVerbs, ...args: Parameters<WriterVerbs[typeof verb]>) => {
    refuseWhenClosed();
    try {
      return await call(verb, ...args);
    } finally {
      // A failed write too: what became of it may be unknown.
      if (isSeenByAuthentication(verb)) generation += 1;
    }
  }) as CallWriter;
  const control = createAsking(reader, openLane, questions);
  const pacedLane = paceReads({ lane: openLane, isBusy, nowMs: () => performance.now(), wait: delay, nextTurn });
  const reads = createAsking(reader, pacedLane, questions);
  const finder = createFinder(reader, pacedLane);
  const traceReader = createTraceReader(reader, pacedLane, takeInTurns);
  const searchReads = longReads ?? createSearch(reader, pacedLane);
  const spendReads = longReads ?? createSpendReads(reader, pacedLane);
  return {
    control,
    reads,
    management: control,
    writer: spreadManagement(openCall),
    cacheKeys: (keys) =>
      cacheKeyReads({
        reader: keys,
        // Nothing that is kept is of the generation of a closed store.
        generation: () => (isClosed() ? -1 : generation),
        age: { maxMs: KEY_AGE_MAX_MS, nowMs },
      }),
    append: (appends) => call('append', appends),
    traces: {
      ...finder,
      find: completeSums({
        find: finder.find,
        sums: (longReads ?? traceReader).sums,
        keep: (trace, sums) => openCall('keepSums', trace, sums),
      }),
      ...(longReads === null ? traceReader : sortOutReads(traceReader, longReads)),
    },
    lookUps: {
      findRequest: (key) => reads.ask(findRequest, key),
      findEvent: (key) => reads.ask(findEvent, key),
    },
    analytics: longReads ?? createAnalytics(reader, pacedLane),
    search: { find: searchReads.find, match: searchReads.match },
    searchIndex: createIndexer({
      queue: createIndexQueue(control),
      reads: searchReads,
      writer: spreadIndexWriter(openCall),
      clock: Date.now,
    }),
    spend: { sum: spendReads.sum },
    spendBlocks: createSpendBlocks({ reads: spendReads, writer: spreadSpendWriter(openCall), clock: Date.now }),
    retention: createRetention(control.ask, (step) => openCall('removeExpired', step)),
    delivery: {
      ask: control.ask,
      askAside: control.ask,
      searchedAtOnce: SEARCHED_AT_ONCE,
      wake,
      work: {
        applyWork: (work, at) => openCall('applyWork', work, at),
        sweepDeliveries: (step) => openCall('sweepDeliveries', step),
        beginTest: (test, limit) => openCall('beginTest', test, limit),
        endTest: (test, verdict, endedAtMs) => openCall('endTest', test, verdict, endedAtMs),
      },
      sweptMax: SWEPT_MAX,
      nowMs: async () => null,
      // Only one process has the file open.
      isAlone: true,
      onReconnect: () => undefined,
    },
    jobs: {
      claimJobs: (question) => openCall('claimJobs', question),
      renewJobs: (jobs, untilMs) => openCall('renewJobs', jobs, untilMs),
      releaseJobs: (jobs, nowMs) => openCall('releaseJobs', jobs, nowMs),
      takeOverJobs: (question) => openCall('takeOverJobs', question),
      enqueueJobs: (jobs) => openCall('enqueueJobs', jobs),
      refusedJobs: () => openCall('refusedJobs'),
    },
    notify: wake.notify,
    check: async () => {
      await control.ask(questions.organization.findAnyOrganization, {});
      await openCall('check');
    },
    release,
  };
}

function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`the folder ${folder} cannot be created: ${reason}`, { cause: error });
  }
}
