/** The stored queue of evaluation jobs. */

import type { Backlog } from '../../domain/evaluations/backlog.ts';
import {
  ALL_MONITORS,
  type ClaimedJob,
  type ClaimRequest,
  type ClaimShare,
  type EvaluationJob,
  type EvaluationJobStore,
  isOfTriggers,
  type JobEnd,
  type JobKey,
  splitJob,
  TRIGGERS,
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
    claimJobs: (request: ClaimRequest) => transact((tx) => claimShares(tx, request)),
    dropJobs: (jobs: readonly ClaimedJob[]) =>
      transact(async ({ changeRows, queries: { evaluations } }) => {
        const inOrder = jobs.toSorted(compareKeys);
        // Commits touch a job for all monitors itself.
        changeRows(
          evaluations.repeatJobs,
          inOrder.filter((job) => !isOfAll(job)),
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

type Lease = Pick<ClaimRequest, 'nowMs' | 'leaseMs' | 'fence'>;
type DueJob = RowOf<Queries['evaluations']['lockDue']>;
type Running = RowOf<Queries['monitors']['listSampling']>;

// Jobs without a monitor are removed while claiming; this bounds how many batches one claim removes.
const ROUNDS_MAX = 16;

async function claimShares(tx: Transaction, { shares, ...lease }: ClaimRequest): Promise<readonly ClaimedJob[]> {
  const claimed: ClaimedJob[] = [];
  let open = shares;
  for (let round = 1; round <= ROUNDS_MAX && open.length > 0; round += 1) {
    const before = await listRunning(tx, open);
    const due: { readonly share: ClaimShare; readonly jobs: readonly DueJob[]; readonly limit: number }[] = [];
    for (const share of open) {
      const { projectNumber } = share;
      const limit = hasOnlyTriggers(before(projectNumber)) ? share.limit + share.triggersLimit : share.limit;
      const { runQuery, queries } = tx;
      const jobs = await runQuery(queries.evaluations.lockDue, { projectNumber, nowMs: lease.nowMs, limit });
      due.push({ share, jobs, limit });
    }
    // Only what is read after the jobs knows every monitor that a commit before them saw.
    const running = tx.isSingleProcess ? before : await listRunning(tx, open);
    const again: ClaimShare[] = [];
    for (const { share, jobs, limit } of due) {
      const found = await claimDue(tx, { share, due: jobs, running: running(share.projectNumber) }, lease);
      claimed.push(...found.claimed);
      if (found.claimed.length === 0 && found.splitCount > 0 && found.splitCount === limit) again.push(share);
    }
    open = again;
  }
  return claimed;
}

async function listRunning(
  { runQuery, queries: { monitors } }: Transaction,
  shares: readonly ClaimShare[],
): Promise<(projectNumber: number) => readonly Running[]> {
  const projectNumbers = shares.map(({ projectNumber }) => projectNumber);
  const running = Map.groupBy(await runQuery(monitors.listSampling, { projectNumbers }), (each) => each.projectNumber);
  return (projectNumber) => running.get(projectNumber) ?? [];
}

function hasOnlyTriggers(running: readonly Running[]): boolean {
  return running.every(({ id }) => id === TRIGGERS);
}

type DueInProject = {
  readonly share: ClaimShare;
  readonly due: readonly DueJob[];
  readonly running: readonly Running[];
};

async function claimDue(
  tx: Transaction,
  { share, due, running }: DueInProject,
  { nowMs, leaseMs, fence }: Lease,
): Promise<{ readonly claimed: readonly ClaimedJob[]; readonly splitCount: number }> {
  const { changeRows, queries } = tx;
  const { evaluations } = queries;
  const isSplit = (job: DueJob) => isOfAll(job) && !(running.length > 0 && hasOnlyTriggers(running));
  const [ofAll, ofOne] = [due.filter(isSplit), due.filter((job) => !isSplit(job))];
  const knownOf = await lockKnown(tx, share.projectNumber, ofAll);
  const dueAtMs = nowMs + leaseMs;
  const room = createRoom(share);
  const waiting = ofOne.flatMap((job) => {
    if (!room.has(job)) return [];
    room.take(job);
    // An expired lease means that its process was lost, which counts as a failure.
    return [{ ...job, fence, failures: job.failures + (job.fence === 0 ? 0 : 1) }];
  });
  const made: ClaimedJob[] = [];
  const stored: EvaluationJob[] = [];
  const split: JobKey[] = [];
  for (const job of ofAll) {
    // The remaining jobs wait for the next claim.
    if (!room.hasForMonitors()) break;
    const known = knownOf(job.traceSequence);
    if (known === null) continue;
    split.push(job);
    // A job that this claim takes reads the trace later anyway; `known` still shows its expired lease.
    const isClaimed = (sourceId: string) =>
      waiting.some((other) => other.traceSequence === job.traceSequence && other.sourceId === sourceId);
    const unclaimed = running.filter(({ id }) => !isClaimed(id));
    for (const next of splitJob(job, unclaimed, known)) {
      const isTaken = next.fence === 0 && room.has(next);
      stored.push(isTaken ? { ...next, fence, dueAtMs } : next);
      if (!isTaken) continue;
      room.take(next);
      made.push({ ...next, fence });
    }
  }
  changeRows(
    evaluations.claimJobs,
    waiting.map((job) => ({ ...job, dueAtMs })),
  );
  changeRows(evaluations.removeJobs, split);
  changeRows(evaluations.storeJobs, stored);
  return { claimed: [...waiting, ...made], splitCount: split.length };
}

/** How many more jobs of each kind a share takes. */
function createRoom({ limit, triggersLimit }: ClaimShare) {
  const left = { triggers: triggersLimit, monitors: limit };
  const kindOf = (job: Pick<JobKey, 'sourceId'>) => (isOfTriggers(job) ? 'triggers' : 'monitors');
  return {
    has: (job: Pick<JobKey, 'sourceId'>) => left[kindOf(job)] > 0,
    hasForMonitors: () => left.monitors > 0,
    take(job: Pick<JobKey, 'sourceId'>): void {
      left[kindOf(job)] -= 1;
    },
  };
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
