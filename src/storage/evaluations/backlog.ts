/**
 * Bounds the jobs that wait in a project, where they are stored. They are not counted with every job but now and then, the
 * more often the less room there is, so that the bound is kept by about a hundredth for each process that stores jobs.
 */

export type Backlog = {
  readonly waitingMax: number;
  /** Whether the jobs of the project are to be counted before more are stored. */
  isToCount(projectNumber: number): boolean;
  noteCount(projectNumber: number, count: number): void;
  /** Whether there is no room for the job of another trace: then the trace is not looked at. */
  isFull(projectNumber: number): boolean;
  /** What became of traces that had no job, once it is stored. */
  note(projectNumber: number, jobs: JobCount): void;
  /** How many traces this process has not had looked at. */
  refused(): number;
};

/** Of traces that are stored together. */
export type JobCount = { made: number; refused: number };

type Counted = { readonly isFull: boolean; readonly atMs: number; jobsLeft: number };

/** A project without room is counted again after so long. */
const FULL_MS = 1_000;
/** Of the room that is left, before it is looked at again. */
const SHARE = 1 / 8;
const SHARE_MIN = 1 / 100;

/** Only projects with monitors are ever asked about. `nowMs` is of a clock that never goes back. */
export function createBacklog(waitingMax: number, nowMs: () => number): Backlog {
  const known = new Map<number, Counted>();
  let refused = 0;
  return {
    waitingMax,
    isToCount(projectNumber) {
      const counted = known.get(projectNumber);
      if (counted === undefined) return true;
      return counted.isFull ? nowMs() - counted.atMs >= FULL_MS : counted.jobsLeft <= 0;
    },
    noteCount(projectNumber, count) {
      const room = waitingMax - count;
      const jobsLeft = Math.min(room, Math.ceil(Math.max(room * SHARE, waitingMax * SHARE_MIN)));
      known.set(projectNumber, { isFull: room <= 0, atMs: nowMs(), jobsLeft });
    },
    isFull: (projectNumber) => known.get(projectNumber)?.isFull === true,
    note(projectNumber, jobs) {
      refused += jobs.refused;
      const counted = known.get(projectNumber);
      if (counted !== undefined) counted.jobsLeft -= jobs.made;
    },
    refused: () => refused,
  };
}
