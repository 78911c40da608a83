/** Runs an evaluator on the data of a request, and stores the result on the trace that it names. */

import { type Project, tenantOf } from '../caller.ts';
import type { Clock, RandomBytes } from '../clock.ts';
import type { CheckPatterns } from '../evaluators/text-rules.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import { refuseProblems } from '../reasons.ts';
import { findMissingField, missingFieldText, readData, refuseUnreadData, sizeProblem } from './evaluation-data.ts';
import {
  type EvaluationRequest,
  type OnError,
  objectOf,
  requestProblems,
  spanIdOf,
  traceIdOf,
} from './evaluation-request.ts';
import {
  type EvaluationTarget,
  findNamedTarget,
  type NamedTargetDeps,
  refuseBadPatterns,
  refuseUnavailable,
  settingsOfRun,
} from './evaluation-target.ts';
import { type EvaluationOutcome, type EvaluationRun, ownerOf, type RunEvaluator } from './outcome.ts';
import { type Result, resultDraft } from './result-draft.ts';
import type { TraceResults } from './trace-results.ts';

type EvaluationsDeps = NamedTargetDeps & {
  readonly run: RunEvaluator;
  readonly checkPatterns: CheckPatterns;
  readonly results: TraceResults;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Receives the error when a result could not be stored. */
  readonly onLost: (error: unknown) => void;
};

/** The answer. For a guardrail `passed` may come from its error rule rather than from the evaluator. */
export type Evaluated = {
  readonly outcome: EvaluationOutcome;
  /** Null when the answer has no verdict. */
  readonly passed: boolean | null;
  /** Null when the request names no trace. */
  readonly result: { readonly evaluationId: string; readonly isStored: boolean } | null;
};

/** No evaluator ran, so nothing is stored. */
const DISABLED_GUARDRAIL: Evaluated = {
  outcome: { status: 'skipped', details: 'Guardrail is not enabled' },
  passed: true,
  result: null,
};

export type Evaluations = ReturnType<typeof createEvaluations>;

export function createEvaluations(deps: EvaluationsDeps) {
  return {
    /**
     * Throws validation_error, evaluator_not_found, evaluator_not_runnable, invalid_data, evaluator_unavailable,
     * invalid_settings, evaluator_missing_field, and unavailable when it cannot be run now. A failed run is an outcome,
     * and an aborted `signal` ends the run early.
     */
    async evaluate(project: Project, request: EvaluationRequest, signal: AbortSignal): Promise<Evaluated> {
      refuseProblems(requestProblems(request));
      const target = await findNamedTarget(deps, project, request);
      if (target === null) return DISABLED_GUARDRAIL;
      const run = await planRun(deps, { project, target }, request);
      const startedAtMs = deps.clock();
      const outcome = await deps.run(run, signal);
      if (request.asGuardrail && outcome.status === 'error' && outcome.isUnread === true) {
        throw new Fault('invalid_data', outcome.details);
      }
      const passed = passedOf(outcome, request.asGuardrail, request.onError ?? target.onError);
      const traceId = traceIdOf(request);
      if (traceId === null) return { outcome, passed, result: null };
      const evaluationId = request.evaluationId ?? newId('eval', deps.random);
      const result: Storing['result'] = {
        evaluationId,
        evaluatorId: request.evaluatorId ?? target.evaluatorId,
        name: request.name ?? target.name,
        spanId: spanIdOf(request),
        isGuardrail: request.asGuardrail,
        run,
        outcome: outcome.status === 'processed' ? { ...outcome, passed } : outcome,
        startedAtMs,
        finishedAtMs: deps.clock(),
      };
      const kept = request.withoutTexts === true ? withoutTexts(result) : result;
      const isStored = await store(deps, { project, traceId, result: kept });
      return { outcome, passed, result: { evaluationId, isStored } };
    },
  };
}

/** Throws invalid_data, evaluator_unavailable, invalid_settings, evaluator_missing_field, unavailable. */
async function planRun(
  { checkPatterns }: EvaluationsDeps,
  { project, target }: { readonly project: Project; readonly target: EvaluationTarget },
  request: EvaluationRequest,
): Promise<EvaluationRun> {
  const { entry } = target;
  refuseUnreadData(entry, request.data === undefined ? null : objectOf(request.data));
  const tooLarge = sizeProblem(entry, objectOf(request.data));
  if (tooLarge !== null) throw new Fault('invalid_data', `data.${tooLarge}`);
  refuseUnavailable(target);
  const settings = settingsOfRun(target, objectOf(request.settings));
  const permit = { tenant: tenantOf(project), isUrgent: request.asGuardrail };
  await refuseBadPatterns(checkPatterns, { ...permit, entry, settings });
  const data = readData(entry, objectOf(request.data));
  const missing = findMissingField(entry, data);
  const { asGuardrail: isGuardrail } = request;
  if (missing === null) return { ...ownerOf(project), isGuardrail, evaluatorType: entry.id, settings, data };
  const message = missingFieldText(missing, entry);
  throw new Fault('evaluator_missing_field', message, {
    flatError: message,
    meta: { kind: 'evaluator_missing_field', meta: { field: missing, evaluatorName: entry.name } },
  });
}

function withoutTexts({ run, outcome, ...result }: Storing['result']): Storing['result'] {
  const told = outcome.status === 'processed' ? { ...outcome, details: null } : { ...outcome, details: '' };
  return { ...result, run: { ...run, data: {} }, outcome: told };
}

/** A guardrail always has a verdict. */
function passedOf(outcome: EvaluationOutcome, asGuardrail: boolean, onError: OnError): boolean | null {
  if (outcome.status === 'processed') return outcome.passed ?? (asGuardrail ? true : null);
  if (!asGuardrail) return null;
  return outcome.status === 'skipped' || onError === 'pass';
}

type Storing = {
  readonly project: Project;
  readonly traceId: string;
  readonly result: Result & { readonly run: EvaluationRun };
};

/** The caller gets the outcome even when it could not be stored. */
async function store(deps: EvaluationsDeps, { project, traceId, result }: Storing): Promise<boolean> {
  try {
    const { data } = result.run;
    const draft = resultDraft(result);
    await deps.results.attach(project, traceId, { draft, data, origins: null, monitorId: null, nowMs: deps.clock() });
    return true;
  } catch (error) {
    deps.onLost(error);
    return false;
  }
}
