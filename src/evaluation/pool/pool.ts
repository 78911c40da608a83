/** A thread pool for work that would block the event loop, with limits on threads, time and waiting tasks. */

import { createOwnerQueue } from '../../domain/owner-queue.ts';
import { createPoolThread, type PoolAnswer, type PoolThread, type ThreadOptions } from './pool-thread.ts';

/** Owners take turns when tasks have to wait. */
type PoolTask = { readonly owner: string; readonly task: unknown };

export type PoolOptions = ThreadOptions & {
  readonly threadsMax: number;
  /** Tasks that wait for a thread. */
  readonly queueMax: number;
  readonly waitMaxMs: number;
};

type Waiting = {
  readonly task: unknown;
  readonly signal: AbortSignal;
  readonly queuedAtMs: number;
  readonly answer: (answer: PoolAnswer) => void;
};

export type Pool = ReturnType<typeof createPool>;

/** Starts threads on demand, and does not keep the process alive. */
export function createPool(options: PoolOptions) {
  const queue = createOwnerQueue<string, Waiting>(options.queueMax);
  const threads = new Set<PoolThread>();
  let closed = false;

  function dispatch(): void {
    refuseStale();
    while (queue.length() > 0) {
      const thread = findIdle() ?? startThread();
      if (thread === null) return;
      const next = queue.next();
      if (next !== undefined) thread.work(next.task, { signal: next.signal, answer: next.answer });
    }
  }

  /** Refuses tasks that waited too long. Runs whenever a thread becomes free, at the latest after a time limit. */
  function refuseStale(): void {
    const oldestMs = performance.now() - options.waitMaxMs;
    for (const stale of queue.removeWhere(({ queuedAtMs }) => queuedAtMs < oldestMs)) stale.answer({ kind: 'full' });
  }

  function findIdle(): PoolThread | null {
    for (const thread of threads) if (thread.isIdle()) return thread;
    return null;
  }

  function startThread(): PoolThread | null {
    // A thread that is ending counts, because it still holds its memory.
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
    /** Never rejects. Every task ends: by itself, by the time limit, or by the signal. */
    run: ({ owner, task }: PoolTask, signal: AbortSignal) =>
      new Promise<PoolAnswer>((resolve) => {
        if (closed || signal.aborted) return resolve({ kind: 'aborted' });
        const leave = () => {
          if (queue.remove(owner, waiting)) waiting.answer({ kind: 'aborted' });
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
        if (queue.add(owner, waiting) !== 'added') return resolve({ kind: 'full' });
        signal.addEventListener('abort', leave);
        dispatch();
      }),
    async close(): Promise<void> {
      closed = true;
      for (const waiting of queue.removeWhere(() => true)) waiting.answer({ kind: 'aborted' });
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}
