/** One thread of the pool: it has one task at a time, and is ended when that takes too long. */

import type { PoolAnswer, PoolOptions } from './pool.ts';

export type PoolThread = {
  isIdle(): boolean;
  work(task: unknown, job: Job): void;
  end(): Promise<void>;
};

export type Job = { readonly signal: AbortSignal; readonly answer: (answer: PoolAnswer) => void };

/** What a thread says of its task. */
export type ThreadReply =
  /** Its code is loaded, and it begins. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly message: string };

export type PoolThreadOptions = Pick<PoolOptions, 'timeoutMs' | 'loadMaxMs' | 'idleMs' | 'spawn'> & {
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
