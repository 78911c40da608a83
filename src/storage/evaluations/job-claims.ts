/** Claims due jobs, and splits those for all monitors of a project. */

import {
  ALL_MONITORS,
  CALLS,
  type ClaimedJob,
  type ClaimRequest,
  type ClaimShare,
  type EvaluationJob,
  type JobKey,
  type JobKind,
  kindOfJob,
  splitJob,
  TRIGGERS,
} from '../../domain/evaluations/jobs.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Queries, Transaction } from '../transaction.ts';
import type { Scans } from './due-scans.ts';

type Lease = Pick<ClaimRequest, 'nowMs' | 'leaseMs' | 'fence'>;
type DueJob = RowOf<Queries['evaluations']['lockDueOf']>;
type Running = RowOf<Queries['monitors']['listSampling']>;

/** Jobs that one claim makes by splitting others: triggers may be tested while jobs of a hundred monitors wait. */
const SPLIT_MAX = 1000;
// Jobs without a monitor are removed while claiming; this bounds how many batches one claim removes.
const ROUNDS_MAX = 16;

export async function claimShares(
  tx: Transaction,
  { shares, ...lease }: ClaimRequest,
  scans: Scans,
): Promise<ClaimedShares> {
  const claimed: ClaimedJob[] = [];
  const marks: (() => void)[] = [];
  let open = shares;
  for (let round = 1; round <= ROUNDS_MAX && open.length > 0; round += 1) {
    const before = await listRunning(tx, open);
    const due: { readonly share: ClaimShare; readonly jobs: readonly DueJob[] }[] = [];
    for (const share of open) {
      const finding = { share, running: before(share.projectNumber), nowMs: lease.nowMs };
      due.push({ share, jobs: await lockDueOfShare(tx, finding, { scans, marks }) });
    }
    // Only what is read after the jobs knows every monitor that a commit before them saw.
    const running = tx.isSingleProcess ? before : await listRunning(tx, open);
    const again: ClaimShare[] = [];
    for (const { share, jobs } of due) {
      const found = await claimDue(tx, { share, due: jobs, running: running(share.projectNumber) }, lease);
      claimed.push(...found.claimed);
      marks.push(() => scans.leave(share.projectNumber, found.left));
      if (found.claimed.length === 0 && found.splitCount > 0) again.push(share);
    }
    open = again;
  }
  return { claimed, marks };
}

/** `marks` remember where the next claim looks, once this one is committed. */
export type ClaimedShares = { readonly claimed: readonly ClaimedJob[]; readonly marks: readonly (() => void)[] };

type Marking = { readonly scans: Scans; readonly marks: (() => void)[] };

type Finding = { readonly share: ClaimShare; readonly running: readonly Running[]; readonly nowMs: number };

/** Finds each kind by itself: of one there may be hundreds of thousands before the first of another. */
async function lockDueOfShare(
  { runQuery, queries: { evaluations } }: Transaction,
  { share: { projectNumber, limits }, running, nowMs }: Finding,
  { scans, marks }: Marking,
): Promise<readonly DueJob[]> {
  const found = new Map<string, DueJob>();
  const add = (jobs: readonly DueJob[]) => {
    for (const job of jobs) found.set(`${job.traceSequence} ${job.sourceId}`, job);
  };
  const sources = {
    triggers: running.some(({ id }) => id === TRIGGERS) ? [TRIGGERS, ALL_MONITORS] : [TRIGGERS, TRIGGERS],
    calls: [CALLS, CALLS],
  } as const;
  for (const kind of ['triggers', 'calls'] as const) {
    if (limits[kind] <= 0) continue;
    const [source, orSource] = sources[kind];
    const scan = scans.start({ projectNumber, kind, nowMs });
    const due = { projectNumber, fromMs: scan.fromMs, nowMs, source, orSource, limit: limits[kind] };
    const jobs = await runQuery(evaluations.lockDueOf, due);
    marks.push(() => scan.end(jobs.length < limits[kind] ? nowMs : (jobs.at(-1)?.dueAtMs ?? 0)));
    add(jobs);
  }
  if (limits.monitors > 0) {
    add(await runQuery(evaluations.lockDueOfMonitors, { projectNumber, nowMs, limit: limits.monitors }));
  }
  return [...found.values()].toSorted((one, other) => one.dueAtMs - other.dueAtMs);
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

type ClaimedDue = {
  readonly claimed: readonly ClaimedJob[];
  readonly splitCount: number;
  /** What was found, or made by a split, and waits for the next claim. */
  readonly left: readonly (DueJob | EvaluationJob)[];
};

async function claimDue(
  tx: Transaction,
  { share, due, running }: DueInProject,
  { nowMs, leaseMs, fence }: Lease,
): Promise<ClaimedDue> {
  const { changeRows, queries } = tx;
  const { evaluations } = queries;
  const isSplit = (job: DueJob) => isOfAll(job) && !(running.length > 0 && hasOnlyTriggers(running));
  const [ofAll, ofOne] = [due.filter(isSplit), due.filter((job) => !isSplit(job))];
  const knownOf = await lockKnown(tx, share.projectNumber, ofAll);
  const dueAtMs = nowMs + leaseMs;
  const room = createRoom(share);
  const left = new Set<DueJob | EvaluationJob>(due);
  const waiting = ofOne.flatMap((job) => {
    if (!room.has(job)) return [];
    room.take(job);
    left.delete(job);
    // An expired lease means that its process was lost, which counts as a failure.
    return [{ ...job, fence, failures: job.failures + (job.fence === 0 ? 0 : 1) }];
  });
  const made: ClaimedJob[] = [];
  const stored: EvaluationJob[] = [];
  const split: JobKey[] = [];
  for (const job of ofAll) {
    // The remaining jobs wait for the next claim.
    if (!room.hasFor(running) || stored.length >= SPLIT_MAX) break;
    const known = knownOf(job.traceSequence);
    if (known === null) continue;
    split.push(job);
    left.delete(job);
    // A job that this claim takes reads the trace later anyway; `known` still shows its expired lease.
    const isClaimed = (sourceId: string) =>
      waiting.some((other) => other.traceSequence === job.traceSequence && other.sourceId === sourceId);
    const unclaimed = running.filter(({ id }) => !isClaimed(id));
    for (const next of splitJob(job, unclaimed, known)) {
      const isTaken = next.fence === 0 && room.has(next);
      stored.push(isTaken ? { ...next, fence, dueAtMs } : next);
      if (!isTaken) {
        left.add(next);
        continue;
      }
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
  return { claimed: [...waiting, ...made], splitCount: split.length, left: [...left] };
}

/** How many more jobs of each kind a share takes. */
function createRoom({ limits }: ClaimShare) {
  const left: Record<JobKind, number> = { ...limits };
  return {
    has: (job: Pick<JobKey, 'sourceId'>) => left[kindOfJob(job)] > 0,
    /** Whether a split could give any job. Where nothing runs, it removes the job. */
    hasFor: (running: readonly Running[]) =>
      running.length === 0 || running.some(({ id }) => left[kindOfJob({ sourceId: id })] > 0),
    take(job: Pick<JobKey, 'sourceId'>): void {
      left[kindOfJob(job)] -= 1;
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
