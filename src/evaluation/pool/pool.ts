/** A thread pool for work that would block the event loop, with limits on threads, time and waiting tasks. */

import { createTenantSemaphore, type PermitRequest } from '../../scheduling/tenant-semaphore.ts';
import { createPoolThread, type Lost, type PoolAnswer, type PoolThread, type ThreadOptions } from './pool-thread.ts';

type PoolTask = PermitRequest & { readonly task: unknown };

export type PoolOptions = ThreadOptions & {
  readonly threadsMax: number;
  /** Tasks that wait for a thread: as many urgent ones, and as many others. */
  readonly queueMax: number;
  readonly waitMaxMs: number;
};

/** Threads that may be lost before they begin a task. */
const LOST_MAX = 3;

type HeldThread = {
  readonly thread: PoolThread;
  /** Of the last task. */
  organizationId: string;
  /** The permit of the task, until the thread is idle again or has ended, and its memory is free; null: none. */
  permit: PermitRequest | null;
};

export type Pool = ReturnType<typeof createPool>;

/** Starts threads on demand, and does not keep the process alive. Organizations and projects share the threads. */
export function createPool(options: PoolOptions) {
  const { threadsMax, queueMax, waitMaxMs } = options;
  const semaphore = createTenantSemaphore({ permitsMax: threadsMax, waitingMax: queueMax });
  const threads = new Set<HeldThread>();
  const closing = new AbortController();

  /** The caller has a permit, so one thread is idle or may be started. */
  function takeThread(permit: PermitRequest): PoolThread {
    const { organizationId } = permit.tenant;
    const idle = [...threads].filter(({ thread }) => thread.isIdle());
    const busy = [...threads].filter((held) => held.permit !== null);
    const idleThread = idle.find((held) => held.organizationId === organizationId);
    // An organization whose thread had to be ended waits for a new one, instead of taking one that others use.
    const held = idleThread ?? (idle.length + busy.length < threadsMax ? null : idle[0]) ?? startThread();
    held.organizationId = organizationId;
    held.permit = permit;
    return held.thread;
  }

  /** Null when the system has no thread left. */
  function tryTakeThread(permit: PermitRequest): PoolThread | null {
    try {
      return takeThread(permit);
    } catch {
      return null;
    }
  }

  function startThread(): HeldThread {
    const thread = createPoolThread({
      ...options,
      onIdle: () => release(held),
      onExit: () => {
        threads.delete(held);
        release(held);
      },
    });
    const held: HeldThread = { thread, organizationId: '', permit: null };
    threads.add(held);
    return held;
  }

  function release(held: HeldThread): void {
    const { permit } = held;
    held.permit = null;
    if (permit !== null) semaphore.release(permit);
  }

  /** Waits for a permit until the signal is aborted, or for as long as a task may wait. */
  async function acquire(permit: PermitRequest, signal: AbortSignal): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), waitMaxMs).unref();
    try {
      return (await semaphore.acquire(permit, AbortSignal.any([signal, late.signal]))) === 'acquired';
    } finally {
      clearTimeout(timer);
    }
  }

  /** The thread has died of an earlier task, for example, when the answer is `lost`. */
  async function tryRun({ tenant, isUrgent, task }: PoolTask, signal: AbortSignal): Promise<PoolAnswer | Lost> {
    const permit = { tenant, isUrgent };
    if (!(await acquire(permit, signal))) return { kind: signal.aborted ? 'aborted' : 'full' };
    const thread = signal.aborted ? null : tryTakeThread(permit);
    if (thread !== null) return await new Promise((answer) => thread.work(task, { signal, answer }));
    semaphore.release(permit);
    return { kind: signal.aborted ? 'aborted' : 'full' };
  }

  return {
    /** Never rejects. Every task ends: by itself, by the time limit, or by the signal. */
    async run(task: PoolTask, ended: AbortSignal): Promise<PoolAnswer> {
      const signal = AbortSignal.any([ended, closing.signal]);
      for (let lost = 0; lost < LOST_MAX; lost += 1) {
        const answer = await tryRun(task, signal);
        if (answer.kind !== 'lost') return answer;
      }
      return { kind: 'full' };
    },
    async close(): Promise<void> {
      closing.abort();
      await Promise.all([...threads].map(({ thread }) => thread.end()));
    },
  };
}
