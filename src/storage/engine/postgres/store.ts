/**
 * Assembles the PostgreSQL store: a pool of connections for each kind of work, and no cache of rows that other
 * processes change.
 */

import { setTimeout as pause, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type pg from 'pg';
import { createBacklog } from '../../../domain/evaluations/backlog.ts';
import { JOB_QUEUE_DEFAULTS, type JobQueueOptions } from '../../../domain/evaluations/jobs.ts';
import type { Store } from '../../../domain/store.ts';
import { createPeopleWriter } from '../../annotations/writers.ts';
import { createAnswerWork } from '../../answers/answers.ts';
import { createLeaseWork } from '../../budgets/leases.ts';
import { createDeliveryWork } from '../../delivery/work.ts';
import { messageOf, StartError } from '../../errors.ts';
import { createJobWork } from '../../evaluations/jobs.ts';
import { createFreshness } from '../../keys/freshness.ts';
import { cacheKeyReads } from '../../keys/key-cache.ts';
import { createRooms } from '../../management/rooms.ts';
import { createSumReads, type IndexReads, type SumReads } from '../../reads.ts';
import { createSpendWriter } from '../../spend/spend-blocks.ts';
import { createStore, type Engine, type StoreLog, type StoreState } from '../../store.ts';
import { createLogRecordWriter } from '../../traces/log-records.ts';
import { createTraceChanges } from '../../traces/trace-changes.ts';
import { createKeepSums, createTraceFinder, textRange } from '../../traces/trace-finder.ts';
import { createTraceReads, runCooperatively } from '../../traces/trace-reads.ts';
import { createWriteWatch } from '../../write-watch.ts';
import { settleEncryption } from './address.ts';
import { createAppendBatch, createTraceNumbers } from './append.ts';
import { createRowTypes, type RowTypes } from './binary-arrays.ts';
import { createWakeUps } from './delivery-wake.ts';
import { isAway, isConflict, isStorageFailure, storageFault } from './failures.ts';
import { refuseHalfCopied, refuseUnsafeCommits } from './fitness.ts';
import { indexOpener, type OpenIndex } from './index-engine.ts';
import { unitsOf } from './mapper.ts';
import { createMonitorCache } from './monitor-cache.ts';
import { createMonths } from './months.ts';
import { type MovedTexts, openMovedTexts } from './moved-texts.ts';
import {
  closePools,
  guardPool,
  openPools,
  type Pool,
  type Pools,
  type PoolsOptions,
  poolUsages,
  readClock,
  readDatabaseBytes,
  type Statement,
} from './pool.ts';
import { CURRENT_SCHEMA, type CurrentSchema, refuseOtherSchema } from './processes.ts';
import { createRetention } from './retention.ts';
import { createQueryRunner, createRunQuery, queryInPages } from './run-query.ts';
import { withCurrentSchema } from './schema.ts';
import { openQueries } from './statements.ts';
import type { TextMoving } from './text-mover.ts';
import { createTransact } from './transaction.ts';

type PostgresStoreOptions = PoolsOptions & {
  /** The address of ClickHouse, which then has the index of traces. */
  readonly telemetryUrl?: string | null;
  /** Moves long texts there; null: they stay. */
  readonly moveTexts?: TextMoving | null;
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
  readonly jobQueue?: JobQueueOptions;
  /** How long a database that is away is waited for. */
  readonly waitMaxMs?: number;
};

const WAIT_POLL_MS = 500;
// Appends that arrive during a commit make the next batch larger; two batches at once would double the number of
// commits.
const BESIDE_BYTES_MIN = Number.POSITIVE_INFINITY;

/** Throws StartError. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { waitMaxMs = 0, log } = options;
  const startedMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openNow({ ...options, url: await settleEncryption(options.url) });
    } catch (error) {
      const cause = error instanceof StartError ? error.cause : null;
      if (!isAway(cause) || performance.now() - startedMs > waitMaxMs) throw error;
      if (attempt === 1)
        log.warn({ waitMaxMs, reason: messageOf(error) }, 'the database is away; the start waits for it');
      await pause(WAIT_POLL_MS);
    }
  }
}

async function openNow(options: PostgresStoreOptions): Promise<Store> {
  const pools = openPools(options);
  const close = () => closePools(pools);
  try {
    const inspect = async (client: pg.ClientBase) => {
      if (!options.mayLoseWrites) await refuseUnsafeCommits(client);
      await refuseHalfCopied(client);
    };
    return await withCurrentSchema({ url: options.url, inspect }, () => startPostgresStore({ pools, close }, options));
  } catch (error) {
    await close();
    throw error;
  }
}

/** Connections to a database whose schema is up to date, and what the store does with them when it is closed. */
type OpenPools = { readonly pools: Pools; readonly close: () => Promise<void> };

export async function startPostgresStore(
  { pools, close }: OpenPools,
  {
    url,
    queueMaxBytes,
    jobQueue = JOB_QUEUE_DEFAULTS,
    telemetryUrl = null,
    moveTexts = null,
    log,
  }: Pick<PostgresStoreOptions, 'url' | 'queueMaxBytes' | 'jobQueue' | 'telemetryUrl' | 'moveTexts' | 'log'>,
): Promise<Store> {
  // First, so that reads have their connection before other pools take the last ones.
  await pools.reads.runStatement(READS, []);
  const rowTypes = createRowTypes(pools.control);
  await rowTypes.load();
  const openIndex = await indexOpener(rowTypes, telemetryUrl);
  const movedTexts = await openMovedTexts(pools.control, { telemetryUrl, moving: moveTexts, log });
  return createStore({ queueMaxBytes, besideBytesMin: BESIDE_BYTES_MIN }, (state) =>
    startEngine({ url, pools, close, rowTypes, jobQueue, openIndex, movedTexts }, state),
  );
}

type Parts = OpenPools & {
  readonly url: string;
  readonly rowTypes: RowTypes;
  readonly jobQueue: JobQueueOptions;
  readonly openIndex: OpenIndex;
  readonly movedTexts: MovedTexts;
};

function startEngine(
  { url, pools, close, rowTypes, jobQueue, openIndex, movedTexts }: Parts,
  { refuseWhenClosed }: StoreState,
): Engine {
  const queries = openQueries();
  const { ingest, control } = pools;
  const [reads, management, delivery] = [
    movedTexts.readWith(guardPool(pools.reads, refuseWhenClosed)),
    guardPool(pools.management, refuseWhenClosed),
    guardPool(pools.delivery, refuseWhenClosed),
  ];
  const wakeUps = createWakeUps({ url, pool: control });
  const backlog = createBacklog({
    waitingMax: jobQueue.waitingMax,
    nowMs: () => performance.now(),
    countSome: async (some) => (await createRunQuery(reads)(queries.evaluations.countSomeJobs, some))[0],
  });
  const probe = createProbe(ingest, pools.reads);
  const numbers = createTraceNumbers(async (count) => {
    const rows = await control.runStatement<{ first: number }>(OPEN_BLOCKS, [count]);
    return rows.map((row) => row.first);
  });
  pools.ingest.connections.on('connect', numbers.reset);
  const appendBatch = createAppendBatch({
    pool: ingest,
    rowTypes,
    numbers,
    months: createMonths(pools.management),
    monitors: createMonitorCache(control),
    jobQueue,
    backlog,
  });
  const readGeneration = async () => {
    const [row] = await control.runStatement<{ number: number }>(GENERATION, []);
    if (row === undefined) throw new Error(NO_GENERATION);
    return row.number;
  };
  const runQuery = createRunQuery(reads);
  const index = openIndex({ reads, pool: guardPool(pools.index, refuseWhenClosed) });
  const [transact, serve] = [createTransact(management), createTransact(delivery)];
  return {
    control: createQueryRunner(control, queries),
    reads: { ...createQueryRunner(reads, queries), runQuery },
    rooms: createRooms(unitsOf(management, transact)),
    traceChanges: createTraceChanges(transact, { jobQueue, backlog }),
    logRecords: createLogRecordWriter(transact),
    cacheKeys: (reader) =>
      // Requests that arrive in one turn of the event loop share a read of the generation. An installation may have more
      // keys than every process should read again after every change.
      cacheKeyReads({
        reader: { ...reader, listKeyIds: null },
        generation: createFreshness(readGeneration, yieldToEventLoop),
      }),
    append: (appends) => probe.watch(() => appendBatch(appends)),
    traces: createTraceReader(reads),
    wholeTracesAtOnce: WHOLE_TRACES_AT_ONCE,
    keepSums: createKeepSums(transact),
    lookUps: {
      findRequest: (key) => runQuery(queries.append.findRequest, [key]),
      findEvent: (key) => runQuery(queries.append.findEvent, [key]),
    },
    sums: createReads(reads, index.reads),
    indexWork: index.work,
    upkeep: movedTexts.upkeepWith(guardPool(pools.texts, refuseWhenClosed)),
    spendWriter: createSpendWriter(transact),
    ...createRetention(management),
    usage: async () => ({
      databaseBytes: await readDatabaseBytes(reads),
      freeBytes: null,
      // The log of the server holds all of its databases.
      walBytes: null,
      connections: poolUsages(pools),
    }),
    delivery: {
      runQuery: createRunQuery(delivery),
      runBackgroundQuery: runQuery,
      searchedAtOnce: null,
      wake: wakeUps,
      work: createDeliveryWork(serve, isConflict),
      maintainedRowsMax: Number.POSITIVE_INFINITY,
      nowMs: () => readClock(delivery),
      isSingleProcess: false,
      onReconnect: pools.delivery.onReconnect,
    },
    ...{ jobs: createJobWork(serve, backlog), leases: createLeaseWork(serve), answers: createAnswerWork(serve) },
    people: createPeopleWriter(transact, { jobQueue, backlog }),
    ...{ kind: 'postgres' as const, notify: wakeUps.notify, check: probe.check },
    async release() {
      await wakeUps.close();
      await index.close();
      await movedTexts.close();
      await close();
    },
  };
}

const WHOLE_TRACES_AT_ONCE = 2;

function createTraceReader(pool: Pool): Engine['traces'] {
  const runner = createQueryRunner(pool, openQueries().traces);
  const reads = createTraceReads(
    { ...runner, queryForEach: (query, params, take) => queryInPages(pool, { query, params, take }) },
    runCooperatively,
  );
  const finder = createTraceFinder(runner, (prefix) => [textRange(prefix)]);
  return { ...reads, ...finder };
}

function createReads(pool: Pool, index: IndexReads): SumReads {
  const runnerOf = <Of>(some: Of) => createQueryRunner(pool, some);
  const { runQuery } = runnerOf(null);
  const queries = openQueries();
  return createSumReads(runnerOf, queries, {
    ...index,
    findRequests: (keys) => runQuery(queries.append.findRequest, keys),
    findPositions: (keys) => runQuery(queries.append.findEventPosition, keys),
  });
}

const OPEN_BLOCKS = {
  name: 'open-blocks',
  text: `SELECT nextval('trace_numbers') AS first FROM generate_series(1, $1)`,
};
const GENERATION = { name: 'auth-generation', text: 'SELECT number FROM auth_generation' };
const NO_GENERATION =
  'the auth generation row is missing: INSERT INTO auth_generation (id, number) VALUES (1, 1), then restart every process';

const STATE = {
  name: 'probe-state',
  text: `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
};
const READ_ONLY = 'the database can only be read: let SPANDREL_DATABASE_URL lead to the primary';
const FILLER_BYTES = 65_536;
const READS: Statement = { name: 'reads', text: 'SELECT FROM installation LIMIT 1' };

/** Checks whether the database can be written to, and read by the pool for reads, which may have no connection. */
function createProbe(pool: Pool, reads: Pool) {
  const { watch, doWritesFail } = createWriteWatch(isStorageFailure);
  const { fillProbe, emptyProbe } = openQueries().append;
  return {
    watch,
    /** Throws the unavailable Fault unless reads and writes work. */
    async check(): Promise<void> {
      const [[state]] = await Promise.all([
        pool.runStatement<{ isReadOnly: boolean }>(STATE, []),
        reads.runStatement(READS, []),
      ]);
      if (state?.isReadOnly !== false) throw storageFault(new Error(READ_ONLY));
      refuseOtherSchema(await pool.runStatement<CurrentSchema>(CURRENT_SCHEMA, []));
      if (!doWritesFail()) return;
      await watch(async () => {
        await pool.runStatement(fillProbe, fillProbe.cells({ filler: Buffer.alloc(FILLER_BYTES) }));
        await pool.runStatement(emptyProbe, []);
      });
    },
  };
}
