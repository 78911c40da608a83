/** Puts the PostgreSQL store together: a lane of connections for each kind of work, and nothing kept that others change. */

import * as questions from '../../../../gen/storage/postgres/all.ts';
import { findEvent, findRequest } from '../../../../gen/storage/postgres/append.ts';
import { countSomeJobs } from '../../../../gen/storage/postgres/evaluations.ts';
import { SETTLE, type Settle } from '../../../domain/evaluations/jobs.ts';
import type { Store } from '../../../domain/store.ts';
import { createDeliveryWork } from '../../delivery/work.ts';
import { createBacklog } from '../../evaluations/backlog.ts';
import { createJobWork } from '../../evaluations/jobs.ts';
import { createFreshness } from '../../keys/freshness.ts';
import { cacheKeyReads } from '../../keys/key-cache.ts';
import { createManagementWriter } from '../../management.ts';
import { withQuestions } from '../../questions.ts';
import { createIndexQueue } from '../../search/index-builder.ts';
import { createIndexWriter } from '../../search/index-writer.ts';
import { createIndexer } from '../../search/indexer.ts';
import { createSpendBlocks } from '../../spend/spend-blocks.ts';
import { createSpendWriter } from '../../spend/spend-writer.ts';
import type { StoreLog } from '../../store.ts';
import { createStore, type Engine, type StoreState } from '../../store.ts';
import { createAppendBatch } from './append.ts';
import { createAsk, createAsking } from './ask.ts';
import { readClock } from './connection.ts';
import { createWakeUps } from './delivery-wake.ts';
import { closable, closeLanes, type Lanes, type LanesOptions, openLanes } from './lanes.ts';
import { createMonitorCache } from './monitor-cache.ts';
import { createMonths } from './months.ts';
import { createProbe } from './probe.ts';
import { createRetention } from './retention.ts';
import { createRowTypes, type RowTypes } from './row-types.ts';
import { refuseForgetful, refuseHalfCopied, updateSchema } from './schema.ts';
import { createSpendReads } from './spend-reader.ts';
import { createTraceNumbers } from './trace-numbers.ts';
import { createAnalytics, createSearch, createTraceReader } from './trace-reader.ts';
import { createTransact } from './transaction.ts';

export type PostgresStoreOptions = LanesOptions & {
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
  readonly settle?: Settle;
};

// What comes while a batch commits makes the next one larger; two at once would cost twice as many commits.
const BATCHES_UNDER_WAY_MAX = 1;

/** Throws StartError. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const lanes = openLanes(options);
  try {
    await updateSchema({
      url: options.url,
      inspect: async (client) => {
        if (!options.mayForget) await refuseForgetful(client);
        await refuseHalfCopied(client);
      },
    });
    const rowTypes = createRowTypes(lanes.control);
    await rowTypes.load();
    const limits = { queueMaxBytes: options.queueMaxBytes, batchesUnderWayMax: BATCHES_UNDER_WAY_MAX };
    return createStore(limits, (state) =>
      startEngine({ url: options.url, lanes, rowTypes, settle: options.settle ?? SETTLE }, state),
    );
  } catch (error) {
    await closeLanes(lanes);
    throw error;
  }
}

type Parts = {
  readonly url: string;
  readonly lanes: Lanes;
  readonly rowTypes: RowTypes;
  readonly settle: Settle;
};

function startEngine({ url, lanes, rowTypes, settle }: Parts, { refuseWhenClosed }: StoreState): Engine {
  const { ingest, control } = lanes;
  const [reads, management, delivery] = [
    closable(lanes.reads, refuseWhenClosed),
    closable(lanes.management, refuseWhenClosed),
    closable(lanes.delivery, refuseWhenClosed),
  ];
  const wakeUps = createWakeUps({ url, lane: control });
  const backlog = createBacklog({
    waitingMax: settle.waitingMax,
    nowMs: () => performance.now(),
    countSome: async (some) => (await createAsk(reads)(countSomeJobs, some))[0],
  });
  const probe = createProbe(ingest);
  const numbers = createTraceNumbers(async (count) => {
    const rows = await control.ask<{ first: number }>(OPEN_BLOCKS, [count]);
    return rows.map((row) => row.first);
  });
  lanes.ingest.pool.on('connect', numbers.forget);
  const appendBatch = createAppendBatch({
    lane: ingest,
    rowTypes,
    numbers,
    months: createMonths(lanes.management),
    monitors: createMonitorCache(control),
    settle,
    backlog,
  });
  const readGeneration = async () => {
    const [row] = await control.ask<{ number: number }>(GENERATION, []);
    if (row === undefined) throw new Error('the database has lost count of what authentication must see');
    return row.number;
  };
  const ask = createAsk(reads);
  const transact = createTransact(management);
  const search = createSearch(reads);
  const spend = createSpendReads(reads);
  return {
    control: createAsking(control, questions),
    reads: { ...createAsking(reads, questions), ask },
    management: createAsking(management, questions),
    writer: createManagementWriter(questions, transact, { settle, backlog }),
    cacheKeys: (reader) =>
      // An installation may have more keys than every process should read again after every change.
      cacheKeyReads({ reader: { ...reader, listKeyIds: null }, generation: createFreshness(readGeneration) }),
    append: (appends) => probe.watch(() => appendBatch(appends)),
    traces: createTraceReader(reads, withQuestions(questions, transact)),
    lookUps: {
      findRequest: (key) => ask(findRequest, [key]),
      findEvent: (key) => ask(findEvent, [key]),
    },
    analytics: createAnalytics(reads),
    search: { find: search.find, match: search.match },
    searchIndex: createIndexer({
      queue: createIndexQueue(createAsking(reads, questions)),
      reads: search,
      writer: createIndexWriter(withQuestions(questions, transact)),
      clock: Date.now,
    }),
    spend: { sum: spend.sum },
    spendBlocks: createSpendBlocks({
      reads: spend,
      writer: createSpendWriter(withQuestions(questions, transact)),
      clock: Date.now,
    }),
    retention: createRetention(management),
    delivery: {
      ask: createAsk(delivery),
      askAside: ask,
      searchedAtOnce: null,
      wake: wakeUps,
      work: createDeliveryWork(questions, createTransact(delivery)),
      sweptMax: Number.POSITIVE_INFINITY,
      nowMs: () => readClock(delivery),
      isAlone: false,
      onReconnect: (forget) => void lanes.delivery.pool.on('connect', forget),
    },
    jobs: createJobWork(questions, createTransact(delivery), backlog),
    notify: wakeUps.notify,
    check: probe.check,
    async release() {
      await wakeUps.close();
      await closeLanes(lanes);
    },
  };
}

const OPEN_BLOCKS = {
  name: 'open-blocks',
  text: `SELECT nextval('trace_numbers') AS first FROM generate_series(1, $1)`,
};
const GENERATION = { name: 'auth-generation', text: 'SELECT number FROM auth_generation' };
