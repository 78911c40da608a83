/** Deletes the traces that a search finds, a page at a time. */

import type { Project } from '../../caller.ts';
import type { Clock } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { KeyStore } from '../../management/management-port.ts';
import type { Erase } from '../../retention.ts';
import type { Leased, PageOutcome } from '../search/search-run.ts';
import type { SearchConditions, TraceSearches } from '../search/trace-search.ts';
import type { TraceChangeStore } from '../trace-changes.ts';
import type { TraceDeletion } from './trace-deletion.ts';
import { toPage } from './trace-deletions.ts';

export type DeletionPagesDeps = {
  /** Null: the project no longer exists. */
  readonly findProject: KeyStore['findProject'];
  readonly searches: Pick<TraceSearches, 'search' | 'walk'>;
  readonly store: Pick<TraceChangeStore, 'removeTrace'>;
  /** Erases what was removed and could not be erased at once. */
  readonly erase: Erase;
  readonly clock: Clock;
};

const PAGE_SIZE = 200;
/** They share commits with what comes in meanwhile. */
const REMOVED_AT_ONCE = 8;
/** Somebody else removed what was found, or something is left to erase: others have their turn. */
const REST_MS = 1_000;

/**
 * Deletes the next page of a run. Every page begins with the first trace that is left, so that none is missed that changes
 * meanwhile: the deletion ends once its search finds nothing, and nothing of what it removed is left.
 */
export function createDeletionPages({ findProject, searches, store, erase, clock }: DeletionPagesDeps) {
  async function remove(
    { number: projectNumber }: Project,
    traceIds: readonly string[],
    signal: AbortSignal,
  ): Promise<number> {
    let removed = 0;
    for (let start = 0; start < traceIds.length && !signal.aborted; start += REMOVED_AT_ONCE) {
      const some = traceIds.slice(start, start + REMOVED_AT_ONCE);
      const outcomes = await Promise.all(
        some.map((traceId) => store.removeTrace({ projectNumber, traceId, expiredBeforeMs: null })),
      );
      removed += outcomes.filter((isRemoved) => isRemoved).length;
    }
    return removed;
  }

  return async (run: Leased<TraceDeletion>, signal: AbortSignal): Promise<PageOutcome<TraceDeletion>> => {
    const project = await findProject(run.projectId);
    if (project === null) throw new Fault('project_not_found', 'The project is archived.');
    const request = toPage(JSON.parse(run.searchJson) as SearchConditions);
    const call = { project, nowMs: clock(), countResponseBytes: () => {} };
    let { tracesFound, isFoundExactly } = run;
    if (tracesFound === null) {
      const { total } = await searches.search({ ...request, pageSize: 1 }, call);
      tracesFound = total.count;
      isFoundExactly = total.isExact;
    }
    const counted = { ...run, tracesFound, isFoundExactly, failures: 0 };
    for await (const found of searches.walk({ ...request, pageSize: PAGE_SIZE }, call)) {
      if (found.length === 0) continue;
      const traceIds = found.map(({ traceId }) => traceId);
      const removed = await remove(project, traceIds, signal);
      return { next: { ...counted, deleted: run.deleted + removed }, restMs: removed === 0 ? REST_MS : 0 };
    }
    if ((await erase(signal)) === 'more') return { next: counted, restMs: REST_MS };
    return { next: { ...counted, status: 'completed' }, restMs: 0 };
  };
}
