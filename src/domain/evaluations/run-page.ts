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
import type { EvaluationOutcome, RunEvaluator } from './outcome.ts';
import { resultDraft } from './result-draft.ts';
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
};

/** Stores the result on the trace; done again it takes the place of the first. */
export async function evaluateTrace(
  deps: TraceRunDeps,
  { project, runId, target, signal }: TraceRun,
  view: TraceView,
): Promise<EvaluationOutcome['status']> {
  const { entry, name, evaluatorId } = target;
  const data = readData(entry, dataOf(view));
  const missing = findMissingField(entry, data);
  const run = { projectId: project.id, evaluatorType: entry.id, settings: settingsOfRun(target, {}), data };
  const startedAtMs = deps.clock();
  const outcome: EvaluationOutcome =
    missing === null ? await deps.run(run, signal) : { status: 'skipped', details: missingFieldText(missing, entry) };
  // What was broken off is done again by whoever goes on.
  if (signal.aborted) return outcome.status;
  const { traceId } = view.record;
  const finishedAtMs = deps.clock();
  const about = { evaluatorId, name, spanId: null, isGuardrail: false };
  const evaluationId = resultIdOf(runId, traceId);
  const draft = resultDraft({ ...about, evaluationId, run, outcome, startedAtMs, finishedAtMs });
  await deps.results.attach(project, traceId, { draft, monitorId: null, nowMs: finishedAtMs, mustBeKnown: true });
  return outcome.status;
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
