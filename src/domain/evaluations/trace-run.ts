/** Evaluates one trace as part of a run over many. */

import { isArray, parseFreeJson } from '../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import type { Project } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { Fault } from '../fault.ts';
import type { Span } from '../traces/trace.ts';
import type { TraceView } from '../traces/traces.ts';
import { findMissingField, missingFieldText, readData } from './evaluation-data.ts';
import { type EvaluationTarget, settingsOfRun } from './evaluation-target.ts';
import { type EvaluationOutcome, ownerOf, type RunEvaluator, retryDelayMs } from './outcome.ts';
import { resultDraft, resultIdOf } from './result-draft.ts';
import type { Origins } from './result-inputs.ts';
import type { TraceResults } from './trace-results.ts';

export type TraceRunDeps = {
  readonly run: RunEvaluator;
  readonly results: TraceResults;
  readonly clock: Clock;
};

export type TraceRun = {
  readonly project: Project;
  readonly runId: string;
  readonly target: EvaluationTarget;
  readonly signal: AbortSignal;
  /** Earlier failures of the trace. */
  readonly failures: number;
};

/** `again`: the trace is to be retried after the delay; `failures` are those of the trace until then. */
export type TraceRunEnd =
  | { readonly kind: 'ended'; readonly status: EvaluationOutcome['status'] }
  | { readonly kind: 'again'; readonly delayMs: number; readonly failures: number };

/** Before a run that could not begin because too much is being evaluated. */
const UNAVAILABLE_DELAY_MS = 5_000;

/** Stores the result on the trace. A trace that already has its result is skipped: its page was interrupted before. */
export async function evaluateTrace(
  deps: TraceRunDeps,
  { project, runId, target, signal, failures }: TraceRun,
  view: TraceView,
): Promise<TraceRunEnd> {
  const { traceId } = view.record;
  const evaluationId = resultIdOf('run', runId, traceId);
  const status = storedStatus(view, evaluationId);
  if (status !== null) return { kind: 'ended', status };
  const { entry, name, evaluatorId } = target;
  const data = readData(entry, dataOf(view));
  const missing = findMissingField(entry, data);
  const settings = settingsOfRun(target, {});
  const run = { ...ownerOf(project), isGuardrail: false, evaluatorType: entry.id, settings, data };
  const startedAtMs = deps.clock();
  const outcome: EvaluationOutcome | null =
    missing === null
      ? await runOrNull(deps, run, signal)
      : { status: 'skipped', details: missingFieldText(missing, entry) };
  if (outcome === null) return { kind: 'again', delayMs: UNAVAILABLE_DELAY_MS, failures };
  // Whichever worker continues the run repeats an interrupted trace.
  if (signal.aborted) return { kind: 'ended', status: outcome.status };
  const delayMs = retryDelayMs(outcome, failures);
  if (delayMs !== null) return { kind: 'again', delayMs, failures: failures + 1 };
  const finishedAtMs = deps.clock();
  const names = { evaluatorId, name, spanId: null, isGuardrail: false };
  const draft = resultDraft({ ...names, evaluationId, run, outcome, startedAtMs, finishedAtMs });
  const origins = originsOf(view);
  const about = { data, origins, monitorId: null, nowMs: finishedAtMs, mustBeKnown: true };
  await deps.results.attach(project, traceId, { draft, ...about });
  return { kind: 'ended', status: outcome.status };
}

/** Null when nothing can be judged now, which is not a failure of the trace. */
async function runOrNull(
  deps: TraceRunDeps,
  ...[run, signal]: Parameters<RunEvaluator>
): Promise<EvaluationOutcome | null> {
  try {
    return await deps.run(run, signal);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unavailable') return null;
    throw error;
  }
}

function storedStatus({ evaluations }: TraceView, evaluationId: string): EvaluationOutcome['status'] | null {
  const status = evaluations.find((each) => each.evaluationId === evaluationId)?.status;
  return status === undefined || status === 'scheduled' || status === 'in_progress' ? null : status;
}

/** The fields that evaluators can read of a trace. An empty text counts as missing. */
function dataOf({ input, output, expectedOutput, spans }: TraceView): LosslessObject {
  const contexts = spans
    .filter(({ type }) => type === 'rag')
    .toSorted(byStart)
    .flatMap(contextsOf);
  return {
    ...(input !== '' && { input }),
    ...(output !== '' && { output }),
    ...(expectedOutput !== null && { expected_output: expectedOutput }),
    ...(contexts.length > 0 && { contexts }),
  };
}

/** Contexts of the first spans only are not a field of the trace. */
function originsOf({ choice: { inputFromId, outputFromId }, nextSpansCursor }: TraceView): Origins {
  return {
    ...(inputFromId !== null && { input: { spanId: inputFromId, name: 'input' } }),
    ...(outputFromId !== null && { output: { spanId: outputFromId, name: 'output' } }),
    expected_output: { spanId: null, name: 'expected_output' },
    ...(nextSpansCursor === null && { contexts: { spanId: null, name: 'contexts' } }),
  };
}

function byStart(one: Span, other: Span): number {
  return one.startedAtMs - other.startedAtMs;
}

function contextsOf({ contextsJson }: Span): readonly LosslessJson[] {
  const contexts = contextsJson === null ? null : parseFreeJson(contextsJson);
  return contexts !== null && isArray(contexts) ? contexts : [];
}
