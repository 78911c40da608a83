/** The stored queue of evaluation jobs. */

import type { Backlog } from '../../domain/evaluations/backlog.ts';
import {
  ALL_MONITORS,
  type ClaimedJob,
  type ClaimRequest,
  type EvaluationJobStore,
  type JobEnd,
  type JobKey,
  WAIT_MAX_MS,
} from '../../domain/evaluations/jobs.ts';
import type { DeliveryStoreDeps } from '../endpoints/delivery-store.ts';
import { findLeast } from '../endpoints/outboxes.ts';
import type { Queries, RunQuery, Transact } from '../transaction.ts';
import { createScans } from './due-scans.ts';
import { claimShares } from './job-claims.ts';

export type JobWork = ReturnType<typeof createJobWork>;

type TakeOver = {
  readonly projectNumbers: readonly number[];
  readonly nowMs: number;
  readonly leaseMs: number;
};

/** The verbs that write; see EvaluationJobStore. */
export function createJobWork(transact: Transact, backlog: Backlog) {
  const scans = createScans();
  return {
    async claimJobs(request: ClaimRequest) {
      const { claimed, marks } = await transact((tx) => claimShares(tx, request, scans));
      for (const mark of marks) mark();
      return claimed;
    },
    dropJobs: (jobs: readonly ClaimedJob[]) =>
      transact(async ({ changeRows, queries: { evaluations } }) => {
        const inOrder = jobs.toSorted(compareKeys);
        // Commits touch a job for all monitors itself.
        changeRows(
          evaluations.repeatJobs,
          inOrder.filter(({ sourceId }) => sourceId !== ALL_MONITORS),
        );
        changeRows(evaluations.dropJobs, inOrder);
      }),
    renewJobs: (jobs: readonly ClaimedJob[], dueAtMs: number) =>
      transact(async ({ change, queries: { evaluations } }) => {
        const renewed = new Set<ClaimedJob>();
        // By ascending key, the order in which appends lock them.
        for (const job of jobs.toSorted(compareKeys)) {
          if ((await change(evaluations.renewJob, { ...job, dueAtMs })) > 0) renewed.add(job);
        }
        return jobs.map((job) => renewed.has(job));
      }),
    releaseJobs: (jobs: readonly ClaimedJob[], dueAtMs: number) =>
      transact(async ({ change, queries: { evaluations } }) => {
        for (const job of jobs.toSorted(compareKeys)) await change(evaluations.releaseJob, { ...job, dueAtMs });
      }),
    takeOverJobs: ({ projectNumbers, nowMs, leaseMs }: TakeOver) =>
      transact(async ({ change, queries: { evaluations } }) => {
        const leasedUntilMs = nowMs + leaseMs;
        for (const projectNumber of projectNumbers) {
          await change(evaluations.endLeases, { projectNumber, nowMs, leasedUntilMs });
        }
      }),
    correctJobs: (projectNumbers: readonly number[], at: { readonly nowMs: number; readonly dueMaxMs: number }) =>
      transact(async ({ change, queries: { evaluations } }) => {
        for (const projectNumber of projectNumbers) await change(evaluations.correctDue, { projectNumber, ...at });
      }),
    /** See JobCounts; null: of all projects. */
    refusedJobs: async (projectNumber: number | null) => backlog.refused(projectNumber),
  };
}

type JobStoreDeps = {
  readonly queries: Queries;
  readonly runQuery: RunQuery;
  readonly work: JobWork;
  /** Jobs share the clock and the wake-up of deliveries. */
  readonly delivery: Pick<DeliveryStoreDeps, 'nowMs' | 'isSingleProcess' | 'wake'>;
  readonly end: (end: JobEnd) => Promise<'recorded' | 'stale'>;
};

export function createJobStore({ queries, runQuery, work, delivery, end }: JobStoreDeps): EvaluationJobStore {
  const { evaluations } = queries;
  const queues = () => runQuery(evaluations.listQueues, {});
  return {
    nowMs: delivery.nowMs,
    listen: delivery.wake.listen,
    isSingleProcess: delivery.isSingleProcess,
    queues,
    claim: work.claimJobs,
    renew: work.renewJobs,
    drop: work.dropJobs,
    release: work.releaseJobs,
    async takeOver(nowMs, leaseMs) {
      const projectNumbers = (await queues()).map(({ projectNumber }) => projectNumber);
      await work.takeOverJobs({ projectNumbers, nowMs, leaseMs });
    },
    async correctDue(nowMs) {
      const projectNumbers = (await queues()).map(({ projectNumber }) => projectNumber);
      await work.correctJobs(projectNumbers, { nowMs, dueMaxMs: nowMs + WAIT_MAX_MS });
    },
    end,
    async counts(countMax) {
      const [counted] = await runQuery(evaluations.countJobs, { countMax });
      return {
        refused: await work.refusedJobs(null),
        depth: counted?.count ?? 0,
        oldestDueAtMs: findLeast((await queues()).map(({ dueAtMs }) => dueAtMs)),
      };
    },
    async countsOf({ projectNumber, nowMs, countMax }) {
      const count = async (fromMs: number, untilMs: number) =>
        (await runQuery(evaluations.countBetween, { projectNumber, fromMs, untilMs, countMax }))[0] ?? NO_JOBS;
      const [due, later] = [await count(0, nowMs), await count(nowMs + 1, Number.MAX_SAFE_INTEGER)];
      return {
        due: due.count,
        scheduled: later.count - later.leased,
        running: later.leased,
        oldestDueAtMs: due.oldestDueAtMs,
        refused: await work.refusedJobs(projectNumber),
      };
    },
  };
}

const NO_JOBS = { count: 0, leased: 0, oldestDueAtMs: null };

function compareKeys(one: JobKey, other: JobKey): number {
  const order = one.projectNumber - other.projectNumber || one.traceSequence - other.traceSequence;
  if (order !== 0 || one.sourceId === other.sourceId) return order;
  return one.sourceId < other.sourceId ? -1 : 1;
}
