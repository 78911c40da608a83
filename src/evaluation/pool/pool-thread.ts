/** One thread of the pool: it runs one task at a time, and is ended when a task takes too long. */

import type { Worker } from 'node:worker_threads';

export type PoolAnswer =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out_of_memory' }
  /** The queue is full, the task has waited too long, or several threads were lost before they began it. */
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

/** The thread ended before it began the task, or did not begin it in time: the task is not to blame. */
export type Lost = { readonly kind: 'lost' };

type Job = { readonly signal: AbortSignal; readonly answer: (answer: PoolAnswer | Lost) => void };

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
  let hasBegun = false;
  let ending = false;
  let timer: NodeJS.Timeout | undefined;

  const endLater = (delayMs: number, answer: PoolAnswer | Lost) => {
    clearTimeout(timer);
    timer = setTimeout(() => void end(answer), delayMs).unref();
  };
  const abort = () => void end({ kind: 'aborted' });

  function finish(answer: PoolAnswer | Lost): void {
    clearTimeout(timer);
    job?.signal.removeEventListener('abort', abort);
    job?.answer(answer);
    job = null;
  }

  function becomeIdle(answer: PoolAnswer): void {
    finish(answer);
    endLater(options.idleMs, { kind: 'aborted' });
    options.onIdle();
  }

  async function end(answer: PoolAnswer | Lost): Promise<void> {
    ending = true;
    finish(answer);
    await worker.terminate();
  }

  worker.on('message', (reply: ThreadReply) => {
    if (ending) return;
    if (reply.kind !== 'begun') return becomeIdle(reply);
    hasBegun = true;
    endLater(options.timeoutMs, { kind: 'timeout' });
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    ending = true;
    if (!hasBegun) finish({ kind: 'lost' });
    else if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') finish({ kind: 'out_of_memory' });
    else finish({ kind: 'failed', message: error.message });
  });
  worker.on('exit', (code) => {
    ending = true;
    finish(hasBegun ? { kind: 'failed', message: `the thread ended with code ${code}` } : { kind: 'lost' });
    options.onExit();
  });

  return {
    isIdle: () => job === null && !ending,
    work(task, given) {
      job = given;
      hasBegun = false;
      given.signal.addEventListener('abort', abort);
      endLater(options.loadMaxMs, { kind: 'lost' });
      try {
        worker.postMessage(task);
      } catch (error) {
        // The task holds what cannot be sent to a thread.
        becomeIdle({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
      }
    },
    end: () => end({ kind: 'aborted' }),
  };
}
