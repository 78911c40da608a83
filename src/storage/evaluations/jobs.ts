/** The stored queue of evaluation jobs. */

import type { Backlog } from '../../domain/evaluations/backlog.ts';
import {
  ALL_MONITORS,
  type ClaimedJob,
  type ClaimRequest,
  type EvaluationJob,
  type EvaluationJobStore,
  type JobEnd,
  type JobKey,
  splitJob,
  WAIT_MAX_MS,
} from '../../domain/evaluations/jobs.ts';
import type { DeliveryStoreDeps } from '../endpoints/delivery-store.ts';
import { findLeast } from '../endpoints/outboxes.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Queries, RunQuery, Transact, Transaction } from '../transaction.ts';

export type JobWork = ReturnType<typeof createJobWork>;

type TakeOver = {
  readonly projectNumbers: readonly number[];
  readonly nowMs: number;
  readonly leaseMs: number;
};

/** The verbs that write; see EvaluationJobStore. */
export function createJobWork(transact: Transact, backlog: Backlog) {
  return {
    claimJobs: ({ shares, nowMs, leaseMs, fence }: ClaimRequest) =>
      transact(async (tx): Promise<readonly ClaimedJob[]> => {
        const claimed: ClaimedJob[] = [];
        for (const share of shares) claimed.push(...(await claimShare(tx, share, { nowMs, leaseMs, fence })));
        return claimed;
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

type Share = ClaimRequest['shares'][number];
type Lease = Pick<ClaimRequest, 'nowMs' | 'leaseMs' | 'fence'>;
type DueJob = RowOf<Queries['evaluations']['lockDue']>;

// Jobs without a monitor are removed while claiming; this bounds how many batches one claim removes.
const ROUNDS_MAX = 16;

async function claimShare(tx: Transaction, share: Share, lease: Lease): Promise<readonly ClaimedJob[]> {
  for (let round = 1; ; round += 1) {
    const { claimed, isMore } = await claimDue(tx, share, lease);
    if (claimed.length > 0 || !isMore || round === ROUNDS_MAX) return claimed;
  }
}

async function claimDue(
  tx: Transaction,
  { projectNumber, limit }: Share,
  { nowMs, leaseMs, fence }: Lease,
): Promise<{ readonly claimed: readonly ClaimedJob[]; readonly isMore: boolean }> {
  const { runQuery, changeRows, queries } = tx;
  const { evaluations, monitors } = queries;
  const due = await runQuery(evaluations.lockDue, { projectNumber, nowMs, limit });
  const [ofAll, ofOne] = [due.filter(isOfAll), due.filter((job) => !isOfAll(job))];
  const running = ofAll.length === 0 ? [] : await runQuery(monitors.listSamplingOf, { projectNumber });
  const knownOf = await lockKnown(tx, projectNumber, ofAll);
  const dueAtMs = nowMs + leaseMs;
  // An expired lease means that its process was lost, which counts as a failure.
  const waiting = ofOne.map((job) => ({ ...job, fence, failures: job.failures + (job.fence === 0 ? 0 : 1) }));
  const made: ClaimedJob[] = [];
  const stored: EvaluationJob[] = [];
  const split: JobKey[] = [];
  const hasRoom = () => waiting.length + made.length < limit;
  for (const job of ofAll) {
    // The remaining jobs wait for the next claim.
    if (!hasRoom()) break;
    const known = knownOf(job.traceSequence);
    if (known === null) continue;
    split.push(job);
    // A job that this claim takes reads the trace later anyway; `known` still shows its expired lease.
    const isClaimed = (sourceId: string) =>
      waiting.some((other) => other.traceSequence === job.traceSequence && other.sourceId === sourceId);
    const unclaimed = running.filter(({ id }) => !isClaimed(id));
    for (const next of splitJob(job, unclaimed, known)) {
      const isTaken = next.fence === 0 && hasRoom();
      stored.push(isTaken ? { ...next, fence, dueAtMs } : next);
      if (isTaken) made.push({ ...next, fence });
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
 * Locks the jobs per monitor of each trace; null when another transaction has locked one of them. Waiting for a
 * lock while having others could deadlock.
 */
async function lockKnown(
  { runQuery, queries: { evaluations } }: Transaction,
  projectNumber: number,
  ofAll: readonly DueJob[],
): Promise<(traceSequence: number) => readonly EvaluationJob[] | null> {
  const traceSequences = ofAll.map(({ traceSequence }) => traceSequence);
  const listed = ofAll.length === 0 ? [] : await runQuery(evaluations.listSources, { projectNumber, traceSequences });
  const others = Map.groupBy(
    listed.filter((job) => !isOfAll(job)),
    ({ traceSequence }) => traceSequence,
  );
  const locked = new Map<number, readonly EvaluationJob[] | null>();
  for (const [traceSequence, sources] of others) {
    const jobs = await runQuery(evaluations.lockJobsOfTrace, { projectNumber, traceSequence });
    const areAllLocked = sources.every(({ sourceId }) => jobs.some((job) => job.sourceId === sourceId));
    locked.set(traceSequence, areAllLocked ? jobs : null);
  }
  return (traceSequence) => (others.has(traceSequence) ? (locked.get(traceSequence) ?? null) : []);
}

function isOfAll({ sourceId }: Pick<JobKey, 'sourceId'>): boolean {
  return sourceId === ALL_MONITORS;
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
