/** The monitors that run by themselves, kept where traces are stored, so that a project without any costs nothing there. */

import type { SampledMonitor } from '../../domain/evaluations/job-append.ts';

type Row = SampledMonitor & { readonly projectNumber: number };

export type RunningMonitors = {
  /** Whether what is kept is that of the number of a change. */
  isOf(change: number): boolean;
  keep(change: number, rows: readonly Row[]): void;
  /** The number of what is kept; null: nothing is. */
  change(): number | null;
  monitorsOf(projectNumber: number): readonly SampledMonitor[];
};

const NONE: readonly SampledMonitor[] = [];

export function createRunningMonitors(): RunningMonitors {
  let known: number | null = null;
  let byProject: ReadonlyMap<number, readonly SampledMonitor[]> = new Map();
  return {
    isOf: (change) => change === known,
    keep(change, rows) {
      known = change;
      byProject = Map.groupBy(rows, ({ projectNumber }) => projectNumber);
    },
    change: () => known,
    monitorsOf: (projectNumber) => byProject.get(projectNumber) ?? NONE,
  };
}
