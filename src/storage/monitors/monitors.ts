/** Monitors outside of the room of management that stores them. */

import type { ActiveMonitors } from '../../domain/evaluations/jobs.ts';
import type { Monitor, MonitorStore, Precondition } from '../../domain/monitors/monitor.ts';
import type { SampledMonitor } from '../../domain/monitors/sampling.ts';
import { parseFreeJson } from '../../json/free-json.ts';
import type { MonitorRoom, PackedMonitor } from '../management/monitors.ts';

export function createMonitorStore(room: MonitorRoom): MonitorStore {
  const orNull = (found: Stored | null) => found && unpack(found);
  return {
    find: async (...args) => orNull(await room.find(...args)),
    findInProject: async (...args) => orNull(await room.findInProject(...args)),
    list: async (projectId) => (await room.list(projectId)).map(unpack),
    insert: (monitor, limit) => room.insert(pack(monitor), limit),
    replace: (monitor, knownAtMs) => room.replace(pack(monitor), knownAtMs),
    remove: room.remove,
  };
}

function pack({ preconditions, ...rest }: Monitor): PackedMonitor {
  return { ...rest, preconditionsJson: JSON.stringify(preconditions) };
}

type Stored = PackedMonitor & { readonly runsSince: number };

function unpack({ preconditionsJson, runsSince: _, ...rest }: Stored): Monitor {
  return { ...rest, preconditions: parseFreeJson(preconditionsJson) as unknown as readonly Precondition[] };
}

const NO_MONITORS: readonly SampledMonitor[] = [];

/** Caches active monitors where traces are stored, so that a project without monitors costs nothing. */
export function createActiveMonitorCache() {
  const known = new Map<number, ActiveMonitors>();
  return {
    /** Null: the project is not in the cache. */
    activeMonitorsOf: (projectNumber: number): ActiveMonitors | null => known.get(projectNumber) ?? null,
    keep(projectNumber: number, { asOf, monitors }: ActiveMonitors): void {
      // Most projects have no monitors, and share one empty list.
      known.set(projectNumber, { asOf, monitors: monitors.length === 0 ? NO_MONITORS : monitors });
    },
  };
}
