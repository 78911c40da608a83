/** What a monitor makes of one trace: whether it looks at it, what its evaluator is given, and what becomes of the job. */

import type { Project } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { findMissingField, missingFieldText, readData } from '../evaluations/evaluation-data.ts';
import { type EvaluationTarget, settingsOfRun } from '../evaluations/evaluation-target.ts';
import type { ClaimedJob, JobOutcome } from '../evaluations/jobs.ts';
import { type EvaluationOutcome, type EvaluationRun, ownerOf, type RunEvaluator } from '../evaluations/outcome.ts';
import { resultDraft } from '../evaluations/result-draft.ts';
import { retryDelayMs } from '../evaluations/retries.ts';
import type { TraceResults } from '../evaluations/trace-results.ts';
import { Fault } from '../fault.ts';
import type { LosslessJson } from '../lossless-json.ts';
import { termStartMs } from '../page.ts';
import type { EvaluatorStore, KeyStore, TraceStore } from '../store.ts';
import type { Evaluation, TraceAppend } from '../trace.ts';
import { traceTermDays } from '../trace-retention.ts';
import { monitorEvaluationId } from './evaluation-id.ts';
import type { Monitor } from './monitor.ts';
import type { MonitorStore } from './monitor-store.ts';
import { readParameters, targetToRun } from './monitored-evaluator.ts';
import { sourceOfField } from './sources.ts';
import {
  createTraceInputs,
  type FoundTrace,
  INPUTS_MAX_BYTES,
  INPUTS_TOO_LARGE,
  type TraceInputs,
} from './trace-inputs.ts';

export type MonitorRunDeps = {
  readonly monitors: Pick<MonitorStore, 'findInProject'>;
  readonly evaluators: Pick<EvaluatorStore, 'find'>;
  readonly keys: Pick<KeyStore, 'findProject'>;
  readonly traces: Pick<TraceStore, 'find' | 'outline' | 'spans' | 'spanIdsOfType' | 'evaluations'>;
  readonly results: Pick<TraceResults, 'toAppend'>;
  readonly run: RunEvaluator;
  readonly clock: Clock;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

/** Ends early when the signal says so; what it answers then is to be thrown away. */
export type RunJob = (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>;

/** A job whose runners are lost again and again is what loses them. */
const FAILURES_MAX = 10;
const DROP: JobOutcome = { kind: 'drop' };

type Plan = {
  readonly job: ClaimedJob;
  readonly project: Project;
  readonly monitor: Monitor;
  readonly target: EvaluationTarget;
  readonly trace: FoundTrace;
};

export function createMonitorRun(deps: MonitorRunDeps): RunJob {
  return async (job, signal) => {
    const plan = await findPlan(deps, job);
    if (plan === null) return DROP;
    if (job.failures >= FAILURES_MAX) {
      const outcome = failed('The process that evaluated the trace ended again and again');
      return { kind: 'store', append: toAppend(deps, plan, { data: {}, outcome, startedAtMs: deps.clock() }) };
    }
    const inputs = createTraceInputs(deps.traces, plan.trace);
    for (const precondition of plan.monitor.preconditions) {
      if (!(await inputs.holds(precondition))) return DROP;
    }
    const data = await readInputs(inputs, plan);
    if (await isEvaluated(deps, plan, data)) return DROP;
    const startedAtMs = deps.clock();
    const outcome = await evaluate(deps, { plan, data, signal });
    const delayMs = retryDelayMs(outcome, job.failures);
    if (delayMs !== null) {
      return { kind: 'retry', dueAtMs: deps.clock() + delayMs };
    }
    return { kind: 'store', append: toAppend(deps, plan, { data: data ?? {}, outcome, startedAtMs }) };
  };
}

/** Null when there is nothing to evaluate any more. */
async function findPlan(deps: MonitorRunDeps, job: ClaimedJob): Promise<Plan | null> {
  const { projectNumber, sourceId, traceId, traceSequence } = job;
  const monitor = await deps.monitors.findInProject(projectNumber, sourceId);
  if (monitor === null || !monitor.enabled || monitor.executionMode !== 'ON_MESSAGE') return null;
  const project = await deps.keys.findProject(monitor.projectId);
  const evaluator = await deps.evaluators.find(monitor.projectId, monitor.evaluatorId);
  const record = await deps.traces.find(projectNumber, traceId);
  if (project === null || evaluator === null || record === null || record.sequence !== traceSequence) return null;
  const goneBeforeMs = termStartMs(traceTermDays(project.traceRetentionDays, deps.traceDefaultDays), deps.clock());
  if (goneBeforeMs !== null && record.insertedAtMs < goneBeforeMs) return null;
  return { job, project, monitor, target: targetToRun(evaluator), trace: { ...record, projectNumber } };
}

type Data = EvaluationRun['data'];

/** Null: there is too much of them. */
async function readInputs(inputs: TraceInputs, { monitor, target: { entry } }: Plan): Promise<Data | null> {
  const sent: [string, LosslessJson][] = [];
  try {
    for (const field of [...entry.requiredFields, ...entry.optionalFields]) {
      const source = sourceOfField(field, Object.hasOwn(monitor.mappings, field) ? monitor.mappings[field] : undefined);
      if (source !== null) sent.push([field, await inputs.read(source)]);
    }
  } catch (error) {
    if (error === INPUTS_TOO_LARGE) return null;
    throw error;
  }
  return readData(entry, Object.fromEntries(sent));
}

/** Whether there is a result of the very same inputs. */
async function isEvaluated(deps: MonitorRunDeps, plan: Plan, data: Data | null): Promise<boolean> {
  const { monitor, trace } = plan;
  const [stored] = await deps.traces.evaluations(trace, [monitorEvaluationId(monitor.id, trace.traceId)]);
  if (stored === undefined) return false;
  // As it would be stored: long texts are cut.
  const outcome = { status: 'skipped', details: '' } as const;
  const same = toAppend(deps, plan, { data: data ?? {}, outcome, startedAtMs: deps.clock() }).evaluations[0];
  return stored.inputsJson === (same?.inputsJson ?? null);
}

type Evaluating = { readonly plan: Plan; readonly data: Data | null; readonly signal: AbortSignal };

async function evaluate(deps: MonitorRunDeps, { plan, data, signal }: Evaluating): Promise<EvaluationOutcome> {
  const { monitor, target } = plan;
  const { entry } = target;
  if (data === null) return { status: 'skipped', details: `The inputs take more than ${INPUTS_MAX_BYTES} bytes` };
  const missing = findMissingField(entry, data);
  if (missing !== null) return { status: 'skipped', details: missingFieldText(missing, entry) };
  try {
    const settings = settingsOfRun(target, readParameters(monitor.parametersJson));
    return await deps.run({ ...ownerOf(plan.project), evaluatorType: entry.id, settings, data }, signal);
  } catch (error) {
    // Settings that fitted when they were saved: a rule of a later version may be stricter.
    if (error instanceof Fault) return failed(error.message);
    throw error;
  }
}

function failed(details: string): EvaluationOutcome {
  return { status: 'error', errorType: 'EVALUATOR_ERROR', details, isRetryable: false };
}

type Evaluated = { readonly data: Data; readonly outcome: EvaluationOutcome; readonly startedAtMs: number };

function toAppend(
  { results, clock }: MonitorRunDeps,
  { project, monitor, target, trace }: Plan,
  { data, outcome, startedAtMs }: Evaluated,
): TraceAppend & { readonly evaluations: readonly Evaluation[] } {
  const nowMs = clock();
  const draft = resultDraft({
    evaluationId: monitorEvaluationId(monitor.id, trace.traceId),
    evaluatorId: target.evaluatorId,
    name: target.name,
    spanId: null,
    isGuardrail: false,
    run: { evaluatorType: target.entry.id, data },
    outcome,
    startedAtMs,
    finishedAtMs: nowMs,
  });
  return results.toAppend(project, trace.traceId, { draft, monitorId: monitor.id, nowMs });
}
