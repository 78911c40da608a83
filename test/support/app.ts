import { randomBytes } from 'node:crypto';
import { type App, type AppDeps, createApp } from '../../src/app/app.ts';
import { createLog } from '../../src/cli/log.ts';
import { readConfig } from '../../src/config/config.ts';
import { JOB_QUEUE_DEFAULTS } from '../../src/domain/evaluations/jobs.ts';
import { bootstrap } from '../../src/domain/organization/bootstrap.ts';
import { openRootKeys } from '../../src/domain/organization/secret-rotation.ts';
import { readPriceList } from '../../src/domain/pricing/price-list.ts';
import { createPricing } from '../../src/domain/pricing/pricing.ts';
import type { RootKeys } from '../../src/domain/secrets.ts';
import type { Store } from '../../src/domain/store.ts';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { createInlineStore, type SqliteStoreOptions } from '../../src/storage/engine/sqlite/store.ts';
import { databaseFile, isPostgres, openStore } from '../../src/storage/open.ts';
import { keepConnection } from './surfaces.ts';
import { createTestDatabase, TEST_SECRET, type TestDatabase } from './test-database.ts';

export type TestApp = App & {
  readonly store: Store;
  readonly rootKeys: RootKeys;
  readonly database: TestDatabase;
  readonly projectKey: string;
  readonly adminKey: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly userId: string;
  /** Every log line so far: the message, then the fields as JSON. */
  readonly logged: readonly string[];
  close(): Promise<void>;
};

export type TestAppOptions = {
  readonly environment?: { readonly [name: string]: string };
  /** One with data, instead of a new one. */
  readonly database?: TestDatabase;
  readonly clock?: () => number;
  /** The time that really passes: that of `clock` by default, so that a test which sets it lets time pass. */
  readonly passedMs?: () => number;
  /** Replaces the waits between runs of jobs. */
  readonly wait?: AppDeps['wait'];
  /**
   * The thread in which SQLite in a file writes. API rules do not depend on it, and starting the thread takes as long
   * as many a test: only tests of the whole server use one.
   */
  readonly writer?: 'here' | 'in its thread';
  /** Wraps the opened store; the server uses the result. */
  readonly wrapStore?: (store: Store) => Store;
};

const pricing = createPricing(readPriceList());

/** Starts a server on a free port, by default over a new database that holds the first organization. */
export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { environment = {}, clock = Date.now, wait, writer = 'here', wrapStore = (opened) => opened } = options;
  const { database = await createTestDatabase() } = options;
  const config = readConfig({
    SPANDREL_PORT: '0',
    ...database.environment,
    SPANDREL_SECRET: TEST_SECRET,
    ...environment,
  });
  const lines: string[] = [];
  const logged: string[] = [];
  const level = 'SPANDREL_LOG_LEVEL' in environment ? config.logLevel : 'debug';
  const log = createLog(level, { write: (line) => void lines.push(line) });
  const file = isPostgres(database.url) ? null : databaseFile(database.url);
  const { jobQueue } = config.evaluators;
  const storeOptions = { queueMaxBytes: config.limits.requests.bodyBytes, jobQueue, log };
  const store = wrapStore(
    writer === 'here' && file !== null
      ? await openHere(file, storeOptions)
      : await openStore({ url: config.databaseUrl, ...storeOptions }),
  );
  const rootKeys = openRootKeys(
    config.secrets ?? { current: TEST_SECRET, previous: null },
    await store.installation.readSecret(),
  );
  const printed = await bootstrap(
    { store: store.installation, rootKeys, keyPrefixes: config.keyPrefixes, random: randomBytes },
    config.bootstrap,
    clock(),
  );
  const first = new Map(printed ?? []);
  const app = await createApp({
    config,
    store,
    rootKeys,
    pricing,
    clock,
    random: randomBytes,
    log,
    tls: null,
    passedMs: options.passedMs ?? options.clock ?? (() => performance.now()),
    ...(wait === undefined ? {} : { wait }),
  });
  const letGo = keepConnection(app.address);
  return {
    ...app,
    store,
    rootKeys,
    database,
    projectKey: first.get('SPANDREL_PROJECT_KEY') ?? '',
    adminKey: first.get('SPANDREL_ADMIN_KEY') ?? '',
    organizationId: first.get('SPANDREL_ORGANIZATION_ID') ?? '',
    projectId: first.get('SPANDREL_PROJECT_ID') ?? '',
    userId: first.get('SPANDREL_ADMIN_USER_ID') ?? '',
    get logged() {
      logged.push(...lines.splice(0).map(showLine));
      return logged;
    },
    async close() {
      letGo();
      await app.stop();
      await store.close();
      await database.remove();
    },
  };
}

function showLine(line: string): string {
  const { msg, level: _, time: __, ...fields } = JSON.parse(line);
  return `${msg} ${JSON.stringify(fields)}`;
}

async function openHere(file: string, options: SqliteStoreOptions): Promise<Store> {
  return createInlineStore(
    openCore({ file, clock: Date.now, jobQueue: options.jobQueue ?? JOB_QUEUE_DEFAULTS }),
    options,
  );
}
