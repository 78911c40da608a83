import { describe, expect, it } from 'vitest';
import {
  ALL_MONITORS,
  type ClaimedJob,
  type ClaimRequest,
  JOB_QUEUE_DEFAULTS,
  TRIGGERS,
} from '../../../src/domain/evaluations/jobs.ts';
import { isSampled } from '../../../src/domain/monitors/sampling.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { TraceAppend } from '../../../src/domain/traces/trace.ts';
import { beginningState } from '../../../src/domain/triggers/trigger.ts';
import { sampleAudit } from './management-samples.ts';
import {
  RECEIVED_AT_MS,
  sampleAppend,
  sampleEvaluation,
  sampleEvaluator,
  sampleMonitor,
  samplePlan,
  sampleSpan,
} from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { sampleTrigger } from './triggers.ts';

type ClaimLimits = ClaimRequest['shares'][number]['limits'];

const LEASE_MS = 60_000;
const LATER_MS = RECEIVED_AT_MS + 3_600_000;

/** Creates a project with an evaluator. */
async function openProject(store: Store) {
  const plan = samplePlan();
  await store.installation.bootstrap(plan);
  const project = await store.keys.findProject(plan.project.id);
  if (project === null) throw new Error('the project is not there');
  const evaluator = sampleEvaluator({ projectId: project.id });
  await store.evaluators.insert(evaluator, 10);
  const ids = {
    projectId: project.id,
    projectNumber: project.number,
    organizationId: project.organizationId,
    organizationNumber: project.organizationNumber,
  };
  let fence = 0;
  return {
    project,
    ids,
    append: (changes: Partial<TraceAppend> = {}) => sampleAppend({ ...ids, requests: [], ...changes }),
    async addMonitor(changes: Parameters<typeof sampleMonitor>[1] = {}) {
      const monitor = sampleMonitor(evaluator, { slug: `m-${Math.random()}`, ...changes });
      expect(await store.monitors.insert(monitor, { liveMax: 100 })).toBe('stored');
      return monitor;
    },
    claim(nowMs = LATER_MS, limit: number | Partial<ClaimLimits> = 100): Promise<readonly ClaimedJob[]> {
      fence += 1;
      const none = { monitors: 0, triggers: 0, calls: 0 };
      const limits =
        typeof limit === 'number' ? { monitors: limit, triggers: limit, calls: limit } : { ...none, ...limit };
      const shares = [{ projectNumber: project.number, limits }];
      return store.evaluationJobs.claim({ shares, nowMs, leaseMs: LEASE_MS, fence });
    },
    dueAtMs: async () => (await store.evaluationJobs.queues())[0]?.dueAtMs ?? null,
  };
}

type Opened = Awaited<ReturnType<typeof openProject>>;

/** A root span: a trace with one settles early. */
const rooted = () => sampleSpan({ parentId: null });

function toStore(job: ClaimedJob, { append }: Opened) {
  const evaluation = sampleEvaluation({ evaluationId: `eval_mon_${job.sourceId}`, monitorId: job.sourceId });
  const result = append({ traceId: job.traceId, spans: [], metadataJson: null, evaluations: [evaluation] });
  return { ...job, kind: 'evaluation', outcome: { kind: 'store', append: result } } as const;
}

async function countResults({ traces }: Store, { project: { number: projectNumber } }: Opened, traceId: string) {
  const record = await traces.find(projectNumber, traceId);
  if (record === null) return null;
  const found = await traces.evaluationOrder({ ...record, projectNumber }, { after: null, limit: 100 });
  return found.filter(({ id }) => id.startsWith('eval_mon_')).length;
}

export function evaluationJobConformance(open: OpenSubject): void {
  describe('jobs of evaluations', () => {
    it(
      'an append makes a job for the monitors of its trace, due when the trace stays unchanged',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await store.traces.append(opened.append({ spans: [rooted()] }));
        expect(await opened.claim()).toEqual([]);
        const [monitor] = [await opened.addMonitor(), await opened.addMonitor({ enabled: false })];
        await opened.addMonitor({ sample: 0 });
        await opened.addMonitor({ executionMode: 'AS_GUARDRAIL' });
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        expect(await opened.dueAtMs()).toBe(RECEIVED_AT_MS + JOB_QUEUE_DEFAULTS.rootedMs);
        expect(await opened.claim(RECEIVED_AT_MS)).toEqual([]);
        const jobs = await opened.claim();
        expect(jobs).toMatchObject([{ traceId: append.traceId, sourceId: monitor?.id, failures: 0, fence: 3 }]);
      }),
    );

    it(
      'a monitor evaluates traces stored after it was created, enabled or moved, and none once it is disabled or deleted',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        const monitor = await opened.addMonitor();
        const expectSeen = async (count: number) => {
          await store.traces.append(opened.append({ spans: [rooted()] }));
          expect((await opened.claim()).length).toBe(count);
        };
        await expectSeen(1);
        const off = { ...monitor, enabled: false, updatedAtMs: monitor.updatedAtMs + 1 };
        expect(await store.monitors.replace(off, monitor.updatedAtMs)).toBe('stored');
        await expectSeen(0);
        const on = { ...monitor, updatedAtMs: monitor.updatedAtMs + 2 };
        expect(await store.monitors.replace(on, off.updatedAtMs)).toBe('stored');
        await expectSeen(1);
        await store.evaluators.remove(opened.project.id, monitor.evaluatorId, LATER_MS);
        await expectSeen(0);
      }),
    );

    it(
      'a claim leases the job of a trace as it is where the project has triggers alone, and drops end many at once',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        const audited = sampleAudit(opened.project.organizationId);
        const trigger = sampleTrigger({ kind: 'TRACE', rule: null, projectId: opened.project.id });
        await store.triggers.insert({ trigger, state: beginningState(trigger, RECEIVED_AT_MS), audited }, 10);
        const appends = Array.from({ length: 5 }, () => opened.append({ spans: [rooted()] }));
        for (const append of appends) await store.traces.append(append);
        const [first = [], rest = []] = [await opened.claim(LATER_MS, 2), await opened.claim(LATER_MS, 2)];
        expect([...first, ...rest].map(({ sourceId }) => sourceId)).toEqual(Array(4).fill(ALL_MONITORS));
        expect(first.map(({ failures }) => failures)).toEqual([0, 0]);
        await store.evaluationJobs.drop([...first, { ...rest[0], fence: 99 } as ClaimedJob]);
        expect((await store.evaluationJobs.counts(10)).depth).toBe(3);
        // What comes while a job runs waits again, and its run ends nothing.
        const [{ traceId = '' } = {}] = rest;
        await store.traces.append(opened.append({ traceId, receivedAtMs: LATER_MS }));
        await store.evaluationJobs.drop(rest);
        expect((await store.evaluationJobs.counts(10)).depth).toBe(2);
        // A lost run counts as a failure.
        const again = await opened.claim(LATER_MS + LEASE_MS);
        expect(again).toHaveLength(2);
        const lost = await opened.claim(LATER_MS + 2 * LEASE_MS);
        expect(lost.map(({ failures }) => failures)).toEqual([1, 1]);
      }),
    );

    it(
      'MUST find the jobs of each kind, however many of another kind are due before them',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        const audited = sampleAudit(opened.project.organizationId);
        const trigger = sampleTrigger({ kind: 'TRACE', rule: null, projectId: opened.project.id });
        await store.triggers.insert({ trigger, state: beginningState(trigger, RECEIVED_AT_MS), audited }, 10);
        const monitors = [await opened.addMonitor(), await opened.addMonitor()];
        const appendAt = (atMs: number) =>
          store.traces.append(opened.append({ spans: [rooted()], receivedAtMs: RECEIVED_AT_MS + atMs }));
        for (const atMs of [0, 1, 2]) await appendAt(atMs);
        const sources = async (nowMs: number, limits: Partial<ClaimLimits>) =>
          (await opened.claim(nowMs, limits)).map(({ sourceId }) => sourceId);
        // Triggers are tested while nothing of the monitors has room, and the other way round.
        expect(await sources(LATER_MS, { triggers: 2 })).toEqual([TRIGGERS, TRIGGERS]);
        expect(await sources(LATER_MS, { triggers: 2 })).toEqual([TRIGGERS]);
        expect(await sources(LATER_MS, { triggers: 2, calls: 2 })).toEqual([]);
        const lateMs = LATER_MS - RECEIVED_AT_MS;
        for (let round = 1; round <= 3; round += 1) {
          await appendAt(lateMs + round * 10_000);
          expect(await sources(LATER_MS + round * 10_000 + 1000, { triggers: 2 })).toEqual([TRIGGERS]);
        }
        const ids = monitors.map(({ id }) => id);
        const waiting = await sources(LATER_MS + 31_000, { monitors: 100 });
        expect(waiting.toSorted()).toEqual([...ids, ...ids, ...ids, ...ids, ...ids, ...ids].toSorted());
      }),
    );

    it(
      'a drop lets a job wait again that a commit touched while it ran',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        const [job] = await opened.claim();
        await store.traces.append(opened.append({ traceId: append.traceId, receivedAtMs: LATER_MS - 1_000 }));
        expect(await opened.claim()).toEqual([]);
        await store.evaluationJobs.drop([job as ClaimedJob]);
        const { traceId, sourceId } = job as ClaimedJob;
        const again = { traceId, sourceId, fence: 3, failures: 0, sinceMs: LATER_MS - 1_000 };
        expect(await opened.claim()).toMatchObject([again]);
      }),
    );

    it(
      'an append makes one job for any number of monitors, and a claim splits it into one for each',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        const monitors = [await opened.addMonitor(), await opened.addMonitor(), await opened.addMonitor()];
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        expect((await store.evaluationJobs.counts(10)).depth).toBe(1);
        const claims = [await opened.claim(LATER_MS, 2), await opened.claim(LATER_MS, 2), await opened.claim(LATER_MS)];
        expect(claims.map((jobs) => jobs.length)).toEqual([2, 1, 0]);
        const given = claims.flat().map(({ sourceId }) => sourceId);
        expect(given.toSorted()).toEqual(monitors.map(({ id }) => id).toSorted());
        // Every monitor evaluates a change during its job once more.
        await store.traces.append(opened.append({ traceId: append.traceId, receivedAtMs: LATER_MS - 1_000 }));
        expect(await opened.claim()).toEqual([]);
        for (const job of claims.flat()) expect(await store.evaluationJobs.end(toStore(job, opened))).toBe('recorded');
        const again = await opened.claim();
        expect(again.map(({ sourceId }) => sourceId).toSorted()).toEqual(given.toSorted());
        for (const job of again) expect(await store.evaluationJobs.end(toStore(job, opened))).toBe('recorded');
        expect(await store.evaluationJobs.counts(10)).toMatchObject({ depth: 0, oldestDueAtMs: null });
        expect(await countResults(store, opened, append.traceId)).toBe(3);
      }),
    );

    it(
      'the jobs of a project are counted, at most so many that are due and so many others',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        const countsOf = (nowMs: number, countMax: number) =>
          store.evaluationJobs.countsOf({ projectNumber: opened.project.number, nowMs, countMax });
        const none = { due: 0, scheduled: 0, running: 0, oldestDueAtMs: null, refused: 0 };
        expect(await countsOf(LATER_MS, 10)).toEqual(none);
        for (const seconds of [3, 1, 2, 0]) {
          await store.traces.append(
            opened.append({ spans: [rooted()], receivedAtMs: RECEIVED_AT_MS + seconds * 1000 }),
          );
        }
        const firstDueAtMs = RECEIVED_AT_MS + JOB_QUEUE_DEFAULTS.rootedMs;
        expect(await countsOf(firstDueAtMs - 1, 10)).toEqual({ ...none, scheduled: 4 });
        expect(await countsOf(firstDueAtMs + 1000, 10)).toEqual({
          ...none,
          due: 2,
          scheduled: 2,
          oldestDueAtMs: firstDueAtMs,
        });
        expect((await opened.claim(firstDueAtMs, 1)).length).toBe(1);
        expect(await countsOf(firstDueAtMs, 10)).toEqual({ ...none, scheduled: 3, running: 1 });
        // A job whose lease has expired waits for another process.
        expect(await countsOf(LATER_MS, 10)).toMatchObject({ due: 4, running: 0 });
        expect(await countsOf(LATER_MS, 3)).toMatchObject({ due: 3, scheduled: 0 });
        expect(await countsOf(firstDueAtMs, 2)).toMatchObject({ due: 0, scheduled: 2 });
      }),
    );

    it(
      'a job that waits is for the monitors that saw the last commit, and run when it is claimed',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        const [kept, off, deleted] = [await opened.addMonitor(), await opened.addMonitor(), await opened.addMonitor()];
        await store.traces.append(opened.append({ spans: [rooted()] }));
        await opened.addMonitor();
        const other = { ...kept, name: 'Other', updatedAtMs: kept.updatedAtMs + 1 };
        expect(await store.monitors.replace(other, kept.updatedAtMs)).toBe('stored');
        for (const enabled of [false, true]) {
          const stored = await store.monitors.find(off.projectId, off.id);
          if (stored === null) throw new Error('the monitor is gone');
          const next = { ...stored, enabled, updatedAtMs: stored.updatedAtMs + 1 };
          expect(await store.monitors.replace(next, stored.updatedAtMs)).toBe('stored');
        }
        await store.monitors.remove(opened.project.id, deleted.id, LATER_MS);
        expect((await opened.claim()).map(({ sourceId }) => sourceId)).toEqual([kept.id]);
        expect((await store.evaluationJobs.counts(10)).depth).toBe(1);
      }),
    );

    it(
      'spans that come later move the time of the waiting job, at most half a minute, and results of evaluations do not',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        const first = opened.append();
        await store.traces.append(first);
        expect(await opened.dueAtMs()).toBe(RECEIVED_AT_MS + JOB_QUEUE_DEFAULTS.rootlessMs);
        const add = (atMs: number, changes: Partial<TraceAppend>) =>
          store.traces.append(
            opened.append({ traceId: first.traceId, receivedAtMs: RECEIVED_AT_MS + atMs, ...changes }),
          );
        await add(1_000, { spans: [rooted()], metadataJson: null });
        expect(await opened.dueAtMs()).toBe(RECEIVED_AT_MS + 1_000 + JOB_QUEUE_DEFAULTS.rootedMs);
        await add(2_000, { metadataJson: null });
        expect(await opened.dueAtMs()).toBe(RECEIVED_AT_MS + 2_000 + JOB_QUEUE_DEFAULTS.rootedMs);
        await add(29_900, { spans: [] });
        expect(await opened.dueAtMs()).toBe(RECEIVED_AT_MS + 30_000);
        await add(29_950, { spans: [], metadataJson: null, evaluations: [sampleEvaluation()] });
        expect(await opened.dueAtMs()).toBe(RECEIVED_AT_MS + 30_000);
        expect(await opened.claim()).toHaveLength(1);
      }),
    );

    it(
      'MUST give a job to one claimer only, the longest due first, and count a lease that was over as a failure',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        const appends = Array.from({ length: 20 }, (_, index) =>
          opened.append({ spans: [rooted()], receivedAtMs: RECEIVED_AT_MS + index }),
        );
        for (const append of appends) await store.traces.append(append);
        const claims = await Promise.all([
          opened.claim(LATER_MS, 8),
          opened.claim(LATER_MS, 8),
          opened.claim(LATER_MS, 8),
        ]);
        const given = claims.flat().map(({ traceId }) => traceId);
        expect(new Set(given).size).toBe(given.length);
        const rest = await opened.claim(LATER_MS);
        expect(given.length + rest.length).toBe(20);
        expect(await opened.claim(LATER_MS + LEASE_MS - 1)).toEqual([]);
        const lost = await opened.claim(LATER_MS + LEASE_MS);
        expect(lost.map(({ failures }) => failures)).toEqual(lost.map(() => 1));
        expect(lost).toHaveLength(20);
      }),
    );

    it(
      'a job whose lease has expired is claimed once, with the spans that arrived while it ran',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        await opened.addMonitor();
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        expect(await opened.claim(LATER_MS)).toHaveLength(2);
        await store.traces.append(opened.append({ traceId: append.traceId, receivedAtMs: LATER_MS }));
        const overMs = LATER_MS + LEASE_MS;
        const again = await opened.claim(overMs);
        expect(again.map(({ failures }) => failures)).toEqual([1, 1]);
        expect(await opened.claim(overMs)).toEqual([]);
        for (const job of again) expect(await store.evaluationJobs.end(toStore(job, opened))).toBe('recorded');
        expect((await store.evaluationJobs.counts(10)).depth).toBe(0);
      }),
    );

    it(
      'renews and puts back only what is still the caller’s',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        for (let count = 0; count < 2; count += 1) await store.traces.append(opened.append({ spans: [rooted()] }));
        const old = await opened.claim(LATER_MS);
        const [first, second] = await opened.claim(LATER_MS + LEASE_MS);
        if (first === undefined || second === undefined) throw new Error('nothing was taken over');
        const { evaluationJobs } = store;
        expect(await evaluationJobs.renew([first, ...old], LATER_MS + 5 * LEASE_MS)).toEqual([true, false, false]);
        await evaluationJobs.release(old, LATER_MS);
        await evaluationJobs.release([second], LATER_MS);
        expect((await opened.claim(LATER_MS + 2 * LEASE_MS)).map(({ traceId }) => traceId)).toEqual([second.traceId]);
        await evaluationJobs.takeOver(LATER_MS + 3 * LEASE_MS, 2 * LEASE_MS);
        expect(await opened.claim(LATER_MS + 3 * LEASE_MS)).toHaveLength(2);
      }),
    );

    it(
      'MUST store a result once, in the commit that ends the job, and return stale to a fence that is not its own',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        const [old] = await opened.claim(LATER_MS);
        const [job] = await opened.claim(LATER_MS + LEASE_MS);
        if (old === undefined || job === undefined) throw new Error('nothing was claimed');
        const { evaluationJobs } = store;
        expect(await evaluationJobs.end(toStore(old, opened))).toBe('stale');
        expect(await countResults(store, opened, append.traceId)).toBe(0);
        const answers = await Promise.all([
          evaluationJobs.end(toStore(job, opened)),
          evaluationJobs.end(toStore(job, opened)),
        ]);
        expect(answers.toSorted()).toEqual(['recorded', 'stale']);
        expect(await countResults(store, opened, append.traceId)).toBe(1);
        expect(await evaluationJobs.counts(10)).toMatchObject({ depth: 0, oldestDueAtMs: null });
      }),
    );

    it(
      'a trace that changes while its job runs is evaluated again, and a failed run is retried',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        const [job] = await opened.claim();
        if (job === undefined) throw new Error('nothing was claimed');
        const receivedAtMs = LATER_MS + 10;
        await store.traces.append(opened.append({ traceId: append.traceId, receivedAtMs }));
        expect(await opened.claim()).toEqual([]);
        expect(await store.evaluationJobs.end(toStore(job, opened))).toBe('recorded');
        expect(await opened.dueAtMs()).toBe(receivedAtMs + JOB_QUEUE_DEFAULTS.rootedMs);
        const [again] = await opened.claim(LATER_MS + LEASE_MS);
        if (again === undefined) throw new Error('nothing was claimed');
        expect(again).toMatchObject({ failures: 0, sinceMs: receivedAtMs });
        const outcome = { kind: 'retry', dueAtMs: LATER_MS + 2 * LEASE_MS } as const;
        expect(await store.evaluationJobs.end({ ...again, kind: 'evaluation', outcome })).toBe('recorded');
        expect(await opened.claim(LATER_MS + 2 * LEASE_MS - 1)).toEqual([]);
        const [third] = await opened.claim(LATER_MS + 2 * LEASE_MS);
        if (third === undefined) throw new Error('nothing was claimed');
        expect(third.failures).toBe(1);
        // A job that could not be run has not failed.
        const wait = { kind: 'wait', dueAtMs: LATER_MS + 4 * LEASE_MS } as const;
        expect(await store.evaluationJobs.end({ ...third, kind: 'evaluation', outcome: wait })).toBe('recorded');
        expect(await opened.claim(LATER_MS + 4 * LEASE_MS - 1)).toEqual([]);
        const [fourth] = await opened.claim(LATER_MS + 4 * LEASE_MS);
        expect(fourth).toMatchObject({ failures: 1, sinceMs: receivedAtMs });
      }),
    );

    it(
      'what comes while a job waits for a retry, or before the run that fails ends, is tried soon and anew',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        await opened.addMonitor();
        const { traceId, ...append } = opened.append({ spans: [rooted()] });
        await store.traces.append({ ...append, traceId });
        const fail = async ([job]: readonly ClaimedJob[]) => {
          if (job === undefined) throw new Error('nothing was claimed');
          const outcome = { kind: 'retry', dueAtMs: LATER_MS + 20 * LEASE_MS } as const;
          expect(await store.evaluationJobs.end({ ...job, kind: 'evaluation', outcome })).toBe('recorded');
        };
        await fail(await opened.claim());
        await store.traces.append(opened.append({ traceId, receivedAtMs: LATER_MS + 10 }));
        const second = await opened.claim(LATER_MS + LEASE_MS);
        expect(second.map(({ failures }) => failures)).toEqual([0]);
        await store.traces.append(opened.append({ traceId, receivedAtMs: LATER_MS + LEASE_MS + 10 }));
        expect(await opened.claim(LATER_MS + LEASE_MS + 2_000)).toEqual([]);
        await fail(second);
        const third = await opened.claim(LATER_MS + LEASE_MS + 3_000);
        expect(third.map(({ failures }) => failures)).toEqual([0]);
        await fail(third);
        expect(await opened.claim(LATER_MS + 19 * LEASE_MS)).toEqual([]);
        expect((await opened.claim(LATER_MS + 20 * LEASE_MS)).map(({ failures }) => failures)).toEqual([1]);
      }),
    );

    it(
      'jobs go with their trace, come to nothing without their monitor, and a result MUST NOT be stored on a trace that is gone',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        const monitor = await opened.addMonitor();
        const projectNumber = opened.project.number;
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        const [job] = await opened.claim();
        if (job === undefined) throw new Error('nothing was claimed');
        const trace = { projectNumber, traceId: append.traceId, expiredBeforeMs: null };
        expect(await store.traceChanges.removeTrace(trace)).toBe(true);
        expect(await store.evaluationJobs.counts(10)).toMatchObject({ depth: 0, oldestDueAtMs: null });
        await store.traces.append(opened.append({ traceId: append.traceId, spans: [rooted()] }));
        expect(await store.evaluationJobs.end(toStore(job, opened))).toBe('stale');
        expect(await countResults(store, opened, append.traceId)).toBe(0);
        expect((await store.evaluationJobs.counts(10)).depth).toBe(1);
        await store.monitors.remove(opened.project.id, monitor.id, LATER_MS);
        expect(await opened.claim()).toEqual([]);
        expect(await store.evaluationJobs.counts(10)).toMatchObject({ depth: 0, oldestDueAtMs: null });
      }),
    );

    it(
      'a change of metadata is seen like spans are',
      withStore(open, async (store) => {
        const opened = await openProject(store);
        const projectNumber = opened.project.number;
        const append = opened.append({ spans: [rooted()] });
        await store.traces.append(append);
        const monitor = await opened.addMonitor();
        const trace = { projectNumber, traceId: append.traceId, expiredBeforeMs: null };
        const patch = { setJson: '{"a":1}', removed: [] };
        await store.traceChanges.patchMetadata(trace, patch, LATER_MS - 1_000);
        expect(await opened.dueAtMs()).toBe(LATER_MS - 1_000 + JOB_QUEUE_DEFAULTS.rootedMs);
        const [seen] = await opened.claim();
        expect(seen).toMatchObject({ traceId: append.traceId, sourceId: monitor.id });
      }),
    );
  });

  it('sampling always selects the same traces, in the configured share', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `trace-${index}`);
    const chosen = (sample: number) => ids.filter((id) => isSampled({ id: 'monitor_a', sample }, id));
    expect(chosen(0)).toEqual([]);
    expect(chosen(1)).toEqual(ids);
    const half = chosen(0.5);
    expect(half.length).toBeGreaterThan(4_800);
    expect(half.length).toBeLessThan(5_200);
    expect(chosen(0.5)).toEqual(half);
    expect(chosen(0.1).every((id) => half.includes(id))).toBe(true);
  });
}
