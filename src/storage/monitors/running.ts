/** The monitors that run by themselves, kept where traces are stored, so that a project without any costs nothing there. */

import type { Watch } from '../../domain/evaluations/job-append.ts';
import type { SampledMonitor } from '../../domain/evaluations/sampling.ts';

export type WatchedProjects = {
  /** Null: nothing is known of the project. */
  watchOf(projectNumber: number): Watch | null;
  keep(projectNumber: number, watch: Watch): void;
};

const NO_MONITORS: readonly SampledMonitor[] = [];

export function createWatchedProjects(): WatchedProjects {
  const known = new Map<number, Watch>();
  return {
    watchOf: (projectNumber) => known.get(projectNumber) ?? null,
    keep(projectNumber, { asOf, monitors }) {
      // Most projects have none, and share the list of them.
      known.set(projectNumber, { asOf, monitors: monitors.length === 0 ? NO_MONITORS : monitors });
    },
  };
}
