/** Caches active monitors where traces are stored, so that a project without monitors costs nothing. */

import type { ActiveMonitors, SampledMonitor } from '../../domain/evaluations/jobs.ts';

export type ActiveMonitorCache = {
  /** Null: the project is not in the cache. */
  activeMonitorsOf(projectNumber: number): ActiveMonitors | null;
  keep(projectNumber: number, watch: ActiveMonitors): void;
};

const NO_MONITORS: readonly SampledMonitor[] = [];

export function createActiveMonitorCache(): ActiveMonitorCache {
  const known = new Map<number, ActiveMonitors>();
  return {
    activeMonitorsOf: (projectNumber) => known.get(projectNumber) ?? null,
    keep(projectNumber, { asOf, monitors }) {
      // Most projects have no monitors, and share one empty list.
      known.set(projectNumber, { asOf, monitors: monitors.length === 0 ? NO_MONITORS : monitors });
    },
  };
}
