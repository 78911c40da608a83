/** Opens a database in a file: its lock, its writer, then the store on them. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { JOB_QUEUE_DEFAULTS } from '../../../domain/evaluations/jobs.ts';
import type { Store } from '../../../domain/store.ts';
import { createFolder } from './connection.ts';
import { acquireLock, type Lock, realPathOf, requireLock } from './lock.ts';
import type { SqliteStoreOptions } from './store.ts';
import { spawnThread } from './thread-calls.ts';
import { startThreadWriter } from './thread-writer.ts';

// In MiB. Large posts leave garbage, which would grow to twice this size before a collection.
const WRITER_HEAP = { maxYoungGenerationSizeMb: 48 };

/** Throws StartError. */
export async function openFileStore(file: string, options: SqliteStoreOptions): Promise<Store> {
  createFolder(dirname(file));
  // SQLite would make the file of a link that leads to none, readable for others.
  const path = existsSync(file) ? file : realPathOf(file);
  const lock = acquireLock(path);
  try {
    return await (options.writer === 'here' ? openHere : openThreaded)(path, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openThreaded(file: string, lock: Lock, options: SqliteStoreOptions): Promise<Store> {
  const { log, jobQueue = JOB_QUEUE_DEFAULTS } = options;
  const spawn = () => spawnThread({ thread: 'writer', file, jobQueue, lockFile: lock.renew() }, WRITER_HEAP);
  // While the thread starts, which is most of the start of the process, this one loads the rest.
  const [writer, { createThreadedStore }] = await Promise.all([
    startThreadWriter({ log, spawn }),
    import('./store.ts'),
  ]);
  return await createThreadedStore(file, writer, options, lock.release);
}

async function openHere(file: string, lock: Lock, options: SqliteStoreOptions): Promise<Store> {
  const [{ openCore }, { createInlineStore }] = await Promise.all([import('./core.ts'), import('./store.ts')]);
  const { jobQueue = JOB_QUEUE_DEFAULTS } = options;
  const lockFile = lock.renew();
  const opened = openCore({ file, clock: Date.now, jobQueue, requireLock: () => requireLock(lockFile) });
  return createInlineStore(opened, options, lock.release);
}
