/** Runs the writer in its own thread, and restarts the thread when it dies. */

import type { Worker } from 'node:worker_threads';
import { StartError } from '../../errors.ts';
import type { StoreLog } from '../../store.ts';
import type { CallWriter, Writer } from './core.ts';
import { createThreadCalls, endThread, type Ready, type Reply, restartingFault } from './thread-calls.ts';

const RESTART_MIN_MS = 50;
const RESTART_MAX_MS = 5000;

export type ThreadWriter = Writer & Pick<Ready, 'verbs' | 'statements'>;

type ThreadWriterOptions = { readonly log: StoreLog; readonly spawn: () => Worker };

/** Rejects with StartError when the database cannot be opened. */
export async function startThreadWriter({ log, spawn }: ThreadWriterOptions): Promise<ThreadWriter> {
  const calls = createThreadCalls();
  let thread: Worker | null = null;
  let restartMs = RESTART_MIN_MS;
  let restart: NodeJS.Timeout | undefined;
  let restarting: Promise<void> = Promise.resolve();
  let closing = false;

  function handleDeath(cause: unknown): void {
    thread = null;
    // Whether these calls were committed is unknown; sending them again is safe.
    calls.rejectAll(cause);
    if (closing) return;
    log.error(
      { err: cause, restartMs },
      'the writer thread died; it is started again, and writes are refused until then',
    );
    restart = setTimeout(() => {
      restarting = restartThread();
    }, restartMs);
    restartMs = Math.min(restartMs * 2, RESTART_MAX_MS);
  }

  async function restartThread(): Promise<void> {
    try {
      await start();
      restartMs = RESTART_MIN_MS;
    } catch (error) {
      handleDeath(error);
    }
  }

  /** Resolves when the thread serves calls; from then on its death is handled by `handleDeath`. */
  function start(): Promise<Ready> {
    return new Promise((resolve, reject) => {
      const worker = spawn();
      let failure: unknown = null;
      let serving = false;
      worker.on('message', (reply: Reply) => {
        if (reply.kind === 'refused') failure = new StartError(reply.message);
        else if (reply.kind === 'ready') {
          serving = true;
          thread = worker;
          resolve(reply);
        } else calls.settle(reply);
      });
      worker.on('error', (error) => {
        failure = error;
      });
      worker.on('exit', (code) => {
        const cause = failure ?? new Error(`the writer thread ended with code ${code}`);
        if (serving) handleDeath(cause);
        else reject(cause);
      });
    });
  }

  const { verbs, statements } = await start();
  return {
    verbs,
    statements,
    call: (async (verb, ...args) => {
      if (thread === null) throw restartingFault();
      return await calls.send(thread, verb, args);
    }) as CallWriter,
    close: async () => {
      closing = true;
      clearTimeout(restart);
      await restarting;
      await endThread(thread);
    },
  };
}
