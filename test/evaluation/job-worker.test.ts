import { describe, expect, it } from 'vitest';
import {
  type ClaimedJob,
  type EvaluationJobStore,
  JOB_KINDS,
  type JobKind,
  type JobOutcome,
} from '../../src/domain/evaluations/jobs.ts';
import { Fault } from '../../src/domain/fault.ts';
import { createJobWorker } from '../../src/evaluation/job-worker.ts';

type Run = { readonly job: ClaimedJob; end(): Promise<void> };

const DROP: JobOutcome = { kind: 'drop' };
const kindOf = ({ sourceId }: ClaimedJob): JobKind =>
  sourceId === 'triggers' || sourceId === 'calls' ? sourceId : 'monitors';

/** A queue in memory, with jobs that run until a test ends them. */
function start({ concurrency = 4, refusals = 0, organizationOf = (projectNumber: number) => `${projectNumber}` } = {}) {
  let clockMs = 0;
  let queued: ClaimedJob[] = [];
  let rooms = 0;
  let drops = 0;
  let refusalsLeft = refusals;
  const ended: ClaimedJob['traceSequence'][] = [];
  const complaints: string[] = [];
  const running: Run[] = [];
  const store: EvaluationJobStore = {
    nowMs: async () => null,
    listen: () => () => {},
    isSingleProcess: true,
    queues: async () =>
      [...new Set(queued.map(({ projectNumber }) => projectNumber))]
        .toSorted((one, other) => one - other)
        .map((projectNumber) => ({ projectNumber, organizationId: organizationOf(projectNumber), dueAtMs: 0 })),
    async claim({ shares, fence }) {
      const claimed = shares.flatMap(({ projectNumber, limits }) => {
        const ofProject = queued.filter((job) => job.projectNumber === projectNumber);
        return JOB_KINDS.flatMap((kind) => ofProject.filter((job) => kindOf(job) === kind).slice(0, limits[kind]));
      });
      queued = queued.filter((job) => !claimed.includes(job));
      return claimed.map((job) => ({ ...job, fence }));
    },
    renew: async (jobs) => jobs.map(() => true),
    async release(jobs) {
      queued.push(...jobs);
    },
    correctDue: async () => undefined,
    takeOver: async () => {},
    async end() {
      return 'recorded';
    },
    async drop(jobs) {
      if (refusalsLeft > 0) {
        refusalsLeft -= 1;
        throw new Fault('unavailable', 'The store is full.');
      }
      drops += 1;
      for (const { traceSequence } of jobs) ended.push(traceSequence);
    },
    countsOf: async () => ({ due: 0, scheduled: 0, running: 0, oldestDueAtMs: null, refused: 0 }),
    counts: async () => ({ depth: queued.length, oldestDueAtMs: null, refused: 0 }),
  };
  let fences = 0;
  const worker = createJobWorker({
    store,
    run: (job) =>
      new Promise((resolve) => {
        running.push({
          job,
          async end() {
            running.splice(
              running.findIndex((each) => each.job === job),
              1,
            );
            resolve(DROP);
            for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
          },
        });
      }),
    nowMs: () => clockMs,
    monotonicMs: () => clockMs,
    wait: async () => {},
    newFence: () => ++fences,
    concurrency,
    kindOf,
    onError: (error, doing) => {
      if (refusals === 0) throw error;
      complaints.push(doing);
    },
    onCapacity: () => {
      rooms += 1;
    },
  });
  return {
    worker,
    running,
    projects: () => running.map(({ job }) => job.projectNumber).toSorted((one, other) => one - other),
    waiting: () => queued.length,
    rooms: () => rooms,
    ended,
    drops: () => drops,
    complaints,
    pass(ms: number) {
      clockMs += ms;
    },
    add(projectNumber: number, count: number, sourceId = 'm') {
      for (let index = 0; index < count; index += 1) {
        const traceSequence = queued.length + index;
        queued.push({
          projectNumber,
          traceSequence,
          sourceId,
          asOf: 0,
          traceId: `${index}`,
          fence: 0,
          failures: 0,
          sinceMs: 0,
        });
      }
    },
  };
}

describe('the worker of the queue', () => {
  it('leaves a slot to others, however many jobs of one project wait', async () => {
    const { worker, add, projects } = start();
    add(1, 500);
    await worker.poll();
    expect(projects()).toEqual([1, 1]);
    add(2, 1);
    await worker.poll();
    expect(projects()).toEqual([1, 1, 2]);
  });

  it('leaves a slot to others, however many projects of one organization have jobs', async () => {
    const { worker, add, projects, pass } = start({ organizationOf: (projectNumber) => String(projectNumber > 5) });
    for (const projectNumber of [1, 2, 3, 4, 5]) add(projectNumber, 500);
    await worker.poll();
    expect(projects()).toEqual([1, 2, 3]);
    // Also once their runs are known to take long.
    for (let poll = 0; poll < 3; poll += 1) {
      pass(60);
      await worker.poll();
    }
    expect(projects()).toHaveLength(3);
    add(6, 1);
    await worker.poll();
    expect(projects()).toEqual([1, 2, 3, 6]);
  });

  it('leaves room for triggers of others, however many projects of one organization test theirs', async () => {
    const { worker, add, projects } = start({ organizationOf: (projectNumber) => String(projectNumber > 5) });
    for (const projectNumber of [1, 2, 3, 4, 5]) add(projectNumber, 500, 'triggers');
    await worker.poll();
    add(6, 1, 'triggers');
    await worker.poll();
    expect(projects().filter((each) => each === 6)).toHaveLength(1);
  });

  it.each(['triggers', 'calls'])('runs %s while jobs of monitors hang and thousands more wait', async (kind) => {
    const { worker, add, running, pass } = start();
    add(1, 5000);
    await worker.poll();
    pass(60);
    await worker.poll();
    const monitors = running.length;
    add(1, 3, kind);
    expect(await worker.poll()).not.toBeNull();
    expect(running.slice(monitors).map(({ job }) => job.sourceId)).toEqual([kind, kind, kind]);
  });

  it('gives calls to every project of one organization, whatever the others have waiting', async () => {
    const { worker, add, running, projects } = start({ organizationOf: () => 'one' });
    for (const project of [1, 2, 3]) add(project, 100, 'calls');
    await worker.poll();
    const counts = [1, 2, 3].map((project) => projects().filter((each) => each === project).length);
    expect(counts).toEqual([10, 10, 10]);
    for (const each of [...running]) await each.end();
    await worker.poll();
    expect(Math.min(...[1, 2, 3].map((project) => projects().filter((each) => each === project).length))).toBe(10);
  });

  it('does not poll again at once for projects that have nothing but jobs without capacity', async () => {
    const { worker, add } = start({ concurrency: 2, organizationOf: () => 'one' });
    for (const project of [1, 2, 3, 4]) add(project, 100);
    for (let poll = 0; poll < 10; poll += 1) await worker.poll();
    expect(await worker.poll()).toBe(100);
  });

  it('runs quick jobs beside the concurrent ones, and ends them before it has stopped', async () => {
    const { worker, add, running, projects } = start({ concurrency: 2 });
    add(1, 8, 'triggers');
    await worker.poll();
    expect(projects()).toHaveLength(8);
    add(2, 1);
    await worker.poll();
    expect(projects().filter((each) => each === 2)).toHaveLength(1);
    let isStopped = false;
    const stopped = worker.stop(60_000).then(() => {
      isStopped = true;
    });
    while (running.length > 0) {
      expect(isStopped).toBe(false);
      await running[0]?.end();
    }
    await stopped;
  });

  it('claims many quick jobs at once, drops them at once, and leaves room for those of another project', async () => {
    const { worker, add, running, projects, ended, drops, waiting } = start({ concurrency: 1 });
    add(1, 2_000, 'triggers');
    expect(await worker.poll()).toBeGreaterThan(0);
    expect(running).toHaveLength(2_000 - waiting());
    expect(running.length).toBeGreaterThan(300);
    add(2, 50, 'triggers');
    await worker.poll();
    expect(projects().filter((each) => each === 2)).toHaveLength(50);
    const count = running.length;
    await Promise.all(running.slice().map((each) => each.end()));
    expect(ended).toHaveLength(count);
    expect(drops()).toBeLessThan(5);
  });

  it('claims ahead for one project only as much as leaves room for another', async () => {
    const { worker, add, projects, waiting } = start();
    add(1, 500);
    expect(await worker.poll()).toBeGreaterThan(0);
    const left = waiting();
    expect(left).toBeLessThan(490);
    expect(await worker.poll()).toBeGreaterThan(0);
    expect(waiting()).toBe(left);
    add(2, 500);
    await worker.poll();
    expect(waiting()).toBeLessThan(left + 500);
    expect(projects()).toEqual([1, 1, 2, 2]);
  });

  it('gives slots to projects in turn', async () => {
    const { worker, add, running, projects } = start({ concurrency: 2 });
    add(1, 20);
    await worker.poll();
    add(2, 20);
    add(3, 20);
    await worker.poll();
    expect(projects()).toEqual([1, 2]);
    const ended: number[] = [];
    for (let index = 0; index < 7; index += 1) {
      ended.push(running[0]?.job.projectNumber ?? 0);
      await running[0]?.end();
    }
    for (const project of [1, 2, 3]) expect(ended.filter((each) => each === project).length).toBeGreaterThan(1);
  });

  it('holds no more of a project than it runs, once its runs take long', async () => {
    const { worker, add, running, waiting, pass } = start();
    add(1, 100);
    await worker.poll();
    expect(waiting()).toBeLessThan(90);
    pass(60);
    // What has not begun goes back to whoever has a place for it.
    await worker.poll();
    expect([running.length, waiting()]).toEqual([2, 98]);
    await running[0]?.end();
    await worker.poll();
    expect([running.length, waiting()]).toEqual([2, 97]);
  });

  it('requests another poll when a project has free slots', async () => {
    const { worker, add, running, rooms } = start({ concurrency: 1 });
    add(1, 2);
    await worker.poll();
    expect(running).toHaveLength(1);
    await running[0]?.end();
    expect(rooms()).toBeGreaterThan(0);
  });

  it('offers a result again while the store has no room for it', async () => {
    const { worker, add, running, ended, complaints, waiting } = start({ refusals: 3 });
    add(1, 1);
    await worker.poll();
    await running[0]?.end();
    await expect.poll(() => ended).toEqual([0]);
    expect(complaints).toEqual(Array(3).fill('the result of an evaluation could not be stored yet'));
    expect(waiting()).toBe(0);
  });
});
