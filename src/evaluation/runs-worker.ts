/** Runs evaluators over the traces of a search, page by page: another process can continue a run at the next page. */

import { findTarget, type TargetDeps } from '../domain/evaluations/evaluation-target.ts';
import type { EvaluatorRun, EvaluatorRunStore, LeasedRun } from '../domain/evaluations/evaluator-run.ts';
import { evaluateTrace, type TraceRun, type TraceRunDeps, type TraceRunEnd } from '../domain/evaluations/trace-run.ts';
import { Fault } from '../domain/fault.ts';
import type { KeyStore } from '../domain/management/management-port.ts';
import type { SearchRequest, TracePage, TraceSearches } from '../domain/traces/search/trace-search.ts';
import type { TraceView } from '../domain/traces/traces.ts';

export type RunsWorkerDeps = TargetDeps &
  TraceRunDeps & {
    readonly store: EvaluatorRunStore;
    /** Null: the project no longer exists. */
    readonly findProject: KeyStore['findProject'];
    readonly searches: Pick<TraceSearches, 'search'>;
    /** Traces evaluated concurrently. */
    readonly tracesAtOnce: number;
    readonly fence: () => number;
    /** Resolves after the delay, or when the signal is aborted. */
    readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
    readonly log: { warn(fields: object, message: string): void };
  };

const POLL_MS = 2_000;
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;
const PAGE_SIZE = 20;
/** Delay after a failure, and the failures in a row that end a run. */
const RETRY_MS = 5_000;
const FAILURES_MAX = 100;
/** Traces whose failures are remembered; a forgotten one starts again at zero. */
const REMEMBERED_MAX = 10_000;

/** Failures of traces that wait for a retry, by run and trace. They do not count as failures of the run. */
type FailuresOfTraces = Map<string, number>;
type WorkDeps = RunsWorkerDeps & { readonly failuresOfTraces: FailuresOfTraces };

export type RunsWorker = ReturnType<typeof startRunsWorker>;

export function startRunsWorker(deps: RunsWorkerDeps) {
  const stopping = new AbortController();
  let waking = new AbortController();
  const wait: RunsWorkerDeps['wait'] = async (delayMs, signal) => {
    await deps.wait(delayMs, AbortSignal.any([signal, waking.signal]));
    if (waking.signal.aborted) waking = new AbortController();
  };
  const work: WorkDeps = { ...deps, wait, failuresOfTraces: new Map() };
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      if (!(await workOnce(work, stopping.signal))) await wait(POLL_MS, stopping.signal);
    }
  })();
  return {
    /** To be called after a run was started or cancelled. */
    wake: () => waking.abort(),
    /** Resolves when no page is being evaluated; unfinished runs continue later. */
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}

/** False when no run is free, or the store failed. */
async function workOnce(deps: WorkDeps, stopping: AbortSignal): Promise<boolean> {
  try {
    const nowMs = deps.clock();
    const run = await deps.store.lease({ nowMs, untilMs: nowMs + LEASE_MS, fence: deps.fence() });
    if (run === null) return false;
    await workOn(deps, run, stopping);
    return true;
  } catch (error) {
    deps.log.warn({ err: error }, 'runs of evaluators could not be worked on');
    return false;
  }
}

/** Evaluates one page only, so that a long run does not delay others: the run that waited longest is next. */
async function workOn(deps: WorkDeps, run: LeasedRun, stopping: AbortSignal): Promise<void> {
  const done = new AbortController();
  const lost = new AbortController();
  const renewing = renew(deps, run, { done: done.signal, lost });
  const signal = AbortSignal.any([stopping, lost.signal]);
  try {
    const { next, restMs } = await evaluatePage(deps, run, signal);
    // An interrupted page is repeated; results that it has stored stay.
    if (!lost.signal.aborted) await save(deps, stopping.aborted ? run : next, stopping.aborted ? 0 : restMs);
  } catch (error) {
    await recordFailure(deps, run, error);
  } finally {
    done.abort();
    await renewing;
  }
}

type Renewing = { readonly done: AbortSignal; readonly lost: AbortController };

/** Renews the lease, and sets `lost` when the run was cancelled or leased by another process. */
async function renew(deps: RunsWorkerDeps, run: LeasedRun, { done, lost }: Renewing): Promise<void> {
  for (;;) {
    await deps.wait(RENEW_MS, done);
    if (done.aborted) return;
    try {
      if (await save(deps, run, LEASE_MS)) continue;
      lost.abort();
      return;
    } catch (error) {
      deps.log.warn({ err: error }, 'the lease of a run of an evaluator could not be renewed');
    }
  }
}

function save(deps: RunsWorkerDeps, run: LeasedRun, leaseMs: number): Promise<boolean> {
  const nowMs = deps.clock();
  return deps.store.advance({ ...run, updatedAtMs: Math.max(run.updatedAtMs, nowMs), leasedUntilMs: nowMs + leaseMs });
}

/** Lets the run be retried later; a permanent failure ends it. */
async function recordFailure(deps: RunsWorkerDeps, run: LeasedRun, error: unknown): Promise<void> {
  const failures = run.failures + 1;
  const isPermanent = (error instanceof Fault && error.kind !== 'unavailable') || failures >= FAILURES_MAX;
  deps.log.warn({ err: error, run: run.id }, 'a run of an evaluator was broken off');
  const message = error instanceof Fault ? error.message : 'The run failed again and again.';
  await save(deps, isPermanent ? failed(run, message) : { ...run, failures }, RETRY_MS);
}

function failed(run: LeasedRun, error: string): LeasedRun {
  return { ...run, status: 'failed', error };
}

/** `restMs`: how long no process may continue the run. */
type PageOutcome = { readonly next: LeasedRun; readonly restMs: number };

/** The run after its next page, or unchanged when a trace of the page has to be retried. */
async function evaluatePage(deps: WorkDeps, run: LeasedRun, signal: AbortSignal): Promise<PageOutcome> {
  const project = await deps.findProject(run.projectId);
  if (project === null) return { next: failed(run, 'The project is archived.'), restMs: 0 };
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
