/** Runs of an evaluator over all traces that a search finds: starting, reading and cancelling them. */

import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { customReason, refuseProblems } from '../reasons.ts';
import { limitsOf, RUN_BEGINNING } from '../traces/search/search-run.ts';
import { checkDates, type SearchConditions } from '../traces/search/trace-search.ts';
import { findTarget, settingsOfRun, type TargetDeps } from './evaluation-target.ts';
import type { EvaluatorRun, EvaluatorRunStore } from './evaluator-run.ts';

type EvaluatorRunsDeps = TargetDeps & {
  readonly store: EvaluatorRunStore;
  readonly random: RandomBytes;
  /** The present for what may be erased by its age. */
  readonly retentionNowMs: () => number;
  /** Wakes the worker after a run was started or cancelled. */
  readonly onChanged: () => void;
};

type RunStart = { readonly idOrSlug: string; readonly search: SearchConditions; readonly nowMs: number };

/** Runs of a project that may run at the same time. */
const RUNNING_MAX = 20;
/** Runs that a project may start within an hour: each stores a result at every trace that it finds. */
const STARTED_MAX = 60;
const SEARCHED_MS = 30 * 86_400_000;

export type EvaluatorRuns = ReturnType<typeof createEvaluatorRuns>;

export function createEvaluatorRuns(deps: EvaluatorRunsDeps) {
  const get = (project: Project, id: string) => findRun(deps.store, project, id);
  return {
    /**
     * Throws validation_error, evaluator_not_found, evaluator_not_runnable, evaluator_unavailable, invalid_settings,
     * evaluator_run_limit_reached.
     */
    async start(project: Project, { idOrSlug, search, nowMs }: RunStart): Promise<EvaluatorRun> {
      if (search.isByUpdate) refuseProblems([customReason('dateField', BY_UPDATE)]);
      const searched = fixDates(search, nowMs);
      checkDates({ fromMs: searched.startMs, toMs: searched.endMs });
      const target = await findTarget(deps, project, { kind: 'saved', text: idOrSlug });
      // Saved settings may predate a rule: fail now instead of on every trace.
      settingsOfRun(target, {});
      const run: EvaluatorRun = {
        projectId: project.id,
        id: newId('run', deps.random),
        evaluatorId: target.evaluatorId,
        searchJson: JSON.stringify(searched),
        ...BEGINNING,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const at = { nowMs, retentionNowMs: deps.retentionNowMs() };
      const limits = limitsOf({ runningMax: RUNNING_MAX, startedMax: STARTED_MAX }, at);
      const outcome = await deps.store.insert(run, limits);
      if (outcome !== 'stored') throw limitFault(outcome);
      deps.onChanged();
      return run;
    },
    /** Throws evaluator_run_not_found. */
    get,
    /** The newest first. */
    list: (project: Project, limit: number) => deps.store.list(project.id, limit),
    /** Leaves an ended run unchanged. Throws evaluator_run_not_found. */
    async cancel(project: Project, id: string, nowMs: number): Promise<EvaluatorRun> {
      await get(project, id);
      await deps.store.cancel({ projectId: project.id, id }, nowMs);
      deps.onChanged();
      return await get(project, id);
    },
  };
}

/** Every result is a change of its trace, which would leave the range before the run comes to it, or be met twice. */
const BY_UPDATE = 'dateField must be occurred: a run itself changes when its traces were updated';

const BEGINNING = { ...RUN_BEGINNING, cursor: '', processed: 0, skipped: 0, failed: 0 } as const;

/** Traces that are received while it runs are not part of the run. */
function fixDates(
  search: SearchConditions,
  nowMs: number,
): SearchConditions & { readonly startMs: number; readonly endMs: number } {
  const endMs = search.endMs ?? nowMs;
  return { ...search, endMs, startMs: search.startMs ?? endMs - SEARCHED_MS };
}

async function findRun(store: EvaluatorRunStore, project: Project, id: string): Promise<EvaluatorRun> {
  const run = isPossibleId(id) ? await store.find(project.id, id) : null;
  if (run === null) throw new Fault('evaluator_run_not_found', 'There is no such run of an evaluator.');
  return run;
}

function limitFault(outcome: 'limit_reached' | 'too_many_started'): Fault {
  const message =
    outcome === 'limit_reached'
      ? `${RUNNING_MAX} runs of evaluators are under way in the project; wait for one to end, or cancel one.`
      : `The project has started ${STARTED_MAX} runs of evaluators within an hour; try again later.`;
  return new Fault('evaluator_run_limit_reached', message);
}
