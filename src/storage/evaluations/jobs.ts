/** The queue of evaluations as it is stored. */

import type { ClaimedJob, ClaimQuestion, EvaluationJobStore, JobEnd, NewJob } from '../../domain/evaluations/jobs.ts';
import type { DeliveryStoreDeps } from '../endpoints/delivery-store.ts';
import { type Ask, type Questions, type Transact, withQuestions } from '../questions.ts';

/** What needs the write handle; see EvaluationJobStore. */
export type JobWork = {
  claimJobs(question: ClaimQuestion): Promise<readonly ClaimedJob[]>;
  renewJobs(jobs: readonly ClaimedJob[], untilMs: number): Promise<readonly boolean[]>;
  releaseJobs(jobs: readonly ClaimedJob[], nowMs: number): Promise<void>;
  takeOverJobs(question: TakeOver): Promise<void>;
  enqueueJobs(jobs: readonly NewJob[]): Promise<void>;
};

export type TakeOver = {
  readonly projectNumbers: readonly number[];
  readonly nowMs: number;
  readonly leaseMs: number;
};

export function createJobWork(questions: Questions, transactions: Transact): JobWork {
  const transact = withQuestions(questions, transactions);
  return {
    claimJobs: ({ shares, nowMs, leaseMs, fence }) =>
      transact(async ({ ask, changeRows, questions: { evaluations } }) => {
        const claimed: ClaimedJob[] = [];
        for (const share of shares) {
          for (const job of await ask(evaluations.holdDue, { ...share, nowMs })) {
            // A lease that is over was lost with who had it.
            claimed.push({ ...job, fence, failures: job.failures + (job.fence === 0 ? 0 : 1) });
          }
        }
        const dueAtMs = nowMs + leaseMs;
        changeRows(
          evaluations.claimJobs,
          claimed.map((job) => ({ ...job, dueAtMs })),
        );
        return claimed;
      }),
    renewJobs: (jobs, dueAtMs) =>
      transact(async ({ change, questions: { evaluations } }) => {
        const renewed = new Set<ClaimedJob>();
        // In the order of their keys, in which appends lock them.
        for (const job of jobs.toSorted(compareKeys)) {
          if ((await change(evaluations.renewJob, { ...job, dueAtMs })) > 0) renewed.add(job);
        }
        return jobs.map((job) => renewed.has(job));
      }),
    releaseJobs: (jobs, dueAtMs) =>
      transact(async ({ changeRows, questions: { evaluations } }) => {
        changeRows(
          evaluations.releaseJobs,
          jobs.map((job) => ({ ...job, dueAtMs })),
        );
      }),
    takeOverJobs: ({ projectNumbers, nowMs, leaseMs }) =>
      transact(async ({ change, questions: { evaluations } }) => {
        const leasedUntilMs = nowMs + leaseMs;
        for (const projectNumber of projectNumbers) {
          await change(evaluations.endLeases, { projectNumber, nowMs, leasedUntilMs });
        }
      }),
    enqueueJobs: (jobs) =>
      transact(async ({ changeRows, questions: { evaluations } }) => {
        changeRows(
          evaluations.insertJobs,
          jobs.map((job) => ({ ...job, ...NEW, sinceMs: job.dueAtMs })),
        );
      }),
  };
}

const NEW = { fence: 0, failures: 0, isRooted: true, againDueAtMs: null, againSinceMs: null };

export type JobStoreDeps = {
  readonly questions: Questions;
  readonly ask: Ask;
  readonly work: JobWork;
  /** Leases of deliveries are judged by the same clock, and who delivers is woken as well. */
  readonly delivery: Pick<DeliveryStoreDeps, 'nowMs' | 'isAlone' | 'wake'>;
  readonly end: (end: JobEnd) => Promise<'recorded' | 'stale'>;
};

export function createJobStore({ questions, ask, work, delivery, end }: JobStoreDeps): EvaluationJobStore {
  const { evaluations } = questions;
  const queues = () => ask(evaluations.listQueues, {});
  return {
    nowMs: delivery.nowMs,
    listen: delivery.wake.listen,
    isAlone: delivery.isAlone,
    queues,
    claim: work.claimJobs,
    renew: work.renewJobs,
    release: work.releaseJobs,
    async takeOver(nowMs, leaseMs) {
      const projectNumbers = (await queues()).map(({ projectNumber }) => projectNumber);
      await work.takeOverJobs({ projectNumbers, nowMs, leaseMs });
    },
    end,
    enqueue: work.enqueueJobs,
    async counts(countMax) {
      const [counted] = await ask(evaluations.countJobs, { countMax });
      const dues = (await queues()).map(({ dueAtMs }) => dueAtMs);
      return {
        depth: counted?.count ?? 0,
        oldestDueAtMs: dues.reduce<number | null>((least, due) => (least === null ? due : Math.min(least, due)), null),
      };
    },
  };
}

function compareKeys(one: ClaimedJob, other: ClaimedJob): number {
  return (
    one.projectNumber - other.projectNumber ||
    one.traceSequence - other.traceSequence ||
    (one.sourceId < other.sourceId ? -1 : 1)
  );
}
