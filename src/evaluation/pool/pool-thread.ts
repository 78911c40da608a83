/** One thread of the pool: it runs one task at a time, and is ended when a task takes too long. */

import type { Worker } from 'node:worker_threads';

export type PoolAnswer =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out_of_memory' }
  /** The queue is full, or the task has waited too long. */
  | { readonly kind: 'full' }
  | { readonly kind: 'aborted' };

export type ThreadOptions = {
  /** The time limit of a task, after its code is loaded. */
  readonly timeoutMs: number;
  /** The time limit for loading the code of a task. */
  readonly loadMaxMs: number;
  /** An idle thread ends after this long, and frees its memory. */
  readonly idleMs: number;
  readonly spawn: () => Worker;
};

export type PoolThread = {
  isIdle(): boolean;
  work(task: unknown, job: Job): void;
  end(): Promise<void>;
};

type Job = { readonly signal: AbortSignal; readonly answer: (answer: PoolAnswer) => void };

/** A message of the thread about its task. */
export type ThreadReply =
  /** The code is loaded, and the task starts. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly message: string };

type PoolThreadOptions = ThreadOptions & {
  readonly onIdle: () => void;
  readonly onExit: () => void;
};

export function createPoolThread(options: PoolThreadOptions): PoolThread {
  const worker = options.spawn();
  worker.unref();
  let job: Job | null = null;
  let ending = false;
  let timer: NodeJS.Timeout | undefined;

  const endLater = (delayMs: number, answer: PoolAnswer) => {
    clearTimeout(timer);
    timer = setTimeout(() => void end(answer), delayMs).unref();
  };
  const abort = () => void end({ kind: 'aborted' });

  function finish(answer: PoolAnswer): void {
    clearTimeout(timer);
    job?.signal.removeEventListener('abort', abort);
    job?.answer(answer);
    job = null;
  }

  async function end(answer: PoolAnswer): Promise<void> {
    ending = true;
    finish(answer);
    await worker.terminate();
  }

  worker.on('message', (reply: ThreadReply) => {
    if (ending) return;
    if (reply.kind === 'begun') return endLater(options.timeoutMs, { kind: 'timeout' });
    finish(reply);
    endLater(options.idleMs, { kind: 'aborted' });
    options.onIdle();
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    ending = true;
    finish(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? { kind: 'out_of_memory' }
        : { kind: 'failed', message: error.message },
    );
  });
  worker.on('exit', (code) => {
    ending = true;
    finish({ kind: 'failed', message: `the thread ended with code ${code}` });
    options.onExit();
  });

  return {
    isIdle: () => job === null && !ending,
    work(task, given) {
      job = given;
      given.signal.addEventListener('abort', abort);
      endLater(options.loadMaxMs, { kind: 'timeout' });
      worker.postMessage(task);
    },
    end: () => end({ kind: 'aborted' }),
  };
}
