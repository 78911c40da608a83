/** The queue of evaluations as it is stored. */

import {
  ALL_MONITORS,
  type ClaimedJob,
  type ClaimQuestion,
  type EvaluationJob,
  type EvaluationJobStore,
  type JobEnd,
  type JobKey,
  type NewJob,
  splitJob,
  UNTRIED,
} from '../../domain/evaluations/jobs.ts';
import type { DeliveryStoreDeps } from '../endpoints/delivery-store.ts';
import { type Ask, type Changing, type Questions, type RowOf, type Transact, withQuestions } from '../questions.ts';
import type { Backlog } from './backlog.ts';

/** What needs the write handle; see EvaluationJobStore. */
export type JobWork = {
  claimJobs(question: ClaimQuestion): Promise<readonly ClaimedJob[]>;
  renewJobs(jobs: readonly ClaimedJob[], untilMs: number): Promise<readonly boolean[]>;
  releaseJobs(jobs: readonly ClaimedJob[], nowMs: number): Promise<void>;
  takeOverJobs(question: TakeOver): Promise<void>;
  enqueueJobs(jobs: readonly NewJob[]): Promise<void>;
  /** See JobCounts. */
  refusedJobs(): Promise<number>;
};

export type TakeOver = {
  readonly projectNumbers: readonly number[];
  readonly nowMs: number;
  readonly leaseMs: number;
};

export function createJobWork(questions: Questions, transactions: Transact, backlog: Backlog): JobWork {
  const transact = withQuestions(questions, transactions);
  return {
    claimJobs: ({ shares, nowMs, leaseMs, fence }) =>
      transact(async (tx) => {
        const claimed: ClaimedJob[] = [];
        for (const share of shares) claimed.push(...(await claimShare(tx, share, { nowMs, leaseMs, fence })));
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
      transact(async ({ change, questions: { evaluations } }) => {
        for (const job of jobs.toSorted(compareKeys)) await change(evaluations.releaseJob, { ...job, dueAtMs });
      }),
    takeOverJobs: ({ projectNumbers, nowMs, leaseMs }) =>
      transact(async ({ change, questions: { evaluations } }) => {
        const leasedUntilMs = nowMs + leaseMs;
        for (const projectNumber of projectNumbers) {
          await change(evaluations.endLeases, { projectNumber, nowMs, leasedUntilMs });
        }
      }),
    refusedJobs: async () => backlog.refused(),
    enqueueJobs: (jobs) =>
      transact(async ({ changeRows, questions: { evaluations } }) => {
        changeRows(
          evaluations.insertJobs,
          jobs.map((job) => ({ ...job, ...UNTRIED, isRooted: true, sinceMs: job.dueAtMs, asOf: 0 })),
        );
      }),
  };
}

type Share = ClaimQuestion['shares'][number];
type Lease = Pick<ClaimQuestion, 'nowMs' | 'leaseMs' | 'fence'>;
type DueJob = RowOf<Questions['evaluations']['holdDue']>;

// Jobs that come to nothing, because no monitor looks at their traces any more, are removed a few claims at a time.
const ROUNDS_MAX = 16;

async function claimShare(tx: Changing, share: Share, lease: Lease): Promise<readonly ClaimedJob[]> {
  for (let round = 1; ; round += 1) {
    const { claimed, isMore } = await claimDue(tx, share, lease);
    if (claimed.length > 0 || !isMore || round === ROUNDS_MAX) return claimed;
  }
}

async function claimDue(
  tx: Changing,
  { projectNumber, limit }: Share,
  { nowMs, leaseMs, fence }: Lease,
): Promise<{ readonly claimed: readonly ClaimedJob[]; readonly isMore: boolean }> {
  const { ask, changeRows, questions } = tx;
  const { evaluations, monitors } = questions;
  const due = await ask(evaluations.holdDue, { projectNumber, nowMs, limit });
  const [ofAll, ofOne] = [due.filter(isOfAll), due.filter((job) => !isOfAll(job))];
  const running = ofAll.length === 0 ? [] : await ask(monitors.listRunningOf, { projectNumber });
  const knownOf = await holdKnown(tx, projectNumber, ofAll);
  const dueAtMs = nowMs + leaseMs;
  // A lease that is over was lost with who had it.
  const waiting = ofOne.map((job) => ({ ...job, fence, failures: job.failures + (job.fence === 0 ? 0 : 1) }));
  const made: ClaimedJob[] = [];
  const stored: EvaluationJob[] = [];
  const split: JobKey[] = [];
  const hasRoom = () => waiting.length + made.length < limit;
  for (const job of ofAll) {
    // The others stay for whoever claims next.
    if (!hasRoom()) break;
    const known = knownOf(job.traceSequence);
    if (known === null) continue;
    split.push(job);
    // A job that is claimed just now reads the trace when it runs: what it is known as has the lease that is over.
    const isClaimed = (sourceId: string) =>
      waiting.some((other) => other.traceSequence === job.traceSequence && other.sourceId === sourceId);
    const unclaimed = running.filter(({ id }) => !isClaimed(id));
    for (const next of splitJob(job, unclaimed, known)) {
      const isMine = next.fence === 0 && hasRoom();
      stored.push(isMine ? { ...next, fence, dueAtMs } : next);
      if (isMine) made.push({ ...next, fence });
    }
  }
  changeRows(
    evaluations.claimJobs,
    waiting.map((job) => ({ ...job, dueAtMs })),
  );
  changeRows(evaluations.removeJobs, split);
  changeRows(evaluations.storeJobs, stored);
  return { claimed: [...waiting, ...made], isMore: split.length === limit };
}

/**
 * The jobs that traces have beside those for all monitors; null while others are at any of them. Whoever waits for one
 * job while it holds others could be waited for.
 */
async function holdKnown(
  { ask, questions: { evaluations } }: Changing,
  projectNumber: number,
  ofAll: readonly DueJob[],
): Promise<(traceSequence: number) => readonly EvaluationJob[] | null> {
  const traceSequences = ofAll.map(({ traceSequence }) => traceSequence);
  const listed = ofAll.length === 0 ? [] : await ask(evaluations.listSources, { projectNumber, traceSequences });
  const others = Map.groupBy(
    listed.filter((job) => !isOfAll(job)),
    ({ traceSequence }) => traceSequence,
  );
  const held = new Map<number, readonly EvaluationJob[] | null>();
  for (const [traceSequence, sources] of others) {
    const jobs = await ask(evaluations.holdJobsOfTrace, { projectNumber, traceSequence });
    const isFree = sources.every(({ sourceId }) => jobs.some((job) => job.sourceId === sourceId));
    held.set(traceSequence, isFree ? jobs : null);
  }
  return (traceSequence) => (others.has(traceSequence) ? (held.get(traceSequence) ?? null) : []);
}

function isOfAll({ sourceId }: Pick<JobKey, 'sourceId'>): boolean {
  return sourceId === ALL_MONITORS;
}

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
        refused: await work.refusedJobs(),
        depth: counted?.count ?? 0,
        oldestDueAtMs: dues.reduce<number | null>((least, due) => (least === null ? due : Math.min(least, due)), null),
      };
    },
  };
}

function compareKeys(one: JobKey, other: JobKey): number {
  const place = one.projectNumber - other.projectNumber || one.traceSequence - other.traceSequence;
  if (place !== 0 || one.sourceId === other.sourceId) return place;
  return one.sourceId < other.sourceId ? -1 : 1;
}
