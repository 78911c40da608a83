/** Long reads in a thread of their own, which is started with the first of them, and again after it died. */

import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import { unavailableFault } from '../../../domain/fault.ts';
import { createLimiter } from '../../reading/limiter.ts';
import type { WholeTraceReads } from '../../reading/trace-reads.ts';
import { storageFault } from './failures.ts';
import { CLOSE, type ReadCall, type ReaderThreadInput, type ReadReply } from './thread-messages.ts';

export type ThreadReader = {
  /** Every read rejects with the unavailable Fault when the thread is gone, has too much to do, or takes too long. */
  readonly reads: WholeTraceReads;
  /** Waits for reads that have begun, and refuses all others. */
  close(): Promise<void>;
};

export type ThreadReaderOptions = {
  readonly file: string;
  readonly spawn?: (input: ReaderThreadInput) => Worker;
  /** Longer reads are given up. */
  readonly readMaxMs?: number;
};

// What looks at all spans of a trace goes one by one: each holds all of their ids.
const WHOLE_TRACES = { runningMax: 1, waitingMax: 64 };
const READS_PENDING_MAX = 256;
// Of the thread, in MiB. What one read holds is far less; without a bound the collector lets garbage grow to several times that.
const HEAP_MAX = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
const READ_MAX_MS = 30_000;
const RETRY_AFTER_SECONDS = 1;

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timeout: NodeJS.Timeout;
};

export function createThreadReader(options: ThreadReaderOptions): ThreadReader {
  const { file, spawn = spawnThread, readMaxMs = READ_MAX_MS } = options;
  const limit = createLimiter(WHOLE_TRACES);
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let thread: Worker | null = null;
  let closing = false;

  function start(): Worker {
    const worker = spawn({ file, compileCacheFolder: getCompileCacheDir() ?? null });
    let failure: unknown = null;
    worker.on('message', settle);
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => {
      thread = null;
      for (const id of pending.keys()) take(id)?.reject(refusal('The store is restarting; try again.', failure));
    });
    return worker;
  }

  function take(id: number): Pending | undefined {
    const waiting = pending.get(id);
    pending.delete(id);
    clearTimeout(waiting?.timeout);
    return waiting;
  }

  function settle(reply: ReadReply): void {
    const waiting = take(reply.id);
    if (reply.kind === 'done') waiting?.resolve(reply.value);
    else waiting?.reject(reply.isStorageFailure ? storageFault(reply.error) : reply.error);
  }

  function post(verb: ReadCall['verb'], args: readonly unknown[]): Promise<unknown> {
    if (closing) return Promise.reject(refusal('The store is closed.'));
    if (pending.size >= READS_PENDING_MAX) return Promise.reject(refusal('Too much is being read; try again.'));
    thread ??= start();
    lastId += 1;
    const call: ReadCall = { id: lastId, verb, args };
    thread.postMessage(call);
    return new Promise((resolve, reject) => {
      const giveUp = () => void take(call.id)?.reject(refusal('The read took too long; try again.'));
      pending.set(call.id, { resolve, reject, timeout: setTimeout(giveUp, readMaxMs).unref() });
    });
  }

  const call = <V extends keyof WholeTraceReads>(verb: V) =>
    ((...args: readonly unknown[]) => post(verb, args)) as unknown as WholeTraceReads[V];
  return {
    reads: {
      outline: (trace) => limit(() => call('outline')(trace)),
      digest: (trace) => limit(() => call('digest')(trace)),
      sums: (trace) => limit(() => call('sums')(trace)),
      spanOrder: call('spanOrder'),
      evaluationOrder: call('evaluationOrder'),
    },
    close: async () => {
      closing = true;
      const worker = thread;
      if (worker === null) return;
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage(CLOSE);
      await exited;
    },
  };
}

function spawnThread(input: ReaderThreadInput): Worker {
  return new Worker(new URL('./reader-thread-launch.js', import.meta.url), {
    workerData: input,
    name: 'spandrel-reader',
    resourceLimits: HEAP_MAX,
  });
}

function refusal(message: string, cause?: unknown) {
  return unavailableFault(message, RETRY_AFTER_SECONDS, cause);
}
