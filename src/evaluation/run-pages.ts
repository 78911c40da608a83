/** Runs evaluators over the traces of a search, page by page. */

import { findTarget, type TargetDeps } from '../domain/evaluations/evaluation-target.ts';
import type { EvaluatorRun, LeasedRun } from '../domain/evaluations/evaluator-run.ts';
import { evaluateTrace, type TraceRun, type TraceRunDeps, type TraceRunEnd } from '../domain/evaluations/trace-run.ts';
import { Fault } from '../domain/fault.ts';
import type { KeyStore } from '../domain/management/management-port.ts';
import type { PageOutcome } from '../domain/traces/search/search-run.ts';
import type { SearchRequest, TracePage, TraceSearches } from '../domain/traces/search/trace-search.ts';
import type { TraceView } from '../domain/traces/traces.ts';

export type RunPagesDeps = TargetDeps &
  TraceRunDeps & {
    /** Null: the project no longer exists. */
    readonly findProject: KeyStore['findProject'];
    readonly searches: Pick<TraceSearches, 'search'>;
    /** Traces evaluated concurrently. */
    readonly tracesAtOnce: number;
  };

const PAGE_SIZE = 20;
/** Traces whose failures are remembered; a forgotten one starts again at zero. */
const REMEMBERED_MAX = 10_000;

/** Failures of traces that wait for a retry, by run and trace. They do not count as failures of the run. */
type FailuresOfTraces = Map<string, number>;
type WorkDeps = RunPagesDeps & { readonly failuresOfTraces: FailuresOfTraces };

/** Works on the next page of a run. */
export function createRunPages(
  deps: RunPagesDeps,
): (run: LeasedRun, signal: AbortSignal) => Promise<PageOutcome<EvaluatorRun>> {
  const work: WorkDeps = { ...deps, failuresOfTraces: new Map() };
  return (run, signal) => evaluatePage(work, run, signal);
}

/** The run after its next page, or unchanged when a trace of the page has to be retried, or the page was interrupted. */
async function evaluatePage(deps: WorkDeps, run: LeasedRun, signal: AbortSignal): Promise<PageOutcome<EvaluatorRun>> {
  const project = await deps.findProject(run.projectId);
  if (project === null) throw new Fault('project_not_found', 'The project is archived.');
  const target = await findTarget(deps, project, { kind: 'saved', text: run.evaluatorId });
  const page = await deps.searches.search(searchOf(run), {
    project,
    nowMs: deps.clock(),
    // Memory is not counted: no request waits, and a page is no larger than a response.
    countResponseBytes: () => {},
  });
  const counts = { processed: run.processed, skipped: run.skipped, error: run.failed };
  for (let start = 0; start < page.views.length && !signal.aborted; start += deps.tracesAtOnce) {
    const views = page.views.slice(start, start + deps.tracesAtOnce);
    const traceRun = { project, runId: run.id, target, signal };
    const ends = await Promise.all(views.map((view) => evaluateOnce(deps, traceRun, view)));
    for (const end of ends) {
      // The rest of the page would most likely fail in the same way.
      if (end.kind === 'again') return { next: run, restMs: end.delayMs };
      counts[end.status] += 1;
    }
  }
  // An interrupted page is repeated; results that it has stored stay.
  if (signal.aborted) return { next: run, restMs: 0 };
  const { processed, skipped, error } = counts;
  return { next: { ...run, ...afterPage(page), processed, skipped, failed: error }, restMs: 0 };
}

async function evaluateOnce(
  deps: WorkDeps,
  traceRun: Omit<TraceRun, 'failures'>,
  view: TraceView,
): Promise<TraceRunEnd> {
  const { failuresOfTraces } = deps;
  const key = `${traceRun.runId}:${view.record.traceId}`;
  const failures = failuresOfTraces.get(key) ?? 0;
  const end = await evaluateTrace(deps, { ...traceRun, failures }, view);
  failuresOfTraces.delete(key);
  if (end.kind === 'again' && end.failures > 0) failuresOfTraces.set(key, end.failures);
  const [oldest] = failuresOfTraces.keys();
  if (failuresOfTraces.size > REMEMBERED_MAX && oldest !== undefined) failuresOfTraces.delete(oldest);
  return end;
}

function afterPage({ nextCursor, total }: TracePage): Partial<EvaluatorRun> & { readonly failures: number } {
  return {
    cursor: nextCursor ?? '',
    status: nextCursor === null ? 'completed' : 'running',
    tracesFound: total.count,
    isFoundExactly: total.isExact,
    failures: 0,
  };
}

/** `fixDates` has validated the stored search. */
function searchOf({ searchJson, cursor }: EvaluatorRun): SearchRequest {
  const { filtersJson, ...search } = JSON.parse(searchJson) as StoredSearch;
  const filters = search.filters ?? filtersByName(filtersJson ?? '{}');
  return { ...search, filters, pageSize: PAGE_SIZE, sortBy: null, isAscending: false, includeSpans: true, cursor };
}

/** Runs begun by an older version have their filters as the JSON of a REST request. */
type StoredSearch = Omit<SearchRequest, 'cursor' | 'filters'> & {
  readonly filters?: SearchRequest['filters'];
  readonly filtersJson?: string | null;
};

type ListsByKey = Readonly<Record<string, readonly string[] | null>>;

function filtersByName(json: string): SearchRequest['filters'] {
  const sent = Object.entries(JSON.parse(json) as Readonly<Record<string, ListsByKey[string] | ListsByKey>>);
  return sent.flatMap(([name, held]): SearchRequest['filters'] => {
    if (held === null || isList(held)) return [{ name, key: null, values: held ?? [] }];
    return Object.entries(held).map(([key, values]) => ({ name, key, values: values ?? [] }));
  });
}

function isList(held: readonly string[] | ListsByKey): held is readonly string[] {
  return Array.isArray(held);
}
