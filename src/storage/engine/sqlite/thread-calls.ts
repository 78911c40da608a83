/** Calls of the main thread to one that has a handle of its own, and what comes back. */

import { getCompileCacheDir } from 'node:module';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { SETTLE, type Settle } from '../../../domain/evaluations/jobs.ts';
import { unavailableFault } from '../../../domain/fault.ts';
import { storageFault } from './failures.ts';

/** What a thread is started with. */
export type ThreadInput = {
  /** Which of the two that there are. */
  readonly thread: 'reader' | 'writer';
  readonly file: string;
  /** See OpenCoreOptions. */
  readonly settle: Settle;
  /** Null: the process keeps no cache of compiled code. */
  readonly compileCacheFolder: string | null;
};

export type Call = { readonly id: number; readonly verb: string; readonly args: readonly unknown[] };

/** Answered by the end of the thread. */
export const CLOSE = 'close';

export type Reply =
  | { readonly kind: 'ready' }
  /** The database cannot be opened; the message is for the operator. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  /** Errors lose their codes between threads, so the thread says what it was. */
  | { readonly kind: 'failed'; readonly id: number; readonly isStorageFailure: boolean; readonly error: Error };

export type ThreadCalls = {
  send(worker: Worker, verb: string, args: readonly unknown[]): Promise<unknown>;
  settle(reply: Reply): void;
  /** The thread is gone: what waits for it is refused. */
  lose(cause: unknown): void;
  countPending(): number;
};

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timeout: NodeJS.Timeout | undefined;
};

const RETRY_AFTER_SECONDS = 1;

/**
 * `callMaxMs`: what takes longer is given up; undefined: nothing is. A thread that has answered nothing meanwhile may never
 * answer again, and is ended.
 */
export function createThreadCalls(callMaxMs?: number): ThreadCalls {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let answered = 0;

  function take(id: number): Pending | undefined {
    const waiting = pending.get(id);
    pending.delete(id);
    clearTimeout(waiting?.timeout);
    return waiting;
  }

  return {
    send: (worker, verb, args) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        const call: Call = { id: lastId, verb, args };
        worker.postMessage(call);
        const answeredBefore = answered;
        const giveUp = () => {
          take(call.id)?.reject(refusal('The read took too long; try again.'));
          if (answered === answeredBefore) void worker.terminate();
        };
        const timeout = callMaxMs === undefined ? undefined : setTimeout(giveUp, callMaxMs).unref();
        pending.set(call.id, { resolve, reject, timeout });
      }),
    settle(reply) {
      answered += 1;
      if (reply.kind === 'done') take(reply.id)?.resolve(reply.value);
      else if (reply.kind === 'failed') {
        take(reply.id)?.reject(reply.isStorageFailure ? storageFault(reply.error) : reply.error);
      }
    },
    lose(cause) {
      for (const id of pending.keys()) take(id)?.reject(goneFault(cause));
    },
    countPending: () => pending.size,
  };
}

export function spawnThread(
  { thread, file, settle = SETTLE }: Pick<ThreadInput, 'thread' | 'file'> & { readonly settle?: Settle },
  resourceLimits?: ResourceLimits,
): Worker {
  const workerData: ThreadInput = { thread, file, settle, compileCacheFolder: getCompileCacheDir() ?? null };
  return new Worker(new URL('./thread-launch.js', import.meta.url), {
    workerData,
    name: `spandrel-${thread}`,
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
  });
}

/** Waits until it has done what it was asked for; `waitMaxMs`: not longer than that. */
export async function endThread(worker: Worker | null, waitMaxMs?: number): Promise<void> {
  if (worker === null) return;
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage(CLOSE);
  const timeout = waitMaxMs === undefined ? undefined : setTimeout(() => void worker.terminate(), waitMaxMs);
  await exited;
  clearTimeout(timeout);
}

export function goneFault(cause?: unknown) {
  return refusal('The store is restarting; try again.', cause);
}

export function refusal(message: string, cause?: unknown) {
  return unavailableFault(message, RETRY_AFTER_SECONDS, cause);
}
