/** Stores results of evaluators on their traces. */

import type { Project } from '../caller.ts';
import type { TraceInputsDeps } from '../monitors/trace-inputs.ts';
import { type ErasureTerm, erasedBeforeMs } from '../retention-terms.ts';
import { ANY_FACTS, type EvaluationDraft } from '../traces/collector/collector-draft.ts';
import { readEvaluation } from '../traces/collector/collector-evaluation.ts';
import { type CollectorLimits, createReading } from '../traces/collector/collector-reading.ts';
import type { TraceStore } from '../traces/telemetry-port.ts';
import type { TraceAppend } from '../traces/trace.ts';
import { lookupForms, normaliseSpanId } from '../traces/trace-ids.ts';
import { findOrigins } from './origins.ts';
import type { EvaluationRun } from './outcome.ts';
import { inputsToStore, isWorthReferring, type Origins } from './result-inputs.ts';

type TraceResultsDeps = Pick<TraceInputsDeps, 'runCooperatively'> &
  ErasureTerm & {
    readonly store: TraceInputsDeps['traces'] & Pick<TraceStore, 'append' | 'find'>;
    readonly limits: CollectorLimits;
  };

type NewResult = {
  readonly draft: EvaluationDraft;
  /** What was judged. */
  readonly data: EvaluationRun['data'];
  /** Null: the data was sent, and its texts are looked for on the trace. */
  readonly origins: Origins | null;
  /** The monitor that ran the evaluator; null: none. */
  readonly monitorId: string | null;
  readonly nowMs: number;
  /** Stores nothing when the trace was removed meanwhile. */
  readonly mustBeKnown?: boolean;
};

export type TraceResults = ReturnType<typeof createTraceResults>;

export function createTraceResults(deps: TraceResultsDeps) {
  const { store, limits, runCooperatively } = deps;
  /** As the append that follows decides. */
  const cutOf = (project: Project) => erasedBeforeMs(deps, project);

  /** The append that stores a result on the trace with exactly that id. */
  function toAppend(project: Project, traceId: string, result: NewResult): TraceAppend {
    const { draft, data, origins, monitorId, nowMs } = result;
    const reading = createReading({ limits, facts: ANY_FACTS, receivedAtMs: nowMs, traceId });
    const read = readEvaluation(draft, reading);
    if (read === null) throw new Error(`a result is not as traces keep them${reading.problem}`);
    return {
      projectId: project.id,
      projectNumber: project.number,
      organizationId: project.organizationId,
      organizationNumber: project.organizationNumber,
      traceId,
      receivedAtMs: nowMs,
      expiredBeforeMs: cutOf(project),
      spansMax: limits.spansPerTraceMax,
      metadataJson: null,
      expectedOutput: undefined,
      spans: [],
      evaluations: [{ ...read.evaluation, inputsJson: inputsToStore(data, origins ?? {}), monitorId }],
      requests: [],
    };
  }

  async function originsOf(project: Project, traceId: string, { draft, data }: NewResult): Promise<Origins> {
    // Most texts are short, so that nothing is read for them.
    const record = Object.values(data).some(isWorthReferring) ? await store.find(project.number, traceId) : null;
    // The append replaces an expired trace by a new one.
    if (record === null || record.insertedAtMs < (cutOf(project) ?? Number.NEGATIVE_INFINITY)) return {};
    const spanId = typeof draft.spanId === 'string' ? normaliseSpanId(draft.spanId) : null;
    const trace = { ...record, projectNumber: project.number };
    return await findOrigins({ traces: store, runCooperatively }, { trace, spanId, data });
  }

  return {
    /**
     * Resolves once the result is stored; it replaces a result with the same id. The id may lack leading zeros. The
     * result creates a trace that does not exist yet. Throws what the store throws.
     */
    async attach(project: Project, sentId: string, result: NewResult): Promise<void> {
      const traceId = await findTraceId(store, { project, sentId, expiredBeforeMs: cutOf(project) });
      if (result.mustBeKnown === true && (await store.find(project.number, traceId)) === null) return;
      const origins = result.origins ?? (await originsOf(project, traceId, result));
      await store.append(toAppend(project, traceId, { ...result, origins }));
    },
    toAppend,
  };
}

type TraceLookup = { readonly project: Project; readonly sentId: string; readonly expiredBeforeMs: number | null };

/** Some tools drop leading zeros of ids. An unknown id of at least this many digits gets its zeros back. */
const PADDED_DIGITS_MIN = 25;

async function findTraceId(
  store: Pick<TraceStore, 'find'>,
  { project, sentId, expiredBeforeMs }: TraceLookup,
): Promise<string> {
  const { exact, padded } = lookupForms(sentId);
  if (padded === null) return exact;
  for (const id of [exact, padded]) {
    const record = await store.find(project.number, id);
    // An expired trace counts as unknown.
    if (record !== null && record.insertedAtMs >= (expiredBeforeMs ?? Number.NEGATIVE_INFINITY)) return id;
  }
  return sentId.length >= PADDED_DIGITS_MIN ? padded : exact;
}
