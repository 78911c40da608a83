/** A few threads for work that would hold up the event loop, with a bound on how many, how long, and how much waits. */

import type { Worker } from 'node:worker_threads';
import { createPoolThread, type PoolThread } from './pool-thread.ts';
import { createWaitingLine } from './waiting-line.ts';

export type PoolAnswer =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out_of_memory' }
  /** Too many others wait, or have waited for too long. */
  | { readonly kind: 'full' }
  | { readonly kind: 'aborted' };

/** Owners take turns where tasks have to wait. */
export type PoolTask = { readonly owner: string; readonly task: unknown };

export type Pool = {
  /** Never rejects. Whatever is asked for comes to an end: by itself, by the time limit, or by the signal. */
  run(task: PoolTask, signal: AbortSignal): Promise<PoolAnswer>;
  close(): Promise<void>;
};

export type PoolOptions = {
  readonly threadsMax: number;
  /** Tasks that wait for a thread. */
  readonly queueMax: number;
  readonly waitMaxMs: number;
  /** Of one task, from the moment that its code is loaded. */
  readonly timeoutMs: number;
  /** How long a thread may take to load the code of a task. */
  readonly loadMaxMs: number;
  /** A thread without work ends after that, and frees its memory. */
  readonly idleMs: number;
  readonly spawn: () => Worker;
};

type Waiting = {
  readonly task: unknown;
  readonly signal: AbortSignal;
  readonly queuedAtMs: number;
  readonly answer: (answer: PoolAnswer) => void;
};

/** Starts no thread before there is a task, and keeps no process alive. */
export function createPool(options: PoolOptions): Pool {
  const line = createWaitingLine<Waiting>(options.queueMax);
  const threads = new Set<PoolThread>();
  let closed = false;

  function dispatch(): void {
    refuseStale();
    while (line.length() > 0) {
      const thread = findIdle() ?? startThread();
      if (thread === null) return;
      const next = line.next();
      if (next !== undefined) thread.work(next.task, { signal: next.signal, answer: next.answer });
    }
  }

  /** A task is given up when a thread is free at last, which it is once in a time limit. */
  function refuseStale(): void {
    const oldestMs = performance.now() - options.waitMaxMs;
    for (const stale of line.removeWhere(({ queuedAtMs }) => queuedAtMs < oldestMs)) stale.answer({ kind: 'full' });
  }

  function findIdle(): PoolThread | null {
    for (const thread of threads) if (thread.isIdle()) return thread;
    return null;
  }

  function startThread(): PoolThread | null {
    // One that is being ended holds its memory until it is gone, so it counts.
    if (threads.size >= options.threadsMax) return null;
    const thread = createPoolThread({
      ...options,
      onIdle: dispatch,
      onExit: () => {
        threads.delete(thread);
        if (!closed) dispatch();
      },
    });
    threads.add(thread);
    return thread;
  }

  return {
    run: ({ owner, task }, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted) return resolve({ kind: 'aborted' });
        const leave = () => {
          if (line.remove(owner, waiting)) waiting.answer({ kind: 'aborted' });
        };
        const waiting: Waiting = {
          task,
          signal,
          queuedAtMs: performance.now(),
          answer: (answer) => {
            signal.removeEventListener('abort', leave);
            resolve(answer);
          },
        };
        if (!line.add(owner, waiting)) return resolve({ kind: 'full' });
        signal.addEventListener('abort', leave);
        dispatch();
      }),
    close: async () => {
      closed = true;
      for (const waiting of line.removeWhere(() => true)) waiting.answer({ kind: 'aborted' });
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}
