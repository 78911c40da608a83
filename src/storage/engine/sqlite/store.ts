/** Assembles the SQLite store: reads on their own handle, writes through the writer. */

import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { JOB_QUEUE_DEFAULTS, type JobQueueOptions } from '../../../domain/evaluations/jobs.ts';
import type { Store } from '../../../domain/store.ts';
import { cacheKeyReads } from '../../keys/key-cache.ts';
import { watchRooms } from '../../management/management-store.ts';
import { createStore, type Engine, type StoreLog, type StoreState } from '../../store.ts';
import { runCooperatively } from '../../traces/trace-reads.ts';
import { type Database, openReadHandle, type RunRead, readNow } from './connection.ts';
import type { CallWriter, Core, OpenedCore, WriterVerbs } from './core.ts';
import { isStorageFailure, storageFault } from './failures.ts';
import { openFileIndex } from './index-engine.ts';
import { bindQueries, type SqliteQueries } from './queries.ts';
import { paceReads } from './read-pace.ts';
import { createFinder, createReads, createTraceReader, type Reading, routeReads } from './readers.ts';
import { createRetention } from './retention.ts';
import { roomsOf } from './rooms.ts';
import { createQueryRunner } from './run-query.ts';
import { createIndexWork } from './search-work.ts';
import { createThreadReader, spawnReader, type ThreadReader } from './thread-reader.ts';
import type { ThreadWriter } from './thread-writer.ts';
import { readUsage } from './usage.ts';

export type SqliteStoreOptions = {
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
  /** See OpenCoreOptions. */
  readonly jobQueue?: JobQueueOptions;
  /** Monotonic milliseconds that age cached answers. */
  readonly nowMs?: () => number;
  /** The thread that writes a file. A command, which serves nobody meanwhile, writes in its own and starts sooner. */
  readonly writer?: 'in its thread' | 'here';
  /** The address of ClickHouse, which then has the index of traces. */
  readonly telemetryUrl?: string | null;
};

// The writer need not wait for the main thread when a large batch follows. Small ones rather wait for more: more commits
// write the same pages more often.
const BESIDE_BYTES_MIN = 256 * 1024;
// A step of maintenance blocks all writes, and a read blocks the whole process.
const MAINTAINED_ROWS_MAX = 250;
const SEARCHED_AT_ONCE = 5_000;
/** Bounds how long edits of the file by other programs go unnoticed. */
const KEY_AGE_MAX_MS = 1_000;

/** A store on the thread of the writer, and on one for long reads. `closed` is called at the end. */
export async function createThreadedStore(
  file: string,
  writer: ThreadWriter,
  options: SqliteStoreOptions,
  closed: () => void,
): Promise<Store> {
  try {
    // Opened last and closed first: then the writer leaves one file, without a write-ahead log.
    const reader = openReadHandle(file);
    const queries = bindQueries(writer.statements);
    const threadReader = createThreadReader({
      spawn: () => spawnReader(file, writer.statements, options.telemetryUrl ?? null),
    });
    const release = async () => {
      await threadReader.close();
      reader.close();
      await writer.close();
      closed();
    };
    const { call, verbs } = writer;
    const parts = { call, verbs, reader, runRead: readNow, queries, thread: threadReader, release };
    return assembleStore({ ...options, ...parts });
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Opens a database that lives as long as the process. */
export async function openMemoryStore(options: SqliteStoreOptions): Promise<Store> {
  // Otherwise only the writer thread loads it, with the object mapper.
  const { openCore } = await import('./core.ts');
  return createInlineStore(
    openCore({ file: ':memory:', clock: Date.now, jobQueue: options.jobQueue ?? JOB_QUEUE_DEFAULTS }),
    options,
  );
}

/** A store on one handle, with the writer in the calling thread. */
export function createInlineStore(
  { core, db, queries }: OpenedCore,
  options: SqliteStoreOptions,
  closed: () => void = () => undefined,
): Store {
  // Reads are queued with the writes, or they would see uncommitted changes.
  const runRead: RunRead = (read) => core.run(() => readNow(read));
  return assembleStore({
    ...options,
    call: callInline(core),
    verbs: Object.keys(core.verbs),
    reader: db,
    runRead,
    queries,
    // A database in memory is visible only in its own thread, and a command has no other work.
    thread: null,
    release: async () => {
      await core.close();
      closed();
    },
  });
}

/** The writer in the calling thread, for databases that live in memory, and for commands. */
function callInline({ verbs }: Core): CallWriter {
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

type Parts = SqliteStoreOptions & {
  readonly call: CallWriter;
  /** The names of those of the writer. */
  readonly verbs: readonly string[];
  readonly reader: Database;
  readonly runRead: RunRead;
  readonly queries: SqliteQueries;
  /** The thread for long reads and for the index of traces; null: they run like all others. */
  readonly thread: Pick<ThreadReader, 'reads' | 'searchWork'> | null;
  readonly release: () => Promise<void>;
};

function assembleStore(parts: Parts): Store {
  const limits = { queueMaxBytes: parts.queueMaxBytes, besideBytesMin: BESIDE_BYTES_MIN };
  return createStore(limits, (state) => startEngine(parts, state));
}

function startEngine(
  { call, verbs, reader, runRead, queries, thread, release, nowMs = () => performance.now() }: Parts,
  { isClosed, refuseWhenClosed, isBusy }: StoreState,
): Engine {
  // Counts the writes that authentication must see (see key-cache.ts). Only this process writes to the file: it holds
  // the lock.
  let generation = 0;
  const wake = createWake();
  const runOpenRead: RunRead = async (read) => {
    refuseWhenClosed();
    return await runRead(read);
  };
  const openCall = (async (verb: keyof WriterVerbs, ...args: Parameters<WriterVerbs[typeof verb]>) => {
    refuseWhenClosed();
    return await call(verb, ...args);
  }) as CallWriter;
  const writer = verbsThrough(verbs, openCall);
  const control = createQueryRunner(reader, runOpenRead, queries);
  const runPacedRead = paceReads({
    runRead: runOpenRead,
    isBusy,
    nowMs: () => performance.now(),
    wait: delay,
    yieldToEventLoop,
  });
  const reads = createQueryRunner(reader, runPacedRead, queries);
  const reading = { db: reader, runRead: runPacedRead, queries };
  const finder = createFinder(reading);
  const traceReader = createTraceReader(reading, runCooperatively);
  const searching = thread === null ? searchHere(reading) : { ...thread, close: async () => undefined };
  return {
    control,
    reads,
    rooms: watchRooms(roomsOf(writer), () => {
      generation += 1;
    }),
    traceChanges: writer,
    logRecords: writer,
    people: writer,
    cacheKeys: (keys) =>
      cacheKeyReads({
        reader: keys,
        // No cached entry has the generation of a closed store.
        generation: () => (isClosed() ? -1 : generation),
        age: { maxMs: KEY_AGE_MAX_MS, nowMs },
      }),
    append: (appends) => call('append', appends),
    traces: {
      ...finder,
      ...(thread === null ? traceReader : routeReads(traceReader, thread.reads)),
    },
    keepSums: writer.keepSums,
    lookUps: {
      findRequest: writer.findRequest,
      findEvent: (key) => reads.runQuery(queries.append.findEvent, key),
    },
    ...{ sums: searching.reads, wholeTracesAtOnce: 1 },
    indexWork: createIndexWork({ steps: searching.searchWork, endStep: writer.endIndexStep, control }),
    spendWriter: writer,
    ...createRetention(control, writer.removeExpired),
    usage: () => runOpenRead(() => readUsage(reader)),
    delivery: {
      runQuery: control.runQuery,
      runBackgroundQuery: control.runQuery,
      searchedAtOnce: SEARCHED_AT_ONCE,
      wake,
      work: writer,
      maintainedRowsMax: MAINTAINED_ROWS_MAX,
      nowMs: async () => null,
      // Only one process has the file open.
      isSingleProcess: true,
      onReconnect: () => undefined,
    },
    ...{ jobs: writer, leases: writer, answers: writer },
    kind: 'sqlite',
    notify: wake.notify,
    check: async () => {
      await control.runQuery(queries.organization.findAnyOrganization, {});
      await writer.check();
    },
    release: async () => {
      await searching.close();
      await release();
    },
  };
}

function searchHere(reading: Reading) {
  const searchWork = openFileIndex(reading);
  return { reads: createReads(reading, searchWork.reads), searchWork, close: searchWork.close };
}

/** An object with a method for each verb of the writer, which makes one call. */
function verbsThrough(verbs: readonly string[], call: CallWriter): WriterVerbs {
  const methodOf =
    (verb: keyof WriterVerbs) =>
    (...args: Parameters<WriterVerbs[typeof verb]>) =>
      call(verb, ...args);
  return Object.fromEntries(verbs.map((verb) => [verb, methodOf(verb as keyof WriterVerbs)])) as WriterVerbs;
}

/** Notifies listeners soon that there may be something new. */
export function createWake() {
  const listeners = new Set<() => void>();
  let isPending = false;

  function notifyListeners(): void {
    isPending = false;
    for (const wake of listeners) wake();
  }

  return {
    /** Several calls before listeners are notified count as one. */
    notify(): void {
      if (isPending || listeners.size === 0) return;
      isPending = true;
      setImmediate(notifyListeners);
    },
    /** Returns a function that removes the listener. */
    listen(wake: () => void): () => void {
      // The same function may be registered twice.
      const listener = () => wake();
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
