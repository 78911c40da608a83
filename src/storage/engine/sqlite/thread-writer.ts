/** The writer in its own thread: started, watched, and started again when it dies. */

import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import { unavailableFault } from '../../../domain/fault.ts';
import { StartError } from '../../start-error.ts';
import type { StoreLog } from '../../store.ts';
import type { CallWriter, Writer } from './core.ts';
import { storageFault } from './failures.ts';
import { type Call, CLOSE, type Reply, type WriterThreadInput } from './thread-messages.ts';

const RESTART_MIN_MS = 50;
const RESTART_MAX_MS = 5000;
const RETRY_AFTER_SECONDS = 1;

export type ThreadWriterOptions = {
  readonly file: string;
  readonly log: StoreLog;
  readonly spawn?: (input: WriterThreadInput) => Worker;
};

type Pending = { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void };

/** Rejects with StartError when the database cannot be opened. */
export async function startThreadWriter({ file, log, spawn = spawnThread }: ThreadWriterOptions): Promise<Writer> {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let thread: Worker | null = null;
  let restartMs = RESTART_MIN_MS;
  let restart: NodeJS.Timeout | undefined;
  let reviving: Promise<void> = Promise.resolve();
  let closing = false;

  function post(verb: Call['verb'], args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (thread === null) return reject(goneFault());
      lastId += 1;
      const call: Call = { id: lastId, verb, args };
      thread.postMessage(call);
      pending.set(lastId, { resolve, reject });
    });
  }

  function settle(reply: Extract<Reply, { id: number }>): void {
    const waiting = pending.get(reply.id);
    pending.delete(reply.id);
    if (reply.kind === 'done') waiting?.resolve(reply.value);
    else waiting?.reject(reply.isStorageFailure ? storageFault(reply.error) : reply.error);
  }

  function lose(cause: unknown): void {
    thread = null;
    // Whether these were committed is unknown; sending them again is safe.
    for (const { reject } of pending.values()) reject(goneFault(cause));
    pending.clear();
    if (closing) return;
    log.error({ err: cause, restartMs }, 'the writer thread died');
    restart = setTimeout(() => {
      reviving = revive();
    }, restartMs);
    restartMs = Math.min(restartMs * 2, RESTART_MAX_MS);
  }

  async function revive(): Promise<void> {
    try {
      await start();
      restartMs = RESTART_MIN_MS;
    } catch (error) {
      lose(error);
    }
  }

  /** Resolves when the thread serves; from then on its death is noticed. */
  function start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = spawn({ file, compileCacheFolder: getCompileCacheDir() ?? null });
      let failure: unknown = null;
      let serving = false;
      worker.on('message', (reply: Reply) => {
        if (reply.kind === 'done' || reply.kind === 'failed') settle(reply);
        else if (reply.kind === 'refused') failure = new StartError(reply.message);
        else {
          serving = true;
          thread = worker;
          resolve();
        }
      });
      worker.on('error', (error) => {
        failure = error;
      });
      worker.on('exit', (code) => {
        const cause = failure ?? new Error(`the writer thread ended with code ${code}`);
        if (serving) lose(cause);
        else reject(cause);
      });
    });
  }

  await start();
  return {
    call: ((verb, ...args) => post(verb, args)) as CallWriter,
    close: async () => {
      closing = true;
      clearTimeout(restart);
      await reviving;
      const worker = thread;
      if (worker === null) return;
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage(CLOSE);
      await exited;
    },
  };
}

function spawnThread(input: WriterThreadInput): Worker {
  return new Worker(new URL('./writer-thread-launch.js', import.meta.url), {
    workerData: input,
    name: 'spandrel-writer',
  });
}

function goneFault(cause?: unknown) {
  return unavailableFault('The store is restarting; try again.', RETRY_AFTER_SECONDS, cause);
}
