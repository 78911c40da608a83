/** Puts the PostgreSQL store together: a lane of connections for each kind of work, and nothing kept that others change. */

import * as questions from '../../../gen/storage/postgres/all.ts';
import { unavailableFault } from '../../domain/fault.ts';
import type { Store } from '../../domain/store.ts';
import type { Report, Reported } from '../append/apply.ts';
import { createCommitQueue } from '../append/commit-queue.ts';
import { createEventList, createOldestAdmitted } from '../events/event-reader.ts';
import { createFreshness } from '../keys/freshness.ts';
import { cacheKeyReads } from '../keys/key-cache.ts';
import { createKeyReader } from '../keys/key-reader.ts';
import { createEvaluatorStore, createManagementStore, createManagementWriter } from '../management.ts';
import { createInstallationReader, createProjectNumbers } from '../organization/organization-reader.ts';
import type { StoreLog } from '../store-log.ts';
import { createAppendBatch } from './append.ts';
import { createAsking, createTransact } from './ask.ts';
import { ROW_OIDS, type RowOids } from './batch-rows.ts';
import { createDeliveryStore, createWebhookStore } from './delivery-store.ts';
import { createWakeUps, wakeAfterCommits } from './delivery-wake.ts';
import { refuseForgetful } from './durability.ts';
import { createEventFinder } from './event-finder.ts';
import { closable, closeLanes, type Lanes, type LanesOptions, openLanes } from './lanes.ts';
import { createMonths } from './months.ts';
import { createProbe } from './probe.ts';
import { createRetention } from './retention.ts';
import { refuseHalfCopied, updateSchema } from './schema.ts';
import { createTraceNumbers } from './trace-numbers.ts';
import { createTraceReader } from './trace-reader.ts';

export type PostgresStoreOptions = LanesOptions & {
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
};

// What comes while a batch commits makes the next one larger; two at once would cost twice as many commits.
const BATCHES_UNDER_WAY_MAX = 1;
const CLOSED_RETRY_AFTER_SECONDS = 1;

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
    const [oids] = await lanes.control.ask<RowOids>(ROW_OIDS, []);
    if (oids === undefined) throw new Error('the database does not tell the types of its rows');
    return assembleStore({ ...options, lanes, oids });
  } catch (error) {
    await closeLanes(lanes);
    throw error;
  }
}

type Parts = PostgresStoreOptions & {
  readonly lanes: Lanes;
  readonly oids: RowOids;
};

function assembleStore({ url, lanes, oids, queueMaxBytes }: Parts): Store {
  let closing: Promise<void> | undefined;
  // Questions that come after the end are refused; appends under way still finish.
  const findRefusal = () => (closing === undefined ? null : closedFault());
  const { ingest, control } = lanes;
  const [reads, management, delivery] = [
    closable(lanes.reads, findRefusal),
    closable(lanes.management, findRefusal),
    closable(lanes.delivery, findRefusal),
  ];
  const wakeUps = createWakeUps({ url, lane: control });
  const deliveries = createDeliveryStore({ delivery, reads, wakeUps });
  lanes.delivery.pool.on('connect', deliveries.forget);
  const installation = createInstallationReader(createAsking(control, questions.organization));
  const managed = createAsking(management, questions);
  const writer = createManagementWriter({ questions, transact: createTransact(management) });
  const events = createAsking(reads, questions.events);
  const probe = createProbe(ingest);
  const numbers = createTraceNumbers(async (count) => {
    const rows = await control.ask<{ first: number }>(OPEN_BLOCKS, [count]);
    return rows.map((row) => row.first);
  });
  lanes.ingest.pool.on('connect', numbers.forget);
  const appendBatch = createAppendBatch({ lane: ingest, oids, numbers, months: createMonths(lanes.management) });
  const queue = createCommitQueue({
    commit: async (appends) => {
      const outcomes = await probe.watch(() => appendBatch(appends));
      wakeUps.notify();
      return outcomes;
    },
    queueMaxBytes,
    batchesUnderWayMax: BATCHES_UNDER_WAY_MAX,
  });
  const readGeneration = async () => {
    const [row] = await control.ask<{ number: number }>(GENERATION, []);
    if (row === undefined) throw new Error('the database has lost count of what authentication must see');
    return row.number;
  };

  async function send<R extends Report>(report: R): Promise<Reported[R['kind']]> {
    if (closing) throw closedFault();
    return await queue.report(report);
  }

  async function close(): Promise<void> {
    await queue.drain();
    await wakeUps.close();
    await closeLanes(lanes);
  }

  return {
    installation: {
      readVerifier: installation.readVerifier,
      bootstrap: async (plan) => !(await installation.hasOrganization()) && (await writer.bootstrap(plan)),
      addOrganization: writer.addOrganization,
    },
    keys: {
      ...cacheKeyReads({
        // An installation may have more keys than every process should read again after every change.
        reader: { ...createKeyReader(createAsking(control, questions.keys)), listKeyIds: null },
        generation: createFreshness(readGeneration),
      }),
      insertApiKey: writer.insertApiKey,
    },
    traces: {
      ...createTraceReader(reads, management),
      append: async (append) => {
        if (closing) throw closedFault();
        return await queue.append(append);
      },
    },
    requests: {
      projectNumbers: createProjectNumbers(createAsking(reads, questions.organization)),
      report: send,
      reportGovernance: send,
      settle: send,
      oldestAdmittedAtMs: createOldestAdmitted(events),
    },
    events: { list: createEventList(events), find: createEventFinder(reads) },
    evaluators: createEvaluatorStore(managed, writer),
    projects: { updateSettings: writer.updateSettings },
    management: wakeAfterCommits(createManagementStore(managed, writer), wakeUps.notify),
    retention: createRetention(management),
    webhooks: createWebhookStore({ delivery, reads }),
    deliveries,
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

function closedFault() {
  return unavailableFault('The store is closed.', CLOSED_RETRY_AFTER_SECONDS);
}
