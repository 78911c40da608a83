/** Puts the PostgreSQL store together: a lane of connections for each kind of work, and nothing kept that others change. */

import { unavailableFault } from '../../domain/fault.ts';
import type { Store } from '../../domain/store.ts';
import { createCommitQueue } from '../append/commit-queue.ts';
import { cacheKeyReads } from '../key-cache.ts';
import { createManagementStore } from '../management-store.ts';
import type { Management } from '../orm/management.ts';
import type { CallManagement } from '../orm/management-verbs.ts';
import type { StoreLog } from '../store-log.ts';
import { createAppendBatch } from './append.ts';
import { ROW_OIDS, type RowOids } from './batch-rows.ts';
import { type Lane, openLane } from './connection.ts';
import { refuseForgetful } from './durability.ts';
import { createEventReader } from './event-reader.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';
import { createFreshness } from './freshness.ts';
import { createInstallationReader } from './installation-reader.ts';
import { createKeyReader } from './key-reader.ts';
import { createMonths } from './months.ts';
import type { Orm } from './orm.ts';
import { createProbe } from './probe.ts';
import { createRetention } from './retention.ts';
import { refuseHalfCopied, updateSchema } from './schema.ts';
import { createTraceNumbers } from './trace-numbers.ts';
import { createTraceReader } from './trace-reader.ts';

export type PostgresStoreOptions = {
  readonly url: string;
  /** Connections for reading; a few more are for everything else. */
  readonly connectionsMax: number;
  /** Accepts a database that may lose what it has acknowledged. */
  readonly mayForget: boolean;
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
};

// One for the batch under way, one for whoever asks whether writing works.
const INGEST_CONNECTIONS = 2;
// What comes while a batch commits makes the next one larger; two at once would cost twice as many commits.
const BATCHES_UNDER_WAY_MAX = 1;
const CONTROL_CONNECTIONS = 2;
const MANAGEMENT_CONNECTIONS = 2;
// From taking the head of a log to the commit everybody else waits.
const WRITE_TIMEOUT_MS = 5_000;
const READ_TIMEOUT_MS = 30_000;
// Every request waits for one of these point reads, so a database that has gone silent must be noticed soon.
const CONTROL_TIMEOUT_MS = 2_000;
const CLOSED_RETRY_AFTER_SECONDS = 1;

// A batch touches few rows of large tables. Its plans are kept, and one that was made while a table was small, or is
// made from old statistics, would have every later batch look through all of it. Tables are joined as they are written.
const FIND_BY_KEYS = `SET jit = off;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET join_collapse_limit = 1`;

type Lanes = { readonly ingest: Lane; readonly control: Lane; readonly reads: Lane; readonly management: Lane };

/** Throws StartError. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const lanes = openLanes(options);
  try {
    const loadOrm = once(() => openManagement(lanes.management, options.log));
    await updateSchema({
      url: options.url,
      inspect: async (client) => {
        if (!options.mayForget) await refuseForgetful(client);
        await refuseHalfCopied(client);
      },
      warn: (message) => options.log.warn({ detail: message }, 'the object mapper warns'),
    });
    const [oids] = await lanes.control.ask<RowOids>(ROW_OIDS, []);
    if (oids === undefined) throw new Error('the database does not tell the types of its rows');
    return assembleStore({ ...options, lanes, oids, manage: async () => (await loadOrm()).management });
  } catch (error) {
    await closeLanes(lanes);
    throw error;
  }
}

function openLanes({ url, connectionsMax, mayForget }: PostgresStoreOptions): Lanes {
  const write = { url, statementTimeoutMs: WRITE_TIMEOUT_MS, ...(mayForget ? {} : { inspect: refuseForgetful }) };
  return {
    ingest: openLane({
      ...write,
      name: 'ingest',
      connectionsMax: INGEST_CONNECTIONS,
      inspect: async (client) => {
        if (!mayForget) await refuseForgetful(client);
        await client.query(FIND_BY_KEYS);
      },
    }),
    control: openLane({
      ...write,
      name: 'control',
      connectionsMax: CONTROL_CONNECTIONS,
      statementTimeoutMs: CONTROL_TIMEOUT_MS,
    }),
    management: openLane({ ...write, name: 'management', connectionsMax: MANAGEMENT_CONNECTIONS }),
    reads: openLane({
      url,
      name: 'reads',
      connectionsMax,
      statementTimeoutMs: READ_TIMEOUT_MS,
      // Planning a page over all months anew takes longer than reading it.
      inspect: async (client) => void (await client.query('SET plan_cache_mode = force_generic_plan')),
    }),
  };
}

async function closeLanes(lanes: Lanes): Promise<void> {
  await Promise.all(Object.values(lanes).map((lane) => lane.pool.end()));
}

async function openManagement({ pool }: Lane, log: StoreLog): Promise<Orm> {
  const { openOrm } = await import('./orm.ts');
  return await openOrm(pool, (message) => log.warn({ detail: message }, 'the object mapper warns'));
}

type Parts = PostgresStoreOptions & {
  readonly lanes: Lanes;
  readonly oids: RowOids;
  readonly manage: () => Promise<Management>;
};

function assembleStore({ lanes, oids, manage, queueMaxBytes }: Parts): Store {
  let closing: Promise<void> | undefined;
  const { ingest, control, reads } = guard(lanes, () => closing !== undefined);
  const installation = createInstallationReader(control);
  const probe = createProbe(ingest);
  const numbers = createTraceNumbers(async (count) => {
    const rows = await control.ask<{ first: number }>(OPEN_BLOCKS, [count]);
    return rows.map((row) => row.first);
  });
  lanes.ingest.pool.on('connect', numbers.forget);
  const appendBatch = createAppendBatch({ lane: ingest, oids, numbers, months: createMonths(lanes.management) });
  const queue = createCommitQueue({
    commit: (appends) => probe.watch(() => appendBatch(appends)),
    queueMaxBytes,
    batchesUnderWayMax: BATCHES_UNDER_WAY_MAX,
  });
  const readGeneration = async () => {
    const [row] = await control.ask<{ number: number }>(GENERATION, []);
    if (row === undefined) throw new Error('the database has lost count of what authentication must see');
    return row.number;
  };

  const managed = (async (verb: keyof Management, ...args: readonly unknown[]) => {
    if (closing) throw closedFault();
    try {
      const run = (await manage())[verb] as (...args: readonly unknown[]) => Promise<unknown>;
      return await run(...args);
    } catch (error) {
      throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
    }
  }) as CallManagement;

  async function close(): Promise<void> {
    await queue.drain();
    await closeLanes(lanes);
  }

  return {
    installation: {
      readVerifier: installation.readVerifier,
      // Spares every later start the loading of what only the first one needs.
      bootstrap: async (plan) => !(await installation.hasOrganization()) && (await managed('bootstrap', plan)),
    },
    keys: {
      ...cacheKeyReads({ reader: createKeyReader(control), generation: createFreshness(readGeneration) }),
      insertApiKey: (key) => managed('insertApiKey', key),
    },
    traces: {
      ...createTraceReader(reads),
      append: async (append) => {
        if (closing) throw closedFault();
        return await queue.append(append);
      },
    },
    events: createEventReader(reads),
    evaluators: {
      insert: (evaluator, liveMax) => managed('insertEvaluator', evaluator, liveMax),
      find: (projectId, idOrSlug) => managed('findEvaluator', projectId, idOrSlug),
    },
    projects: {
      updateSettings: (projectId, change, nowMs) => managed('updateProjectSettings', { projectId, change, nowMs }),
    },
    management: createManagementStore(managed),
    retention: createRetention(closable(lanes.management, () => closing !== undefined)),
    ready: async () => {
      if (closing) throw closedFault();
      await probe.check();
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const OPEN_BLOCKS = {
  name: 'open-blocks',
  text: `SELECT nextval('trace_numbers') AS first FROM generate_series(1, $1)`,
};
const GENERATION = { name: 'auth-generation', text: 'SELECT number FROM auth_generation' };

/** Questions that come after the end are refused; appends under way still finish. */
function guard({ ingest, control, reads }: Lanes, isClosing: () => boolean): Omit<Lanes, 'management'> {
  return { ingest, control, reads: closable(reads, isClosing) };
}

function closable(lane: Lane, isClosing: () => boolean): Lane {
  const refuseWhenClosed = () => {
    if (isClosing()) throw closedFault();
  };
  return {
    ...lane,
    ask: async (statement, values) => {
      refuseWhenClosed();
      return await lane.ask(statement, values);
    },
    hold: async (body) => {
      refuseWhenClosed();
      return await lane.hold(body);
    },
  };
}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

function closedFault() {
  return unavailableFault('The store is closed.', CLOSED_RETRY_AFTER_SECONDS);
}
