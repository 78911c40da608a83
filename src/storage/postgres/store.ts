/** Puts the PostgreSQL store together: a lane of connections for each kind of work, and nothing kept that others change. */

import * as eventQuestions from '../../../gen/storage/postgres/events.ts';
import * as keyQuestions from '../../../gen/storage/postgres/keys.ts';
import * as organizationQuestions from '../../../gen/storage/postgres/organization.ts';
import { unavailableFault } from '../../domain/fault.ts';
import type { Store } from '../../domain/store.ts';
import type { Report, Reported } from '../append/apply.ts';
import { createCommitQueue } from '../append/commit-queue.ts';
import { createEventList, createOldestAdmitted } from '../events/event-reader.ts';
import { cacheKeyReads } from '../key-cache.ts';
import { createFreshness } from '../keys/freshness.ts';
import { createKeyReader } from '../keys/key-reader.ts';
import { createManagedWebhooks, createManagementStore } from '../management-store.ts';
import { createInstallationReader, createProjectNumbers } from '../organization/organization-reader.ts';
import type { Management } from '../orm/management.ts';
import type { CallManagement } from '../orm/management-verbs.ts';
import type { StoreLog } from '../store-log.ts';
import { createAppendBatch } from './append.ts';
import { createAsking } from './ask.ts';
import { ROW_OIDS, type RowOids } from './batch-rows.ts';
import type { Lane } from './connection.ts';
import { createDeliveryStore, createWebhookStore } from './delivery-store.ts';
import { createWakeUps, wakeAfterCommits } from './delivery-wake.ts';
import { refuseForgetful } from './durability.ts';
import { createEventFinder } from './event-finder.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';
import { createInstallationWriter } from './installation-writer.ts';
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
    const manage = once(() => loadManagement(lanes.management, options.log));
    await updateSchema({
      url: options.url,
      inspect: async (client) => {
        if (!options.mayForget) await refuseForgetful(client);
        await refuseHalfCopied(client);
      },
    });
    const [oids] = await lanes.control.ask<RowOids>(ROW_OIDS, []);
    if (oids === undefined) throw new Error('the database does not tell the types of its rows');
    return assembleStore({ ...options, lanes, oids, manage });
  } catch (error) {
    await closeLanes(lanes);
    throw error;
  }
}

async function loadManagement({ pool }: Lane, log: StoreLog): Promise<Management> {
  const { openManagement } = await import('./orm.ts');
  return openManagement(pool, (message) => log.warn({ detail: message }, 'the object mapper warns'));
}

type Parts = PostgresStoreOptions & {
  readonly lanes: Lanes;
  readonly oids: RowOids;
  readonly manage: () => Promise<Management>;
};

function assembleStore({ url, lanes, oids, manage, queueMaxBytes }: Parts): Store {
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
  const installation = createInstallationReader(createAsking(control, organizationQuestions));
  const writer = createInstallationWriter(management);
  const events = createAsking(reads, eventQuestions);
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

  const managed = (async (verb: keyof Management, ...args: readonly unknown[]) => {
    if (closing) throw closedFault();
    try {
      const run = (await manage())[verb] as (...args: readonly unknown[]) => Promise<unknown>;
      return await run(...args);
    } catch (error) {
      throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
    }
  }) as CallManagement;

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
      // Spares every later start the loading of what only the first one needs.
      bootstrap: async (plan) => !(await installation.hasOrganization()) && (await writer.bootstrap(plan)),
      addOrganization: writer.addOrganization,
    },
    keys: {
      ...cacheKeyReads({
        // An installation may have more keys than every process should read again after every change.
        reader: { ...createKeyReader(createAsking(control, keyQuestions)), listKeyIds: null },
        generation: createFreshness(readGeneration),
      }),
      insertApiKey: (key) => managed('insertApiKey', key),
    },
    traces: {
      ...createTraceReader(reads, management),
      append: async (append) => {
        if (closing) throw closedFault();
        return await queue.append(append);
      },
    },
    requests: {
      projectNumbers: createProjectNumbers(createAsking(reads, organizationQuestions)),
      report: send,
      reportGovernance: send,
      settle: send,
      oldestAdmittedAtMs: createOldestAdmitted(events),
    },
    events: { list: createEventList(events), find: createEventFinder(reads) },
    evaluators: {
      insert: (evaluator, liveMax) => managed('insertEvaluator', evaluator, liveMax),
      find: (projectId, idOrSlug) => managed('findEvaluator', projectId, idOrSlug),
      list: (projectId, page) => managed('listEvaluators', projectId, page),
      replace: (evaluator, expectedUpdatedAtMs) => managed('replaceEvaluator', evaluator, expectedUpdatedAtMs),
      remove: (projectId, id, nowMs) => managed('removeEvaluator', projectId, id, nowMs),
    },
    projects: {
      updateSettings: (projectId, change, nowMs) => managed('updateProjectSettings', { projectId, change, nowMs }),
    },
    management: wakeAfterCommits(createManagementStore(managed), wakeUps.notify),
    retention: createRetention(management),
    webhooks: createWebhookStore({ delivery, reads, managed: createManagedWebhooks(managed) }),
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
