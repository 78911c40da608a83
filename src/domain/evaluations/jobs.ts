/**
 * The queue of traces that wait to be evaluated, and its port. A job is of one trace and one source: a monitor, or
 * whatever else asks for evaluations, by its id. A trace that is stored costs one job, however many monitors there are:
 * that of all of them, which becomes a job for each that looks at the trace when it is claimed. Whoever wants traces evaluated in bulk puts them in with `enqueue`
 * under an id of its own, teaches `createEvaluationWorker` what is behind ids of that kind, and finds the results on the
 * traces; how many of its jobs are left says how far it has come.
 */

import type { TraceAppend } from '../trace.ts';
import { isSampled, type SampledMonitor } from './sampling.ts';

export type JobKey = {
  readonly projectNumber: number;
  /** Of the trace inside storage: one that is made anew under the same id is another. */
  readonly traceSequence: number;
  readonly sourceId: string;
};

export type EvaluationJob = JobKey & {
  readonly traceId: string;
  /** When it is to run or, of one that runs, when its lease ends. */
  readonly dueAtMs: number;
  /** When the first commit came that no run has seen. */
  readonly sinceMs: number;
  /** Another one for each claim; 0: nobody runs it. */
  readonly fence: number;
  /** Runs that failed or were lost. */
  readonly failures: number;
  /** Whether the trace has a span without a parent. */
  readonly isRooted: boolean;
  /** As due and since, of commits that came while it ran; null: none did. */
  readonly againDueAtMs: number | null;
  readonly againSinceMs: number | null;
  /** Of a job of all monitors: which change of them the last commit went by; of others 0. */
  readonly asOf: number;
};

/** The source of jobs for all monitors of a project. */
export const ALL_MONITORS = 'monitors';

/** How long a trace must have been left alone before it is evaluated, and how many may wait for it. */
export type Settle = {
  /** Once a span without a parent is stored, and before. */
  readonly rootedMs: number;
  readonly rootlessMs: number;
  /** Jobs that may wait in a project: of further traces none is stored. */
  readonly waitingMax: number;
};

export const SETTLE: Settle = { rootedMs: 500, rootlessMs: 10_000, waitingMax: 250_000 };
/** However often a trace changes, what came first is evaluated after so long. */
const PATIENCE_MS = 30_000;

export type Touch = {
  readonly nowMs: number;
  readonly isRooted: boolean;
  readonly settle: Settle;
  readonly asOf: number;
};

type TraceKey = Omit<JobKey, 'sourceId'> & { readonly traceId: string };

/** A trace has changed that monitors look at: the job of all of them, which may be waiting already. */
export function touchJob(
  known: EvaluationJob | undefined,
  { projectNumber, traceSequence, traceId }: TraceKey,
  { nowMs, isRooted, settle, asOf }: Touch,
): EvaluationJob {
  const sinceMs = known?.sinceMs ?? nowMs;
  const dueAtMs = Math.min(sinceMs + PATIENCE_MS, nowMs + (isRooted ? settle.rootedMs : settle.rootlessMs));
  const place = { projectNumber, traceSequence, sourceId: ALL_MONITORS, traceId };
  return { ...place, ...UNTRIED, dueAtMs, sinceMs, isRooted, asOf };
}

/** Of a job that nobody has run yet. */
export const UNTRIED = { fence: 0, failures: 0, againDueAtMs: null, againSinceMs: null };

/** What comes of a run. */
export type JobOutcome =
  /** The append brings the result, and nothing else. */
  | { readonly kind: 'store'; readonly append: TraceAppend }
  /** There is no result. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'retry'; readonly dueAtMs: number };

/** What is left of a job whose run has ended; null: nothing. */
export function endJob(job: EvaluationJob, outcome: JobOutcome): EvaluationJob | null {
  const free = { ...job, fence: 0, againDueAtMs: null, againSinceMs: null };
  if (outcome.kind === 'retry') return { ...free, dueAtMs: outcome.dueAtMs, failures: job.failures + 1 };
  if (job.againDueAtMs === null || job.againSinceMs === null) return null;
  return { ...free, dueAtMs: job.againDueAtMs, sinceMs: job.againSinceMs, failures: 0 };
}

/** A job that has been claimed: until its lease is over nobody else runs it. */
export type ClaimedJob = Pick<EvaluationJob, keyof JobKey | 'traceId' | 'fence' | 'failures' | 'sinceMs'>;

/** A monitor that runs by itself, and the change of monitors by which it began to. */
export type RunningMonitor = SampledMonitor & { readonly runsSince: number };

/** The jobs of monitors that a job of all of them stands for; `known` are those that the trace has already. */
export function splitJob(
  job: Pick<EvaluationJob, keyof JobKey | 'traceId' | 'dueAtMs' | 'sinceMs' | 'asOf'>,
  monitors: readonly RunningMonitor[],
  known: readonly EvaluationJob[],
): readonly EvaluationJob[] {
  const { projectNumber, traceSequence, traceId, dueAtMs, sinceMs } = job;
  return monitors.flatMap((monitor): readonly EvaluationJob[] => {
    if (monitor.runsSince > job.asOf || !isSampled(monitor, traceId)) return [];
    const before = known.find(({ sourceId }) => sourceId === monitor.id);
    const place = { projectNumber, traceSequence, sourceId: monitor.id, traceId };
    if (before === undefined) return [{ ...place, ...UNTRIED, dueAtMs, sinceMs, isRooted: true, asOf: 0 }];
    // One that waits reads the trace anew when its time has come, also to be tried again.
    if (before.fence === 0) return [];
    return [{ ...before, againDueAtMs: dueAtMs, againSinceMs: before.againSinceMs ?? sinceMs }];
  });
}

/** Ends a job in the same commit as everything else that is stored. */
export type JobEnd = JobKey & {
  readonly kind: 'evaluation';
  readonly fence: number;
  readonly outcome: JobOutcome;
};

export type EvaluationJobStore = {
  /** The clock that leases are judged by; null where that is this process's own. */
  nowMs(): Promise<number | null>;
  /** Calls back, soon, after something was stored. Answers how to stop. */
  listen(wake: () => void): () => void;
  /** Whether no other process can be running jobs: then whatever is leased at the start was lost. */
  readonly isAlone: boolean;
  /** The projects that have jobs, in the order of their numbers, each with when the next of them is due. */
  queues(): Promise<readonly JobQueue[]>;
  /**
   * Leases due jobs, and those whose lease is over, the longest due first; a job of all monitors becomes those of each
   * that looks at its trace, has not begun to run since the last commit, and runs now. MUST give a job to one claimer
   * only, and MUST count a lease that was over as a failure.
   */
  claim(question: ClaimQuestion): Promise<readonly ClaimedJob[]>;
  /** Answers which of them are still the caller's; their leases end then. */
  renew(jobs: readonly ClaimedJob[], untilMs: number): Promise<readonly boolean[]>;
  /** Puts back what was claimed and has not begun. MUST leave alone what is not the caller's any more. */
  release(jobs: readonly ClaimedJob[], nowMs: number): Promise<void>;
  /** Makes due what a process had leased that is gone. For stores that are alone. */
  takeOver(nowMs: number, leaseMs: number): Promise<void>;
  /**
   * Commits what came of a run. MUST answer `stale` and change nothing when the fence is not the job's own any more. A
   * result MUST be stored once, in the commit that ends the job, and never on a trace that is gone.
   */
  end(end: JobEnd): Promise<'recorded' | 'stale'>;
  /** Puts in jobs; those that are there already stay as they are. */
  enqueue(jobs: readonly NewJob[]): Promise<void>;
  /** For metrics: see JobCounts. At most `countMax` are counted. */
  counts(countMax: number): Promise<JobCounts>;
};

export type JobCounts = {
  readonly depth: number;
  /** When the one is due that is due first. */
  readonly oldestDueAtMs: number | null;
  /** Traces that this process stored without a job, because too many of their project waited. */
  readonly refused: number;
};

export type JobQueue = { readonly projectNumber: number; readonly dueAtMs: number };

export type NewJob = JobKey & { readonly traceId: string; readonly dueAtMs: number };

export type ClaimQuestion = {
  readonly shares: readonly { readonly projectNumber: number; readonly limit: number }[];
  readonly nowMs: number;
  readonly leaseMs: number;
  /** That no other claim has. */
  readonly fence: number;
};
