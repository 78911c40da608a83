/** Evaluates what one page of a search has found. */

import { createHash } from 'node:crypto';
import type { Project } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { isArray, parseFreeJson } from '../free-json.ts';
import type { LosslessJson, LosslessObject } from '../lossless-json.ts';
import type { Span } from '../trace.ts';
import type { TraceView } from '../traces.ts';
import { findMissingField, missingFieldText, readData } from './evaluation-data.ts';
import { type EvaluationTarget, settingsOfRun } from './evaluation-target.ts';
import { type EvaluationOutcome, ownerOf, type RunEvaluator } from './outcome.ts';
import { resultDraft } from './result-draft.ts';
import { retryDelayMs } from './retries.ts';
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
  /** How often the trace has failed before. */
  readonly failures: number;
};

/** What has come of a trace, or that it is to be tried again after a while. */
export type TraceRunEnd =
  | { readonly kind: 'ended'; readonly status: EvaluationOutcome['status'] }
  | { readonly kind: 'again'; readonly delayMs: number };

/** Stores the result on the trace. One that has its result already is left alone: its page was broken off after it. */
export async function evaluateTrace(
  deps: TraceRunDeps,
  { project, runId, target, signal, failures }: TraceRun,
  view: TraceView,
): Promise<TraceRunEnd> {
  const { traceId } = view.record;
  const evaluationId = resultIdOf(runId, traceId);
  const status = storedStatus(view, evaluationId);
  if (status !== null) return { kind: 'ended', status };
  const { entry, name, evaluatorId } = target;
  const data = readData(entry, dataOf(view));
  const missing = findMissingField(entry, data);
  const run = { ...ownerOf(project), evaluatorType: entry.id, settings: settingsOfRun(target, {}), data };
  const startedAtMs = deps.clock();
  const outcome: EvaluationOutcome =
    missing === null ? await deps.run(run, signal) : { status: 'skipped', details: missingFieldText(missing, entry) };
  // What was broken off is done again by whoever goes on.
  if (signal.aborted) return { kind: 'ended', status: outcome.status };
  const delayMs = retryDelayMs(outcome, failures);
  if (delayMs !== null) return { kind: 'again', delayMs };
  const finishedAtMs = deps.clock();
  const about = { evaluatorId, name, spanId: null, isGuardrail: false };
  const draft = resultDraft({ ...about, evaluationId, run, outcome, startedAtMs, finishedAtMs });
  await deps.results.attach(project, traceId, { draft, monitorId: null, nowMs: finishedAtMs, mustBeKnown: true });
  return { kind: 'ended', status: outcome.status };
}

function storedStatus({ evaluations }: TraceView, evaluationId: string): EvaluationOutcome['status'] | null {
  const status = evaluations.find((each) => each.evaluationId === evaluationId)?.status;
  return status === undefined || status === 'scheduled' || status === 'in_progress' ? null : status;
}

const DIGITS = 32;

function resultIdOf(runId: string, traceId: string): string {
  return `eval_run_${createHash('sha256').update(`${runId}:${traceId}`).digest('hex').slice(0, DIGITS)}`;
}

/** What evaluators can read of a trace, by the names of their fields. An empty text means that there is none. */
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

function byStart(one: Span, other: Span): number {
  return one.startedAtMs - other.startedAtMs;
}

function contextsOf({ contextsJson }: Span): readonly LosslessJson[] {
  const contexts = contextsJson === null ? null : parseFreeJson(contextsJson);
  return contexts !== null && isArray(contexts) ? contexts : [];
}
