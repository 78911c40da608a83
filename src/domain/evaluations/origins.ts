/** Finds on a trace the texts that a request sent to an evaluator. */

import { createTraceInputs, type TraceInputs, type TraceInputsDeps } from '../monitors/trace-inputs.ts';
import type { StoredTrace } from '../traces/telemetry-port.ts';
import type { TraceTexts } from '../traces/trace.ts';
import { SPANS_READ_THROUGH_MAX } from '../traces/trace-aggregates.ts';
import { readField } from './evaluation-data.ts';
import type { EvaluationRun } from './outcome.ts';
import { inputText, isWorthReferring, type Origins, type TraceField } from './result-inputs.ts';
import { INPUTS_TOO_LARGE } from './trace-fields.ts';

type OriginsQuestion = {
  readonly trace: StoredTrace & TraceTexts;
  /** The span that was evaluated; null: the trace. */
  readonly spanId: string | null;
  readonly data: EvaluationRun['data'];
};

const OF_SPAN = ['input', 'output', 'contexts'] as const;
const OF_TRACE = ['input', 'output', 'expected_output', 'contexts'] as const;

/** Looks for long texts only, in the fields that evaluators read by default. */
export async function findOrigins(deps: TraceInputsDeps, { trace, spanId, data }: OriginsQuestion): Promise<Origins> {
  const left = new Map(Object.entries(data).filter(([, value]) => isWorthReferring(value)));
  const origins: { [field: string]: TraceField } = {};
  const inputs = createTraceInputs(deps, trace);
  try {
    for await (const candidate of candidatesOf(inputs, trace, spanId)) {
      if (left.size === 0) break;
      const read = await inputs.read(candidate);
      if (read === null) continue;
      for (const [field, value] of left) {
        if (inputText(readField(field, read)) !== inputText(value)) continue;
        // The field of the same name is the likeliest to keep the text.
        const isSameName = candidate.name === field;
        if (isSameName || origins[field] === undefined) origins[field] = candidate;
        if (isSameName) left.delete(field);
      }
    }
  } catch (error) {
    // Texts that were not found until now count as not on the trace.
    if (error !== INPUTS_TOO_LARGE) throw error;
  }
  return origins;
}

async function* candidatesOf(
  inputs: TraceInputs,
  { spanCount }: StoredTrace,
  spanId: string | null,
): AsyncGenerator<TraceField, void> {
  if (spanId !== null) for (const name of OF_SPAN) yield { spanId, name };
  // The caller waits: which spans represent a large trace is not worth reading all of them.
  const ofTrace = spanCount > SPANS_READ_THROUGH_MAX ? (['expected_output'] as const) : OF_TRACE;
  for (const kind of ofTrace) {
    const field = await inputs.find({ kind });
    if (field !== null) yield field;
  }
}
