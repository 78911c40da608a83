/** Puts the SQLite store together: reads on their own handle, writes through the writer. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { unavailableFault } from '../../domain/fault.ts';
import type { Store } from '../../domain/store.ts';
import { StartError } from '../start-error.ts';
import { createCommitQueue } from './commit-queue.ts';
import { type Database, openReadHandle } from './connection.ts';
import { prepareEventReader } from './event-reader.ts';
import { createInlineWriter } from './inline-writer.ts';
import { prepareInstallationReader } from './installation-reader.ts';
import { prepareKeyReader } from './key-reader.ts';
import { takeLock } from './lock.ts';
import { openCore } from './open-core.ts';
import { type ReadLane, readAtOnce } from './read-lane.ts';
import { startThreadWriter } from './thread-writer.ts';
import { prepareTraceReader } from './trace-reader.ts';
import type { StoreLog, Writer } from './writer.ts';

export type SqliteStoreOptions = { readonly queueMaxBytes: number; readonly log: StoreLog };

const CLOSED_RETRY_AFTER_SECONDS = 1;

/** A database in a file, with the writer in its own thread. Throws StartError. */
export async function openFileStore(file: string, options: SqliteStoreOptions): Promise<Store> {
  createFolder(dirname(file));
  const lock = takeLock(file);
  try {
    const writer = await startThreadWriter({ file, log: options.log });
    // Opened last and closed first: the writer then leaves one tidy file behind.
    const reader = openReadHandle(file);
    return assembleStore({ ...options, writer, reader, lane: readAtOnce, release: () => lock.release() });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** A database that is gone when the process is, on one handle. */
export async function openMemoryStore(options: SqliteStoreOptions): Promise<Store> {
  const warn = (message: string) => options.log.warn({ detail: message }, 'the object mapper warns');
  const { core, db } = await openCore({ file: ':memory:', clock: Date.now, warn });
  // Reads wait for their turn, or they would see what a transaction has not committed.
  const lane: ReadLane = (read) => core.run(() => readAtOnce(read));
  return assembleStore({ ...options, writer: createInlineWriter(core), reader: db, lane, release: () => undefined });
}

type Parts = SqliteStoreOptions & {
  readonly writer: Writer;
  readonly reader: Database;
  readonly lane: ReadLane;
  readonly release: () => void;
};

function assembleStore({ writer, reader, lane, queueMaxBytes, release }: Parts): Store {
  const { call } = writer;
  let closing: Promise<void> | undefined;
  const openLane: ReadLane = async (read) => {
    refuseWhenClosed();
    return await lane(read);
  };
  const queue = createCommitQueue({ commit: (appends) => call('append', appends), queueMaxBytes });
  const installation = prepareInstallationReader(reader, openLane);

  function refuseWhenClosed(): void {
    if (closing) throw unavailableFault('The store is closed.', CLOSED_RETRY_AFTER_SECONDS);
  }

  async function close(): Promise<void> {
    await queue.drain();
    if (!reader.memory) reader.close();
    await writer.close();
    release();
  }

  return {
    installation: {
      readVerifier: installation.readVerifier,
      // Spares every later start the loading of what only the first one needs.
      bootstrap: async (plan) => !(await installation.hasOrganization()) && (await call('bootstrap', plan)),
    },
    keys: { ...prepareKeyReader(reader, openLane), insertApiKey: async (key) => await call('insertApiKey', key) },
    traces: {
      ...prepareTraceReader(reader, openLane),
      append: async (append) => {
        refuseWhenClosed();
        return await queue.append(append);
      },
    },
    events: prepareEventReader(reader, openLane),
    evaluators: {
      insert: (evaluator, liveMax) => call('insertEvaluator', evaluator, liveMax),
      find: (projectId, idOrSlug) => call('findEvaluator', projectId, idOrSlug),
    },
    ready: async () => {
      await installation.hasOrganization();
      await call('check');
    },
    close: () => {
      closing ??= close();
      return closing;
    },
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
