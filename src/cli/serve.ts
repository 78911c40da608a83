/** Runs the server until a signal asks it to stop. */

import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type { App } from '../app/app.ts';
import { type Config, readConfig } from '../config/config.ts';
import { readOrCreateSecret, readSecrets } from '../config/secret-file.ts';
import { bootstrap, type FirstKeys } from '../domain/organization/bootstrap.ts';
import { openRootKeys, type RootSecrets } from '../domain/organization/secret-rotation.ts';
import { readPriceList } from '../domain/pricing/price-list.ts';
import { createPricing } from '../domain/pricing/pricing.ts';
import type { Store } from '../domain/store.ts';
import { databaseFile, openStore } from '../storage/open.ts';
import { exportLines } from './first-keys.ts';
import type { Environment } from './io.ts';
import { createLog } from './log.ts';
import { openFilesLimit, openFilesWarning } from './open-files.ts';
import { readTlsFiles, watchTlsFiles } from './tls-files.ts';
import { readVersion } from './version.ts';

/** Resolves once the server listens. Rejects with one line for the operator when it cannot. */
export async function serve(environment: Environment): Promise<void> {
  const config = readConfig(environment);
  const log = createLog(config.logLevel);
  const tls = config.tls && readTlsFiles(config.tls);
  const warning = openFilesWarning(config, openFilesLimit());
  if (warning !== null) log.warn(warning);
  if (config.secrets === null && databaseFile(config.databaseUrl) === null) {
    throw new Error('SPANDREL_SECRET must be set for this database: there is no file to keep it beside');
  }
  const opening = openStore({
    url: config.databaseUrl,
    telemetryUrl: config.telemetryUrl,
    moveTexts: config.moveTexts,
    queueMaxBytes: config.limits.requests.bodyBytes,
    jobQueue: config.evaluators.jobQueue,
    connectionsMax: config.databaseConnectionsMax,
    mayLoseWrites: config.databaseMayLoseWrites,
    waitMaxMs: config.databaseWaitMs,
    log,
  });
  // A failure is reported once it is awaited below.
  opening.catch(() => undefined);
  // In the turn after it, the rest of the code is loaded while the thread of the writer, or the database, starts.
  await yieldToEventLoop();
  const { createApp } = await import('../app/app.ts');
  const store = await opening;
  try {
    const installed = await store.installation.readSecret();
    const rootKeys = openRootKeys(config.secrets ?? secretBesideData(config, installed === null), installed);
    const first: { keys: FirstKeys | null } = { keys: null };
    const app = await createApp({
      config,
      store,
      rootKeys,
      pricing: createPricing(readPriceList()),
      clock: Date.now,
      random: randomBytes,
      log,
      tls,
      // These keys are shown only once, so they are made when nothing is left that could fail.
      async beforeServing() {
        const deps = { store: store.installation, rootKeys, keyPrefixes: config.keyPrefixes, random: randomBytes };
        first.keys = await bootstrap(deps, config.bootstrap, Date.now());
      },
    });
    if (first.keys !== null) {
      const takesKeys = config.console && config.signIn.byKey;
      process.stdout.write(exportLines(first.keys, takesKeys ? (config.publicUrl ?? app.address) : null));
    }
    // Before the ready line, which invites the first signal.
    const tlsWatch = config.tls && watchTlsFiles({ files: config.tls, use: app.renewTls, log });
    stopOnSignals({
      app,
      store,
      log,
      reload: tlsWatch?.reload ?? null,
      isBehindShell: environment.npm_lifecycle_event === 'npx',
    });
    log.info({ address: app.address, version: readVersion(), store: store.kind }, 'ready');
    // Loading all code made the heap larger than serving needs, and it stays so as long as little happens.
    setTimeout(() => globalThis.gc?.(GIVE_BACK), GIVE_BACK_AFTER_MS).unref();
  } catch (error) {
    await store.close();
    throw adviseOnPort(error);
  }
}

const GIVE_BACK_AFTER_MS = 1_000;
const GIVE_BACK = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;

function adviseOnPort(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') return error;
  const advice = 'stop the program that listens there, or set SPANDREL_PORT to another port';
  return new Error(`${error.message}; ${advice}`, { cause: error });
}

function secretBesideData(config: Config, isNew: boolean): RootSecrets {
  const file = databaseFile(config.databaseUrl);
  if (file === null) throw new Error('SPANDREL_SECRET must be set for this database');
  // A new secret is useless for a database that was created with another one.
  return isNew ? readOrCreateSecret(dirname(file), randomBytes) : readSecrets(dirname(file));
}

type Running = {
  readonly app: Pick<App, 'stop'>;
  readonly store: Pick<Store, 'close'>;
  /** Reads files again that may have changed; null when there are none. */
  readonly reload: (() => void) | null;
  readonly log: { info(message: string): void; fatal(fields: object, message: string): void };
  /** Whether the parent is a shell that forwards no signals, as with npx. */
  readonly isBehindShell: boolean;
};

/** A Ctrl-C reaches this process from the terminal, and again from npm, which passes it on. */
const REPEATED_SIGNAL_MS = 1_000;
const PARENT_POLL_MS = 250;
const STDIN = 0;

/** The first signal drains the server, a later one exits at once. */
function stopOnSignals({ app, store, log, reload, isBehindShell }: Running): void {
  let stoppingSinceMs: number | null = null;
  const stop = async () => {
    if (stoppingSinceMs !== null) {
      if (performance.now() - stoppingSinceMs > REPEATED_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSinceMs = performance.now();
    log.info('stopping');
    try {
      await app.stop();
      await store.close();
      log.info('stopped');
      process.exit(0);
    } catch (error) {
      log.fatal({ err: error }, 'the stop failed');
      process.exit(1);
    }
  };
  process.removeAllListeners('SIGTERM').on('SIGTERM', stop).on('SIGINT', stop);
  const isOnTerminal = isatty(STDIN);
  process.on('SIGHUP', () => {
    // Sent when the terminal closes, and by operators to servers whose files they have changed.
    if (isOnTerminal && !isatty(STDIN)) void stop();
    else if (reload === null) log.info('SIGHUP: there are no files to read again');
    else reload();
  });
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error');
    process.exit(1);
  });
  if (isBehindShell) onceOrphaned(stop);
}

/** Calls `act` when the parent process changes: the shell dies of the signal without forwarding it. */
function onceOrphaned(act: () => void): void {
  const parent = process.ppid;
  const polling = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(polling);
    act();
  }, PARENT_POLL_MS).unref();
}
