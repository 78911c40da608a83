/** Deletes the traces that searches find, some at a time. */

import type { Deps } from '../app/deps.ts';
import { Fault } from '../domain/fault.ts';
import type { KeyStore } from '../domain/management/management-port.ts';
import type { TraceDeletion } from '../domain/traces/deletion/trace-deletion.ts';
import { toPage } from '../domain/traces/deletion/trace-deletions.ts';
import type { Leased } from '../domain/traces/search/search-run.ts';
import type { SearchConditions, TraceSearches } from '../domain/traces/search/trace-search.ts';
import type { TraceChangeStore } from '../domain/traces/trace-changes.ts';
import { waitUnref } from '../scheduling/schedule.ts';
import { type PageOutcome, type RunWorker, startRunWorker } from './search-run-worker.ts';

type WorkDeps = Pick<Deps, 'store' | 'random'> & Pick<DeletionPagesDeps, 'searches'>;

const FENCE_BYTES = 6;

export function createTraceDeleting({ clock, log }: Pick<Deps, 'clock' | 'log'>) {
  let worker: RunWorker | null = null;
  return {
    /** Called after a deletion was started or cancelled. */
    onChanged: () => worker?.wake(),
    work({ store, searches, random }: WorkDeps): void {
      const traces = store.traceChanges;
      worker = startRunWorker({
        name: 'deletions of traces',
        store: store.traceDeletions,
        workPage: createDeletionPages({ findProject: store.keys.findProject, searches, traces, clock }),
        clock,
        fence: () => random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES),
        wait: waitUnref,
        log,
      });
    },
    stop: async () => await worker?.stop(),
  };
}

type DeletionPagesDeps = Pick<Deps, 'clock'> & {
  /** Null: the project no longer exists. */
  readonly findProject: KeyStore['findProject'];
  readonly searches: Pick<TraceSearches, 'search' | 'walk'>;
  readonly traces: Pick<TraceChangeStore, 'removeTrace'>;
};

const PAGE_SIZE = 200;
/** They share commits with what comes in meanwhile. */
const REMOVED_AT_ONCE = 8;

/**
 * Every page begins with the first trace that is left, so that none is missed that changes meanwhile: the deletion ends
 * once its search finds nothing.
 */
function createDeletionPages({ findProject, searches, traces, clock }: DeletionPagesDeps) {
  return async (run: Leased<TraceDeletion>, signal: AbortSignal): Promise<PageOutcome<TraceDeletion>> => {
    const project = await findProject(run.projectId);
    if (project === null) throw new Fault('project_not_found', 'The project is archived.');
    const request = toPage(JSON.parse(run.searchJson) as SearchConditions);
    const call = { project, nowMs: clock(), countResponseBytes: () => {} };
    const { tracesFound, isFoundExactly } = run.tracesFound === null ? await count() : run;

    async function count() {
      const { total } = await searches.search({ ...request, pageSize: 1 }, call);
      return { tracesFound: total.count, isFoundExactly: total.isExact };
    }

    /** Removes the traces of the first page that has any; null at the end of the search. */
    async function removeSome(): Promise<number | null> {
      for await (const found of searches.walk({ ...request, pageSize: PAGE_SIZE }, call)) {
        if (found.length === 0) continue;
        let removed = 0;
        for (let start = 0; start < found.length && !signal.aborted; start += REMOVED_AT_ONCE) {
          const some = found.slice(start, start + REMOVED_AT_ONCE);
          const outcomes = await Promise.all(
            some.map(({ traceId }) =>
              traces.removeTrace({ projectNumber: project?.number ?? 0, traceId, expiredBeforeMs: null }),
            ),
          );
          removed += outcomes.filter((isRemoved) => isRemoved).length;
        }
        return removed;
      }
      return null;
    }

    const removed = await removeSome();
    const next: Leased<TraceDeletion> = {
      ...{ ...run, tracesFound, isFoundExactly, failures: 0 },
      deleted: run.deleted + (removed ?? 0),
      status: removed === null ? 'completed' : 'running',
    };
    return { next, restMs: 0 };
  };
}
