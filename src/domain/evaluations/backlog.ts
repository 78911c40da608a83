/**
 * Bounds the waiting jobs of a project where they are stored. Jobs are counted from time to time, in the background: an
 * append uses the last count plus what this process has stored since. One process alone keeps the bound exactly; several
 * exceed it by what the others store between two counts.
 */

export type Backlog = {
  /** Whether the project may store no further job; monitors then skip the trace. */
  isFull(projectNumber: number): boolean;
  /** Records how many jobs an append made and refused, once it is stored. */
  note(projectNumber: number, jobs: JobCount): void;
  /** How many traces this process stored without a job, of one project or, for null, of all. */
  refused(projectNumber: number | null): number;
};

/** The jobs of one append. */
export type JobCount = { made: number; refused: number };

type BacklogDeps = {
  readonly waitingMax: number;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly countSome: CountSome;
};

/** Counts at most `countMax` jobs of a project, by ascending trace, after one trace. */
type CountSome = (query: SomeJobs) => Promise<CountedSome | undefined>;
export type SomeJobs = {
  readonly projectNumber: number;
  readonly afterSequence: number;
  readonly countMax: number;
};
/** `lastSequence`: the last trace that was counted. */
type CountedSome = { readonly count: number; readonly lastSequence: number | null };

type Known = {
  /** The last count. */
  count: number;
  /** Jobs that this process stored since the last count began. */
  made: number;
  /** Traces that this process stored without a job. */
  refused: number;
  /** How many jobs this process may store before it counts again. */
  jobsLeft: number;
  countedAtMs: number;
  /** The least time between two counts. */
  pauseMs: number;
};

const UNKNOWN: Omit<Known, 'countedAtMs'> = { count: 0, made: 0, refused: 0, jobsLeft: 0, pauseMs: 0 };
/** The bounds of `pauseMs`. */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 60_000;
/** An older count refuses nothing. */
const TRUSTED_MS = 10_000;
/** The share of the remaining capacity that may be used before the next count. */
const SHARE = 1 / 8;
const SHARE_MIN = 1 / 100;
/** Jobs counted by one query, because other queries may have to wait for it. */
const STEP = 10_000;

/** Only called for projects with monitors. */
export function createBacklog({ waitingMax, nowMs, countSome }: BacklogDeps): Backlog {
  const known = new Map<number, Known>();
  let isCounting = false;
  let refusedOfAll = 0;

  const isWithoutRoom = ({ count, made }: Known) => count + made >= waitingMax;

  function isToCount(project: Known): boolean {
    if (isCounting || nowMs() - project.countedAtMs < project.pauseMs) return false;
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
      // The append that needs the store reports its failure. The last count stays valid.
      project.pauseMs = Math.min(Math.max(2 * project.pauseMs, PAUSE_MIN_MS), PAUSE_MAX_MS);
    } finally {
      project.countedAtMs = nowMs();
      isCounting = false;
    }
  }

  /** An estimate: a step may end among the jobs of one trace, and jobs come and go meanwhile. */
  async function countJobs(projectNumber: number): Promise<number> {
    let count = 0;
    let afterSequence = -1;
    while (count < waitingMax) {
      const countMax = Math.min(STEP, waitingMax - count);
      const counted = await countSome({ projectNumber, afterSequence, countMax });
      if (counted === undefined || counted.lastSequence === null) break;
      count += counted.count;
      if (counted.count < countMax) break;
      afterSequence = counted.lastSequence;
    }
    return count;
  }

  return {
    isFull(projectNumber) {
      const project = known.get(projectNumber);
      if (project === undefined || !isWithoutRoom(project)) return false;
      return nowMs() - project.countedAtMs < Math.max(TRUSTED_MS, 2 * project.pauseMs);
    },
    note(projectNumber, jobs) {
      refusedOfAll += jobs.refused;
      const project = known.get(projectNumber) ?? { ...UNKNOWN, countedAtMs: nowMs() };
      known.set(projectNumber, project);
      project.made += jobs.made;
      project.refused += jobs.refused;
      project.jobsLeft -= jobs.made;
      if (isToCount(project)) void countAgain(projectNumber, project);
    },
    refused: (projectNumber) => (projectNumber === null ? refusedOfAll : (known.get(projectNumber)?.refused ?? 0)),
  };
}
