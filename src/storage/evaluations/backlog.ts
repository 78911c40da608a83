/**
 * Bounds the jobs that wait in a project, where they are stored. They are counted now and then, beside what stores them:
 * that only asks what is known, and waits for no count. What this process has stored since is added to the last count, so
 * that one process alone keeps the bound, and several keep it by about what the others store from count to count.
 */

export type Backlog = {
  /** Whether there is no room for the job of another trace: then the trace is not looked at. */
  isFull(projectNumber: number): boolean;
  /** What became of traces that had no job, once it is stored. */
  note(projectNumber: number, jobs: JobCount): void;
  /** How many traces this process has not had looked at. */
  refused(): number;
};

/** Of traces that are stored together. */
export type JobCount = { made: number; refused: number };

export type BacklogDeps = {
  readonly waitingMax: number;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
  readonly countSome: CountSome;
};

/** Counts the jobs of a project after those of a trace, in the order of their traces, and at most so many. */
export type CountSome = (question: SomeJobs) => Promise<CountedSome | undefined>;
export type SomeJobs = {
  readonly projectNumber: number;
  readonly afterSequence: number;
  readonly countMax: number;
};
/** `lastSequence`: of the trace that was counted last. */
export type CountedSome = { readonly count: number; readonly lastSequence: number | null };

type Known = {
  /** Of the last count. */
  count: number;
  /** By this process since that began. */
  made: number;
  /** How many more it may store before it counts again. */
  jobsLeft: number;
  askedAtMs: number;
  /** From one count to the next. */
  pauseMs: number;
};

/** A project is not counted more often. */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 60_000;
/** An answer that nobody has asked for again since is too old to refuse anything by. */
const TRUSTED_MS = 10_000;
/** Of the room that is left, before it is looked at again. */
const SHARE = 1 / 8;
const SHARE_MIN = 1 / 100;
/** Counted by one question, for which others may have to wait. */
const STEP = 10_000;

/** Only projects with monitors are ever asked about. */
export function createBacklog({ waitingMax, nowMs, countSome }: BacklogDeps): Backlog {
  const known = new Map<number, Known>();
  let isCounting = false;
  let refused = 0;

  const isWithoutRoom = ({ count, made }: Known) => count + made >= waitingMax;

  function isToCount(project: Known): boolean {
    if (isCounting || nowMs() - project.askedAtMs < project.pauseMs) return false;
    return project.jobsLeft <= 0 || isWithoutRoom(project);
  }

  async function countAgain(projectNumber: number, project: Known): Promise<void> {
    isCounting = true;
    const madeBefore = project.made;
    try {
      const count = await countJobs(projectNumber);
      project.count = count;
      project.made -= madeBefore;
      project.jobsLeft = Math.ceil(Math.max((waitingMax - count - project.made) * SHARE, waitingMax * SHARE_MIN));
      project.pauseMs = PAUSE_MIN_MS;
    } catch {
      // Whoever needs the store is told that it fails. The last answer stays.
      project.pauseMs = Math.min(Math.max(2 * project.pauseMs, PAUSE_MIN_MS), PAUSE_MAX_MS);
    } finally {
      project.askedAtMs = nowMs();
      isCounting = false;
    }
  }

  /** About: jobs of one trace are not told apart where one step ends, and come and go meanwhile. */
  async function countJobs(projectNumber: number): Promise<number> {
    let count = 0;
    let afterSequence = -1;
    while (count < waitingMax) {
      const countMax = Math.min(STEP, waitingMax - count);
      const some = await countSome({ projectNumber, afterSequence, countMax });
      if (some === undefined || some.lastSequence === null) break;
      count += some.count;
      if (some.count < countMax) break;
      afterSequence = some.lastSequence;
    }
    return count;
  }

  return {
    isFull(projectNumber) {
      const project = known.get(projectNumber);
      if (project === undefined || !isWithoutRoom(project)) return false;
      return nowMs() - project.askedAtMs < Math.max(TRUSTED_MS, 2 * project.pauseMs);
    },
    note(projectNumber, jobs) {
      refused += jobs.refused;
      const project = known.get(projectNumber) ?? { count: 0, made: 0, jobsLeft: 0, askedAtMs: nowMs(), pauseMs: 0 };
      known.set(projectNumber, project);
      project.made += jobs.made;
      project.jobsLeft -= jobs.made;
      if (isToCount(project)) void countAgain(projectNumber, project);
    },
    refused: () => refused,
  };
}
