/** Calls from the main thread to a worker thread with a database handle of its own. */

import { getCompileCacheDir } from 'node:module';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { JOB_QUEUE_DEFAULTS, type JobQueueOptions } from '../../../domain/evaluations/jobs.ts';
import { unavailableFault } from '../../../domain/fault.ts';
import type { StatementRooms } from '../../statements/statement.ts';
import { type StorageFailure, storageFault } from './failures.ts';
import type { LockFile } from './lock.ts';

/** The input of a new thread. */
export type ThreadInput = {
  readonly thread: 'reader' | 'writer';
  readonly file: string;
  /** See OpenCoreOptions. */
  readonly jobQueue: JobQueueOptions;
  /** Null where the database needs no lock. */
  readonly lockFile: LockFile | null;
  /** Null for the writer, which compiles them. */
  readonly statements: StatementRooms | null;
  /** The address of ClickHouse, if it has the index of traces. */
  readonly telemetryUrl: string | null;
  /** Null: the process has no compile cache. */
  readonly compileCacheFolder: string | null;
};

export type Call = { readonly id: number; readonly verb: string; readonly args: readonly unknown[] };

/** Asks the thread to finish and exit. */
export const CLOSE = 'close';

/** What the thread of the writer tells when it serves calls. */
export type Ready = {
  readonly kind: 'ready';
  readonly verbs: readonly string[];
  /** For the threads that only read. */
  readonly statements: StatementRooms;
};

export type Reply =
  | Ready
  /** The database cannot be opened; the message is for the operator. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  /** Errors lose their codes between threads, so the thread classifies them. */
  | { readonly kind: 'failed'; readonly id: number; readonly failure: StorageFailure | null; readonly error: Error };

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timeout: NodeJS.Timeout | undefined;
};

const RETRY_AFTER_SECONDS = 1;

/**
 * `callMaxMs`: longer calls are refused; undefined: no limit. A thread that answered nothing during such a call may be
 * stuck, and is terminated.
 */
export function createThreadCalls(callMaxMs?: number) {
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
    send: (worker: Worker, verb: string, args: readonly unknown[]) =>
      new Promise<unknown>((resolve, reject) => {
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
    settle(reply: Reply): void {
      answered += 1;
      if (reply.kind === 'done') take(reply.id)?.resolve(reply.value);
      else if (reply.kind === 'failed') {
        take(reply.id)?.reject(reply.failure === null ? reply.error : storageFault(reply.error, reply.failure));
      }
    },
    /** Refuses all pending calls once the thread has ended. */
    rejectAll(cause: unknown): void {
      for (const id of pending.keys()) take(id)?.reject(restartingFault(cause));
    },
    countPending: () => pending.size,
  };
}

export function spawnThread(
  {
    thread,
    file,
    jobQueue = JOB_QUEUE_DEFAULTS,
    lockFile = null,
    statements = null,
    telemetryUrl = null,
  }: Pick<ThreadInput, 'thread' | 'file'> &
    Partial<Pick<ThreadInput, 'jobQueue' | 'lockFile' | 'statements' | 'telemetryUrl'>>,
  resourceLimits?: ResourceLimits,
): Worker {
  const workerData: ThreadInput = {
    thread,
    file,
    jobQueue,
    lockFile,
    statements,
    telemetryUrl,
    compileCacheFolder: getCompileCacheDir() ?? null,
  };
  return new Worker(new URL('./thread-launch.js', import.meta.url), {
    workerData,
    name: `spandrel-${thread}`,
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
  });
}

/** Waits until the thread has finished its calls; at most `waitMaxMs`, if given. */
export async function endThread(worker: Worker | null, waitMaxMs?: number): Promise<void> {
  if (worker === null) return;
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage(CLOSE);
  const timeout = waitMaxMs === undefined ? undefined : setTimeout(() => void worker.terminate(), waitMaxMs);
  await exited;
  clearTimeout(timeout);
}

export function restartingFault(cause?: unknown) {
  return refusal('The store is restarting; try again.', cause);
}

export function refusal(message: string, cause?: unknown) {
  return unavailableFault(message, RETRY_AFTER_SECONDS, cause);
}
