/**
 * The queue of traces to evaluate, and its port. A job belongs to one trace and one source, normally a monitor. Storing a
 * trace costs one job, however many monitors the project has: a job with the source ALL_MONITORS, which is split into one
 * job per monitor when it is claimed.
 */

import { isSampled, type SampledMonitor } from '../monitors/sampling.ts';
import type { CallSettlement } from '../traces/shares/trace-calls.ts';
import type { TraceAppend } from '../traces/trace.ts';

export type JobKey = {
  readonly projectNumber: number;
  /** Identifies the trace in storage; a trace that is created again with the same id has another one. */
  readonly traceSequence: number;
  readonly sourceId: string;
};

export type EvaluationJob = JobKey & {
  readonly traceId: string;
  /** When the job is to run; while it runs, when its lease expires. */
  readonly dueAtMs: number;
  /** The time of the first commit that no run has seen. */
  readonly sinceMs: number;
  /** Unique to the claim; 0: the job is not running. */
  readonly fence: number;
  /** Failed and lost runs. */
  readonly failures: number;
  /** Whether the trace has a span without a parent. */
  readonly isRooted: boolean;
  /** `dueAtMs` and `sinceMs` for commits that came while the job ran; null: none came. */
  readonly againDueAtMs: number | null;
  readonly againSinceMs: number | null;
  /**
   * For ALL_MONITORS and TRIGGERS: the number of the last change of monitors that the commit saw. For CALLS: how many
   * calls are settled already. Else 0.
   */
  readonly asOf: number;
};

/** The source of a job for all monitors of a project. */
export const ALL_MONITORS = 'monitors';
/** The source of a job for all triggers on traces of a project. */
export const TRIGGERS = 'triggers';

/** Among the monitors of a project that has triggers which ask for results of evaluations; no trace has such a job. */
export const TRIGGERS_ON_RESULTS = 'triggers on results';
/** The source of a job that corrects the requests of calls. */
export const CALLS = 'calls';

/** Each kind is claimed apart, so that slow monitors delay no other one. */
export const JOB_KINDS = ['monitors', 'triggers', 'calls'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** A job for all monitors is claimed only where the project has triggers alone. */
export function kindOfJob({ sourceId }: Pick<JobKey, 'sourceId'>): JobKind {
  if (sourceId === CALLS) return 'calls';
  return sourceId === TRIGGERS || sourceId === ALL_MONITORS ? 'triggers' : 'monitors';
}

/** How long a trace must stay unchanged before it is evaluated, and how many jobs may wait. */
export type JobQueueOptions = {
  /** `rootedMs` applies once the trace has a span without a parent. */
  readonly rootedMs: number;
  readonly rootlessMs: number;
  /** Jobs that may wait in a project; further traces get none. */
  readonly waitingMax: number;
};

export const JOB_QUEUE_DEFAULTS: JobQueueOptions = { rootedMs: 500, rootlessMs: 10_000, waitingMax: 250_000 };
/** A trace that keeps changing is evaluated after this time nevertheless. */
const POSTPONED_MAX_MS = 30_000;
/** Longer than any lease, and than any wait for a trace to stay unchanged or for a retry. */
export const WAIT_MAX_MS = 10 * 60_000;

type JobTouch = {
  readonly nowMs: number;
  readonly isRooted: boolean;
  readonly jobQueue: JobQueueOptions;
  readonly asOf: number;
};

type TraceKey = Omit<JobKey, 'sourceId'> & { readonly traceId: string };

/** The job of a source after a trace changed; `known` is the one that already waits. */
export function touchJob(
  known: EvaluationJob | undefined,
  { projectNumber, traceSequence, traceId, sourceId = ALL_MONITORS }: TraceKey & { readonly sourceId?: string },
  { nowMs, isRooted, jobQueue, asOf }: JobTouch,
): EvaluationJob {
  // What a run that goes on has seen does not wait.
  const sinceMs = known === undefined || known.fence !== 0 ? nowMs : known.sinceMs;
  const dueAtMs = Math.min(sinceMs + POSTPONED_MAX_MS, nowMs + (isRooted ? jobQueue.rootedMs : jobQueue.rootlessMs));
  const key = { projectNumber, traceSequence, sourceId, traceId };
  return { ...key, ...UNTRIED, dueAtMs, sinceMs, isRooted, asOf };
}

/** The state of a job that has never run. */
export const UNTRIED = { fence: 0, failures: 0, againDueAtMs: null, againSinceMs: null };

/** The outcome of a run. */
export type JobOutcome =
  /** The append holds the result and nothing else. */
  | { readonly kind: 'store'; readonly append: TraceAppend }
  /** Corrects requests; again from the beginning if the trace has changed, and from `next` on if there are more calls. */
  | { readonly kind: 'settle'; readonly settlement: CallSettlement; readonly next: number | null }
  /** Ends the job without a result. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'retry'; readonly dueAtMs: number }
  /** The job could not be run, which is not a failure of it. */
  | { readonly kind: 'wait'; readonly dueAtMs: number };

/** The job after its run has ended; null: the job is done. */
export function endJob(job: EvaluationJob, outcome: Exclude<JobOutcome, { kind: 'settle' }>): EvaluationJob | null {
  const free = { ...job, fence: 0, againDueAtMs: null, againSinceMs: null };
  if (outcome.kind === 'wait') return { ...free, dueAtMs: outcome.dueAtMs };
  const isUnchanged = job.againDueAtMs === null || job.againSinceMs === null;
  if (isUnchanged)
    return outcome.kind === 'retry' ? { ...free, dueAtMs: outcome.dueAtMs, failures: job.failures + 1 } : null;
  // What has come since is not tried yet, and does not wait for a retry.
  return { ...free, dueAtMs: job.againDueAtMs, sinceMs: job.againSinceMs, failures: 0 };
}

/** A claimed job: no other process runs it until its lease expires. */
export type ClaimedJob = Pick<EvaluationJob, keyof JobKey | 'traceId' | 'fence' | 'failures' | 'sinceMs' | 'asOf'>;

/** An active monitor; `runsSince` is the number of the change of monitors that activated it. */
type RunningMonitor = SampledMonitor & { readonly runsSince: number };

/** The monitors of a project that run on every new trace. */
export type ActiveMonitors = {
  /** The number of the last change of active monitors; see EvaluationJob. */
  readonly asOf: number;
  readonly monitors: readonly SampledMonitor[];
};

/** Splits a job for all monitors into one per monitor; `known` are the jobs that the trace already has. */
export function splitJob(
  job: Pick<EvaluationJob, keyof JobKey | 'traceId' | 'dueAtMs' | 'sinceMs' | 'asOf'>,
  monitors: readonly RunningMonitor[],
  known: readonly EvaluationJob[],
): readonly EvaluationJob[] {
  const { projectNumber, traceSequence, traceId, dueAtMs, sinceMs } = job;
  return monitors.flatMap((monitor): readonly EvaluationJob[] => {
    if (monitor.runsSince > job.asOf || !isSampled(monitor, traceId)) return [];
    const before = known.find(({ sourceId }) => sourceId === monitor.id);
    const key = { projectNumber, traceSequence, sourceId: monitor.id, traceId };
    const asOf = monitor.id === TRIGGERS ? job.asOf : 0;
    if (before === undefined) return [{ ...key, ...UNTRIED, dueAtMs, sinceMs, isRooted: true, asOf }];
    // A waiting job reads the changed trace anyway; one that waits for a retry need not wait any longer.
    if (before.fence === 0) return before.failures === 0 ? [] : [{ ...before, asOf, dueAtMs, failures: 0 }];
    return [{ ...before, asOf, againDueAtMs: dueAtMs, againSinceMs: before.againSinceMs ?? sinceMs }];
  });
}

/** Ends a job in the same commit that stores its result. */
export type JobEnd = JobKey & {
  readonly kind: 'evaluation';
  readonly fence: number;
  readonly outcome: JobOutcome;
};

export type EvaluationJobStore = {
  /** The clock of leases; null: the clock of this process. */
  nowMs(): Promise<number | null>;
  /** Calls `wake` soon after something was stored. Returns a function that stops it. */
  listen(wake: () => void): () => void;
  /** Whether no other process can run jobs: then every lease found at the start was lost. */
  readonly isSingleProcess: boolean;
  /** The projects that have jobs, by ascending number, each with the earliest due time. */
  queues(): Promise<readonly JobQueue[]>;
  /**
   * Leases due jobs and jobs with an expired lease, the longest due first. A job for all monitors is split into one for
   * each monitor that samples the trace, is active now, and was so at the last commit; where the project has triggers
   * alone, it is leased as it is. MUST find the jobs of each kind, however many of another kind are due before them. MUST
   * lease a job to one claimer only, and MUST count an expired lease as a failure.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]>;
  /** Extends leases to `untilMs`. Returns for each job whether the caller still has it. */
  renew(jobs: readonly ClaimedJob[], untilMs: number): Promise<readonly boolean[]>;
  /**
   * Ends jobs without a result, all in one commit; what came while they ran waits again. MUST NOT change jobs that another
   * claimer has now.
   */
  drop(jobs: readonly ClaimedJob[]): Promise<void>;
  /** Returns claimed jobs that have not begun. MUST NOT change jobs that another claimer has now. */
  release(jobs: readonly ClaimedJob[], nowMs: number): Promise<void>;
  /** Makes jobs due that a stopped process had leased. Only where `isSingleProcess`. */
  takeOver(nowMs: number, leaseMs: number): Promise<void>;
  /** Makes jobs due that are due later than any job can be: a clock was ahead. */
  correctDue(nowMs: number): Promise<void>;
  /**
   * Commits the outcome of a run. MUST return `stale` and change nothing when the job has another fence. A result MUST be
   * stored once, in the commit that ends the job, and never on a removed trace.
   */
  end(end: JobEnd): Promise<'recorded' | 'stale'>;
  /** For metrics. Counts at most `countMax` jobs. */
  counts(countMax: number): Promise<JobCounts>;
  /** The jobs of one project. MUST count at most `countMax` that are due, and at most `countMax` others. */
  countsOf(request: ProjectCountRequest): Promise<ProjectJobCounts>;
};

type JobCounts = {
  readonly depth: number;
  /** The earliest due time. */
  readonly oldestDueAtMs: number | null;
  /** Traces that this process stored without a job, because too many jobs of the project waited. */
  readonly refused: number;
};

type ProjectCountRequest = {
  readonly projectNumber: number;
  readonly nowMs: number;
  readonly countMax: number;
};

export type ProjectJobCounts = {
  /** Jobs whose time has come, also those with an expired lease. */
  readonly due: number;
  /** Jobs whose time has not come. */
  readonly scheduled: number;
  /** Leased jobs. */
  readonly running: number;
  /** The earliest due time of the due jobs. */
  readonly oldestDueAtMs: number | null;
  /** As in JobCounts. */
  readonly refused: number;
};

export type JobQueue = {
  readonly projectNumber: number;
  readonly organizationId: string;
  readonly dueAtMs: number;
};

/** How many jobs of each kind a claim may take from a project. */
export type ClaimShare = { readonly projectNumber: number; readonly limits: Readonly<Record<JobKind, number>> };

export type ClaimRequest = {
  readonly shares: readonly ClaimShare[];
  readonly nowMs: number;
  readonly leaseMs: number;
  /** Unique to this claim. */
  readonly fence: number;
};
