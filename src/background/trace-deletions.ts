/** Runs deletions of traces in the background. */

import type { Deps } from '../app/deps.ts';
import { createErasure } from '../domain/retention.ts';
import { createDeletionPages, type DeletionPagesDeps } from '../domain/traces/deletion/deletion-pages.ts';
import { type Loop, waitUnref } from '../scheduling/schedule.ts';
import { startRunWorker } from './search-run-worker.ts';

type WorkDeps = Pick<Deps, 'store' | 'random'> & Pick<DeletionPagesDeps, 'searches'>;

export function createTraceDeleting({ clock, log }: Pick<Deps, 'clock' | 'log'>) {
  let worker: Loop | null = null;
  return {
    /** Called after a deletion was started or cancelled. */
    onChanged: () => worker?.wake(),
    work({ store: { traceDeletions, traceChanges, telemetryRetention, keys }, searches, random }: WorkDeps): void {
      const erase = createErasure({ store: telemetryRetention, pause: waitUnref });
      worker = startRunWorker({
        name: 'deletions of traces',
        store: traceDeletions,
        workPage: createDeletionPages({ findProject: keys.findProject, searches, store: traceChanges, erase, clock }),
        ...{ clock, random, wait: waitUnref, log },
      });
    },
    stop: async () => await worker?.stop(),
  };
}
