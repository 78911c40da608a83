/** Runs a monitor on one trace: checks the preconditions, reads the inputs, and decides the outcome of the job. */

import type { LosslessJson } from '../../json/lossless-json.ts';
import type { Project } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { findMissingField, missingFieldText, readData, sizeProblem } from '../evaluations/evaluation-data.ts';
import { type EvaluationTarget, settingsOfRun, targetToRun } from '../evaluations/evaluation-target.ts';
import type { ClaimedJob, JobOutcome } from '../evaluations/jobs.ts';
import {
  type EvaluationOutcome,
  type EvaluationRun,
  failedOutcome,
  ownerOf,
  type RunEvaluator,
  retryDelayMs,
} from '../evaluations/outcome.ts';
import { resultDraft, resultIdOf } from '../evaluations/result-draft.ts';
import { areInputsStored, type Origins, type TraceField } from '../evaluations/result-inputs.ts';
import { INPUTS_TOO_LARGE } from '../evaluations/trace-fields.ts';
import type { TraceResults } from '../evaluations/trace-results.ts';
import { type Evaluator, type EvaluatorStore, readStoredObject } from '../evaluators/evaluator.ts';
import { Fault } from '../fault.ts';
import type { KeyStore } from '../management/management-port.ts';
import { type ErasureTerm, erasedBeforeMs } from '../retention-terms.ts';
import type { StoredTrace, TraceStore } from '../traces/telemetry-port.ts';
import type { TraceAppend, TraceRecord } from '../traces/trace.ts';
import { type Monitor, type MonitorStore, sourceOfField } from './monitor.ts';
import { createTraceInputs, INPUTS_MAX_BYTES, type TraceInputs, type TraceInputsDeps } from './trace-inputs.ts';

type MonitorRunDeps = TraceInputsDeps &
  ErasureTerm & {
    readonly monitors: Pick<MonitorStore, 'findInProject'>;
    readonly evaluators: Pick<EvaluatorStore, 'find'>;
    readonly keys: Pick<KeyStore, 'findProject'>;
    readonly traces: Pick<TraceStore, 'find' | 'evaluations'>;
    readonly results: Pick<TraceResults, 'toAppend'>;
    readonly run: RunEvaluator;
    readonly clock: Clock;
  };

/** Ends early when the signal is aborted; the caller then ignores the outcome. */
type RunJob = (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>;

/** After this many lost runs, the job itself most likely crashes the process. */
const FAILURES_MAX = 10;
/** Before a run that could not begin because too much is being evaluated. */
const UNAVAILABLE_DELAY_MS = 5_000;
const DROP: JobOutcome = { kind: 'drop' };
const FAILED = 'EVALUATOR_ERROR';
const TOO_LARGE = `The inputs take more than ${INPUTS_MAX_BYTES} bytes, or have too many items`;

type Plan = {
  readonly job: ClaimedJob;
  readonly project: Project;
  readonly monitor: Monitor;
  readonly evaluator: Evaluator;
  readonly trace: StoredTrace & TraceRecord;
};

export function createMonitorRun(deps: MonitorRunDeps): RunJob {
  const run: RunJob = async (job, signal) => {
    const plan = await findPlan(deps, job);
    if (plan === null) return DROP;
    if (job.failures >= FAILURES_MAX) {
      const outcome = failedOutcome(FAILED, 'The process that evaluated the trace ended again and again');
      return { kind: 'store', append: toAppend(deps, plan, { ...NO_INPUTS, outcome, startedAtMs: deps.clock() }) };
    }
    const inputs = createTraceInputs(deps, plan.trace);
    for (const precondition of plan.monitor.preconditions) {
      if (!(await inputs.holds(precondition))) return DROP;
    }
    const target = targetOrFault(plan.evaluator);
    const read = target instanceof Fault ? NO_INPUTS : await readInputs(inputs, plan.monitor, target);
    const { data, origins } = read ?? NO_INPUTS;
    if (await isEvaluated(deps, plan, data)) return DROP;
    const startedAtMs = deps.clock();
    const outcome =
      target instanceof Fault
        ? failedOutcome(FAILED, target.message)
        : await evaluate(deps, { plan, target, data: read === null ? null : data, signal });
    if (outcome === 'unavailable') return { kind: 'wait', dueAtMs: deps.clock() + UNAVAILABLE_DELAY_MS };
    const delayMs = retryDelayMs(outcome, job.failures);
    if (delayMs !== null) return { kind: 'retry', dueAtMs: deps.clock() + delayMs };
    return { kind: 'store', append: toAppend(deps, plan, { data, origins, outcome, startedAtMs }) };
  };
  return async (job, signal) => {
    try {
      return await run(job, signal);
    } catch (error) {
      // A store that cannot be read is not a failure of the job, which would end it after some of them.
      if (!(error instanceof Fault && error.kind === 'unavailable')) throw error;
      return { kind: 'wait', dueAtMs: deps.clock() + UNAVAILABLE_DELAY_MS };
    }
  };
}

/** Null when nothing is left to evaluate, for example because the trace was removed. */
async function findPlan(deps: MonitorRunDeps, job: ClaimedJob): Promise<Plan | null> {
  const { projectNumber, sourceId, traceId, traceSequence } = job;
  const monitor = await deps.monitors.findInProject(projectNumber, sourceId);
  if (monitor === null || !monitor.enabled || monitor.executionMode !== 'ON_MESSAGE') return null;
  const project = await deps.keys.findProject(monitor.projectId);
  const evaluator = await deps.evaluators.find(monitor.projectId, monitor.evaluatorId);
  const record = await deps.traces.find(projectNumber, traceId);
  if (project === null || evaluator === null || record === null || record.sequence !== traceSequence) return null;
  const expiredBeforeMs = erasedBeforeMs(deps, project);
  if (expiredBeforeMs !== null && record.insertedAtMs < expiredBeforeMs) return null;
  return { job, project, monitor, evaluator, trace: { ...record, projectNumber } };
}

/** The Fault says why this version does not run the evaluator, which an earlier version saved. */
function targetOrFault(evaluator: Evaluator): EvaluationTarget | Fault {
  try {
    return targetToRun(evaluator);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

type Data = EvaluationRun['data'];

/** What the evaluator gets, and where it was read. */
type Inputs = { readonly data: Data; readonly origins: Origins };

const NO_INPUTS: Inputs = { data: {}, origins: {} };

/** Null: the inputs are too large. */
async function readInputs(inputs: TraceInputs, monitor: Monitor, { entry }: EvaluationTarget): Promise<Inputs | null> {
  const sent: [string, LosslessJson][] = [];
  const origins: { [field: string]: TraceField } = {};
  try {
    for (const field of [...entry.requiredFields, ...entry.optionalFields]) {
      const source = sourceOfField(field, Object.hasOwn(monitor.mappings, field) ? monitor.mappings[field] : undefined);
      const origin = source === null ? null : await inputs.find(source);
      if (origin === null) continue;
      sent.push([field, await inputs.read(origin)]);
      origins[field] = origin;
    }
  } catch (error) {
    if (error === INPUTS_TOO_LARGE) return null;
    throw error;
  }
  const found = Object.fromEntries(sent);
  return sizeProblem(entry, found) === null ? { data: readData(entry, found), origins } : null;
}

/** Whether a result for exactly these inputs is stored. */
async function isEvaluated(deps: MonitorRunDeps, { monitor, trace }: Plan, data: Data): Promise<boolean> {
  const [stored] = await deps.traces.evaluations(trace, [resultIdOf('mon', monitor.id, trace.traceId)]);
  return stored !== undefined && areInputsStored(stored.inputsJson, data);
}

type Evaluating = {
  readonly plan: Plan;
  readonly target: EvaluationTarget;
  readonly data: Data | null;
  readonly signal: AbortSignal;
};

async function evaluate(
  deps: MonitorRunDeps,
  { plan: { monitor, project }, target, data, signal }: Evaluating,
): Promise<EvaluationOutcome | 'unavailable'> {
  const { entry } = target;
  if (data === null) return { status: 'skipped', details: TOO_LARGE };
  const missing = findMissingField(entry, data);
  if (missing !== null) return { status: 'skipped', details: missingFieldText(missing, entry) };
  try {
    const settings = settingsOfRun(target, readStoredObject(monitor.parametersJson));
    const run = { ...ownerOf(project), isGuardrail: false, evaluatorType: entry.id, settings, data };
    return await deps.run(run, signal);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unavailable') return 'unavailable';
    // Saved settings may break a rule that a later version made stricter.
    if (error instanceof Fault) return failedOutcome(FAILED, error.message);
    throw error;
  }
}

type Evaluated = Inputs & { readonly outcome: EvaluationOutcome; readonly startedAtMs: number };

function toAppend(
  { results, clock }: MonitorRunDeps,
  { project, monitor, evaluator, trace }: Plan,
  { data, origins, outcome, startedAtMs }: Evaluated,
): TraceAppend {
  const nowMs = clock();
  const draft = resultDraft({
    evaluationId: resultIdOf('mon', monitor.id, trace.traceId),
    evaluatorId: evaluator.id,
    name: evaluator.name,
    spanId: null,
    isGuardrail: false,
    run: { evaluatorType: monitor.checkType },
    outcome,
    startedAtMs,
    finishedAtMs: nowMs,
  });
  return results.toAppend(project, trace.traceId, { draft, data, origins, monitorId: monitor.id, nowMs });
}
