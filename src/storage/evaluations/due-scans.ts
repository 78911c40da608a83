/**
 * Where to look for due jobs of a kind. Those of slow monitors may wait by the hundred thousand, so that a claim does not
 * read all of them each time to find a few others: what became due before the last claim is known.
 */

import { ALL_MONITORS, JOB_KINDS, type JobKey, type JobKind, kindOfJob } from '../../domain/evaluations/jobs.ts';

/** Looked at again, because a commit may take as long until others see its jobs. */
const RECENT_MS = 5_000;
/** After this time everything is looked at, because a job may return with a time that has passed. */
const WHOLE_EVERY_MS = 30_000;
const PROJECTS_MAX = 10_000;

type Scan = { readonly projectNumber: number; readonly kind: JobKind; readonly nowMs: number };

type LeftJob = Pick<JobKey, 'sourceId'> & { readonly dueAtMs: number };

export type Scans = ReturnType<typeof createScans>;

export function createScans() {
  const known = new Map<string, { readonly wholeAtMs: number; readonly untilMs: number }>();

  return {
    start({ projectNumber, kind, nowMs }: Scan) {
      const key = `${kind} ${projectNumber}`;
      const last = known.get(key);
      const sinceWholeMs = last === undefined ? WHOLE_EVERY_MS : nowMs - last.wholeAtMs;
      const isWhole = last === undefined || sinceWholeMs < 0 || sinceWholeMs >= WHOLE_EVERY_MS;
      return {
        fromMs: isWhole ? 0 : last.untilMs - RECENT_MS,
        /** All jobs of the kind that were due until then are claimed, or locked by others. */
        end(untilMs: number): void {
          if (known.size >= PROJECTS_MAX) known.clear();
          known.set(key, { wholeAtMs: isWhole ? nowMs : last.wholeAtMs, untilMs });
        },
      };
    },
    /** These jobs were found or made, and not claimed. */
    leave(projectNumber: number, jobs: readonly LeftJob[]): void {
      for (const { sourceId, dueAtMs } of jobs) {
        const kinds = sourceId === ALL_MONITORS ? JOB_KINDS : [kindOfJob({ sourceId })];
        for (const kind of kinds) {
          const last = known.get(`${kind} ${projectNumber}`);
          if (last !== undefined && last.untilMs > dueAtMs) {
            known.set(`${kind} ${projectNumber}`, { ...last, untilMs: dueAtMs });
          }
        }
      }
    },
  };
}
