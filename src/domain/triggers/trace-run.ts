/**
 * Runs the job of the triggers on traces: finds the triggers that a settled trace matches, and stores which have fired. Jobs
 * that run at the same time are matched together, because reading a trace costs more than testing it.
 */

import { createHash } from 'node:crypto';
import type { Clock, RandomBytes } from '../clock.ts';
import { type ClaimedJob, type JobOutcome, kindOfJob } from '../evaluations/jobs.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import type { KeyStore } from '../management/management-port.ts';
import { type ErasureTerm, erasedBeforeMs } from '../retention-terms.ts';
import { foldText } from '../traces/search/fold-text.ts';
import type { SearchFilter } from '../traces/search/trace-filter.ts';
import { readFilters } from '../traces/search/trace-search-query.ts';
import type { TraceSearch } from '../traces/search/trace-search-store.ts';
import { DIGEST_MS } from './trigger.ts';
import {
  FIRINGS_MAX,
  type Firing,
  type RunningTrigger,
  type RunningTriggers,
  type TriggerStore,
} from './trigger-store.ts';

type RunJob = (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>;

export type TraceRunDeps = ErasureTerm & {
  readonly triggers: Pick<TriggerStore, 'runningOn' | 'fire'>;
  readonly search: Pick<TraceSearch, 'match'>;
  readonly keys: Pick<KeyStore, 'findProject'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Resolves a little later, so that jobs that begin together run together. */
  readonly pause: () => Promise<void>;
  /** Called after notifications were stored. */
  readonly onFired: (count: number) => void;
  /** Called when a trace is given up that could not be tested. */
  readonly onUntested: () => void;
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
};

/** How long triggers are used before it is asked whether they have changed. Storing a firing checks that its trigger is active. */
const KEPT_MS = 1_000;
const PROJECTS_KEPT_MAX = 1_000;
/** Delays before further attempts, half an hour together. */
const SECOND_MS = 1_000;
const RETRY_MS = [5, 15, 60, 300, 300, 300, 300, 300, 300].map((seconds) => seconds * SECOND_MS);
const FAILURES_MAX = RETRY_MS.length;
const UNAVAILABLE_DELAY_MS = 5_000;
/** How long after its time a digest is sent, so that traces of its time are stored by then. */
const DIGEST_LAG_MS = 10_000;
const DROP: JobOutcome = { kind: 'drop' };

type Waiting = { readonly jobs: ClaimedJob[]; readonly ended: Promise<void> };

/** Runs these jobs, and leaves all others to `run`. */
export function withTriggers(deps: TraceRunDeps, run: RunJob): RunJob {
  const waiting = new Map<number, Waiting>();
  const known = createKnownTriggers(deps);

  function join(job: ClaimedJob): Promise<void> {
    const { projectNumber } = job;
    const open = waiting.get(projectNumber);
    if (open !== undefined) {
      open.jobs.push(job);
      return open.ended;
    }
    const jobs = [job];
    const ended = deps.pause().then(async () => {
      waiting.delete(projectNumber);
      await fireAll({ ...deps, known }, jobs);
    });
    waiting.set(projectNumber, { jobs, ended });
    return ended;
  }

  /** A job that has failed runs alone, so that a trace which cannot be tested costs no other one. */
  const test = (job: ClaimedJob) => (job.failures === 0 ? join(job) : fireAll({ ...deps, known }, [job]));

  return async (job, signal) => {
    if (kindOfJob(job) !== 'triggers') return await run(job, signal);
    // Lost runs: the job itself most likely crashes the process.
    if (job.failures >= FAILURES_MAX) return giveUp(deps, job, new Error('the process ended again and again'));
    try {
      await test(job);
      return DROP;
    } catch (error) {
      if (error instanceof Fault && error.kind === 'unavailable') return waitLonger(deps);
      const delayMs = RETRY_MS[job.failures];
      if (delayMs === undefined) return giveUp(deps, job, error);
      deps.log.warn(
        { err: error, failures: job.failures },
        'triggers could not be tested on a trace; it is tried again',
      );
      return { kind: 'retry', dueAtMs: deps.clock() + delayMs };
    }
  };
}

/** As evaluations do while the store has no room: that is not a failure of the job. */
function waitLonger({ clock }: TraceRunDeps): JobOutcome {
  return { kind: 'wait', dueAtMs: clock() + UNAVAILABLE_DELAY_MS };
}

function giveUp({ onUntested, log }: TraceRunDeps, job: ClaimedJob, error: unknown): JobOutcome {
  const { projectNumber, traceId, failures } = job;
  onUntested();
  log.error({ err: error, project: projectNumber, trace: traceId, failures }, 'triggers were not tested on a trace');
  return DROP;
}

type Known = Omit<RunningTriggers, 'triggers'> & {
  readonly asked: readonly Asked[];
  readonly filters: readonly SearchFilter[];
};

/** The triggers of projects, at least as new as a change. */
function createKnownTriggers({ triggers, clock }: Pick<TraceRunDeps, 'triggers' | 'clock'>) {
  const byProject = new Map<number, { readonly known: Known; readonly readAtMs: number }>();

  async function read(projectNumber: number, before: Known | undefined): Promise<Known> {
    const found = await triggers.runningOn(projectNumber, before?.asOf ?? null);
    if (found === null && before !== undefined) return before;
    const { projectId = null, asOf = 0, triggers: running = [] } = found ?? {};
    const asked = groupByFilter(running);
    return { projectId, asOf, asked, filters: asked.map(({ filter }) => filter) };
  }

  return async (projectNumber: number, asOf: number): Promise<Known> => {
    const kept = byProject.get(projectNumber);
    const ageMs = clock() - (kept?.readAtMs ?? 0);
    if (kept !== undefined && kept.known.asOf >= asOf && ageMs >= 0 && ageMs < KEPT_MS) return kept.known;
    const known = await read(projectNumber, kept?.known);
    if (byProject.size >= PROJECTS_KEPT_MAX) byProject.clear();
    byProject.set(projectNumber, { known, readAtMs: clock() });
    return known;
  };
}

type FireDeps = TraceRunDeps & { readonly known: ReturnType<typeof createKnownTriggers> };

/** `jobs` are of one project. */
async function fireAll(deps: FireDeps, jobs: readonly ClaimedJob[]): Promise<void> {
  const { search, keys, clock, random } = deps;
  const projectNumber = jobs[0]?.projectNumber ?? 0;
  const newest = Math.max(...jobs.map(({ asOf }) => asOf));
  const { projectId, asked, filters } = await deps.known(projectNumber, newest);
  const project = projectId === null ? null : await keys.findProject(projectId);
  if (project === null || filters.length === 0) return;
  // Of two jobs of a trace, the newer one has seen more triggers.
  const asOf = new Map<string, number>();
  for (const job of jobs) asOf.set(job.traceId, Math.max(job.asOf, asOf.get(job.traceId) ?? 0));
  const nowMs = clock();
  const expiredBeforeMs = erasedBeforeMs(deps, project);
  const firings: Firing[] = [];
  for (let traceIds: readonly string[] = [...asOf.keys()]; traceIds.length > 0; ) {
    const { traces, left } = await search.match({ projectNumber, expiredBeforeMs, traceIds, filters });
    for (const { traceId, fits } of traces) {
      const matching = fits.flatMap((index) => asked[index]?.triggers ?? []);
      for (const trigger of matching) {
        // A trigger sees what is stored once it is active.
        if (trigger.runsSince > (asOf.get(traceId) ?? 0)) continue;
        firings.push(firingOf(trigger, { traceId, nowMs, newEventId: () => newId('alert', random) }));
      }
    }
    traceIds = left;
  }
  // In parts, so that no transaction is long. What an earlier attempt has stored is left out.
  for (let start = 0; start < firings.length; start += FIRINGS_MAX) {
    const part = firings.slice(start, start + FIRINGS_MAX);
    const pauseIds = [...new Set(part.map(({ triggerId }) => triggerId))].map(() => newId('alert', random));
    const added = await deps.triggers.fire({ projectId: project.id, firings: part, nowMs, pauseIds });
    if (added > 0) deps.onFired(added);
  }
}

type Asked = { readonly filter: SearchFilter; readonly triggers: RunningTrigger[] };

/** Many triggers may have the same filter, which is tested once. */
function groupByFilter(triggers: readonly RunningTrigger[]): readonly Asked[] {
  const byFilter = new Map<string, Asked>();
  for (const trigger of triggers) {
    const filter = filterOf(trigger);
    const key = JSON.stringify(filter);
    const known = byFilter.get(key);
    if (known === undefined) byFilter.set(key, { filter, triggers: [trigger] });
    else known.triggers.push(trigger);
  }
  return [...byFilter.values()];
}

function filterOf({ filters, query }: Pick<RunningTrigger, 'filters' | 'query'>): SearchFilter {
  return { conditions: readFilters(filters).conditions, isNegated: false, text: foldText(query) };
}

type Found = { readonly traceId: string; readonly nowMs: number; readonly newEventId: () => string };

/** Of a digest, all traces of one stretch of time share the entry. */
function firingOf({ id: triggerId, cadence }: RunningTrigger, { traceId, nowMs, newEventId }: Found): Firing {
  const lengthMs = DIGEST_MS[cadence];
  if (lengthMs === null) return { triggerId, traceId, eventId: newEventId(), dueAtMs: nowMs, isDigest: false };
  const endMs = (Math.floor(nowMs / lengthMs) + 1) * lengthMs;
  const drawn = createHash('sha256').update(`${triggerId}:${endMs}`).digest('hex').slice(0, DIGEST_ID_LENGTH);
  return { triggerId, traceId, eventId: `alert_${drawn}`, dueAtMs: endMs + DIGEST_LAG_MS, isDigest: true };
}

const DIGEST_ID_LENGTH = 21;
