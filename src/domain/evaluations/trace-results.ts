/** Puts results of evaluators on the traces they are about. */

import type { Project } from '../caller.ts';
import type { EvaluationDraft } from '../collector-draft.ts';
import { readEvaluation } from '../collector-evaluation.ts';
import { type CollectorLimits, createReading } from '../collector-reading.ts';
import { termStartMs } from '../page.ts';
import type { TraceStore } from '../store.ts';
import type { Evaluation, TraceAppend } from '../trace.ts';
import { lookupForms } from '../trace-ids.ts';
import { traceTermDays } from '../trace-retention.ts';

export type TraceResultsDeps = {
  readonly store: Pick<TraceStore, 'append' | 'find'>;
  readonly limits: CollectorLimits;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export type NewResult = {
  readonly draft: EvaluationDraft;
  /** Of the monitor that asked for it; null: nobody's. */
  readonly monitorId: string | null;
  readonly nowMs: number;
  /** Nothing is stored where the trace is gone meanwhile. */
  readonly mustBeKnown?: boolean;
};

export type TraceResults = {
  /**
   * Resolves once the result is stored; one with the same id is replaced. `traceId` may lack leading zeros; a trace that
   * is not known yet begins with the result. Throws what the store throws.
   */
  attach(project: Project, traceId: string, result: NewResult): Promise<void>;
  /** What stores a result on a trace of just that id. */
  toAppend(project: Project, traceId: string, result: NewResult): TraceAppend;
};

export function createTraceResults(deps: TraceResultsDeps): TraceResults {
  const cutOf = (project: Project, nowMs: number) =>
    termStartMs(traceTermDays(project.traceRetentionDays, deps.traceDefaultDays), nowMs);

  function toAppend(project: Project, traceId: string, { draft, monitorId, nowMs }: NewResult): TraceAppend {
    const evaluation = { ...read(draft, { deps, traceId, nowMs }), monitorId };
    return appendOf(project, evaluation, { traceId, nowMs, goneBeforeMs: cutOf(project, nowMs), deps });
  }

  return {
    async attach(project, sentId, result) {
      const traceId = await findTraceId(deps, { project, sentId, goneBeforeMs: cutOf(project, result.nowMs) });
      if (result.mustBeKnown === true && (await deps.store.find(project.number, traceId)) === null) return;
      await deps.store.append(toAppend(project, traceId, result));
    },
    toAppend,
  };
}

type Sought = { readonly project: Project; readonly sentId: string; readonly goneBeforeMs: number | null };

/** Some tools drop the leading zeros of ids; of an id that nobody knows they are added where few can be missing. */
const PADDED_DIGITS_MIN = 25;

async function findTraceId({ store }: TraceResultsDeps, { project, sentId, goneBeforeMs }: Sought): Promise<string> {
  const { exact, padded } = lookupForms(sentId);
  if (padded === null) return exact;
  for (const id of [exact, padded]) {
    const record = await store.find(project.number, id);
    // A trace past its term is as unknown as one that never was.
    if (record !== null && record.insertedAtMs >= (goneBeforeMs ?? Number.NEGATIVE_INFINITY)) return id;
  }
  return sentId.length >= PADDED_DIGITS_MIN ? padded : exact;
}

type Receipt = { readonly deps: TraceResultsDeps; readonly traceId: string; readonly nowMs: number };

/** Nobody counts how deep and long the texts of a result are, so each is looked at. */
const ANY_FACTS = { depth: 128, hasEscapes: true, bytes: Number.MAX_SAFE_INTEGER, hasWide: false };

function read(draft: EvaluationDraft, { deps, traceId, nowMs }: Receipt): Evaluation {
  const reading = createReading({ limits: deps.limits, facts: ANY_FACTS, receivedAtMs: nowMs, traceId });
  const read = readEvaluation(draft, reading);
  if (read === null) throw new Error(`a result is not as traces keep them${reading.problem}`);
  return read.evaluation;
}

type Place = Receipt & { readonly goneBeforeMs: number | null };

function appendOf(
  project: Project,
  evaluation: Evaluation,
  { deps, traceId, nowMs, goneBeforeMs }: Place,
): TraceAppend {
  return {
    projectId: project.id,
    projectNumber: project.number,
    organizationId: project.organizationId,
    organizationNumber: project.organizationNumber,
    traceId,
    receivedAtMs: nowMs,
    goneBeforeMs,
    spansMax: deps.limits.spansPerTraceMax,
    metadataJson: null,
    expectedOutput: undefined,
    spans: [],
    evaluations: [evaluation],
    requests: [],
  };
}
