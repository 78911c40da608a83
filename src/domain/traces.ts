/** Sending traces and reading them back. */

import { ANSWER_MAX_BYTES, cutHeadError, cutHeadText, jsonStringBytes } from './answer-size.ts';
import type { Project } from './caller.ts';
import { type Arrival, type CollectorLimits, collect, collectBatch } from './collector.ts';
import { type BatchDraft, isUnreadable, type TraceDraft } from './collector-draft.ts';
import { type CollectReport, reportBatch, reportCollected } from './collector-report.ts';
import type { CursorCodec } from './cursor.ts';
import { Fault } from './fault.ts';
import { termStartMs } from './page.ts';
import type { PriceBook, Prices } from './pricing/prices.ts';
import type { TakeSteps } from './steps.ts';
import type { StoredTrace, TraceStore } from './store.ts';
import type { Evaluation, Span, TraceRecord } from './trace.ts';
import type { TraceChoice } from './trace-aggregates.ts';
import { traceNotFound } from './trace-changes.ts';
import { hasIdLength, lookupForms } from './trace-ids.ts';
import { createPageCursors, planPage, readEvaluations, readPage } from './trace-page.ts';
import { traceTermDays } from './trace-retention.ts';
import { inputText, outputText } from './trace-texts.ts';

export type TracesDeps = {
  readonly store: TraceStore;
  readonly cursors: CursorCodec;
  readonly prices: PriceBook;
  readonly limits: CollectorLimits;
  /** Large requests are judged in several turns of the event loop. */
  readonly takeSteps: TakeSteps;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export type GetTrace = {
  readonly traceId: string;
  readonly spansLimit: number | null;
  /** Empty: the first page. */
  readonly spansCursor: string;
  /** About how large the answer may be; as large as any by default. */
  readonly maxBytes?: number;
  /** Told how large the answer will be about; throws the unavailable Fault where there is no room for it. */
  readonly countAnswer: (bytes: number) => void;
};

/** What both formats show of a trace. */
export type TraceHead = {
  readonly record: TraceRecord;
  readonly evaluations: readonly Evaluation[];
};

export type TraceView = TraceHead & {
  readonly choice: TraceChoice;
  readonly input: string;
  readonly output: string;
  readonly expectedOutput: string | null;
  readonly errorJson: string | null;
  readonly spans: readonly Span[];
  readonly nextSpansCursor: string | null;
  /** Whether evaluations are among what is left. */
  readonly isShortOfEvaluations: boolean;
  readonly asciiTree: string;
};

export type TraceDigestView = TraceHead & { readonly text: string };

export type Traces = {
  /** Stores what is valid of one trace; resolves after the commit. Throws validation_error when nothing is. */
  collect(draft: TraceDraft, at: { project: Project; nowMs: number }): Promise<CollectReport>;
  /** Stores what is valid of several traces in one commit. Nothing of them may be. */
  collectBatch(batch: BatchDraft, at: { project: Project; nowMs: number }): Promise<CollectReport>;
  /** Throws trace_not_found, ambiguous_trace_id or invalid_cursor. */
  get(project: Project, question: GetTrace, nowMs: number): Promise<TraceView>;
  /** Throws trace_not_found or ambiguous_trace_id. */
  digest(
    project: Project,
    question: Pick<GetTrace, 'traceId' | 'countAnswer'>,
    nowMs: number,
  ): Promise<TraceDigestView>;
};

const SPANS_LIMIT_DEFAULT = 10_000;
const PREFIX_WINDOW_MS = 90 * 86_400_000;
const CANDIDATES_MAX = 5;
/** What stands beside the texts of an answer, rounded up. */
const HEAD_BYTES = 16 * 1024;

export function createTraces(deps: TracesDeps): Traces {
  return {
    async collect(draft, at) {
      const prices = await pricesOf(deps, at.project, [draft]);
      const judging = collect(draft, arrivalOf(deps, at), { limits: deps.limits, prices });
      const collected = await deps.takeSteps(judging);
      return reportCollected(collected, await deps.store.append(collected.append));
    },

    async collectBatch(batch, at) {
      const prices = await pricesOf(deps, at.project, batch.traces);
      const judging = collectBatch(batch, arrivalOf(deps, at), { limits: deps.limits, prices });
      const judged = await deps.takeSteps(judging);
      const appends = judged.flatMap(({ collected, isStorable }) => (isStorable ? [collected.append] : []));
      const appended = appends.length === 0 ? [] : await deps.store.appendBatch({ kind: 'traces', appends });
      return reportBatch(batch.refused, judged, appended);
    },

    async get(project, question, nowMs) {
      const record = await findTrace(deps, project, question.traceId, nowMs);
      const trace = { ...record, projectNumber: project.number };
      const cursors = createPageCursors(deps.cursors, ['trace-spans', project.id, record.traceId]);
      const start = cursors.open(question.spansCursor);
      const spansMax = question.spansLimit ?? SPANS_LIMIT_DEFAULT;
      const plan = await planPage(deps.store, { trace, start, spansMax });
      // Before anything is loaded: what does not fit beside other answers costs no more than this.
      const { maxBytes: answerMaxBytes = ANSWER_MAX_BYTES } = question;
      question.countAnswer(Math.min(Math.max(answerMaxBytes, plan.firstBytes), plan.bytes));
      const head = await readHead(deps.store, trace);
      const usedBytes = headBytes(head, record);
      question.countAnswer(usedBytes);
      const maxBytes = answerMaxBytes - usedBytes;
      const page = await readPage(deps.store, cursors, { ...plan, maxBytes });
      const { nextCursor: nextSpansCursor, ...parts } = page;
      return { record, ...head, ...parts, nextSpansCursor };
    },

    async digest(project, { traceId, countAnswer }, nowMs) {
      const record = await findTrace(deps, project, traceId, nowMs);
      const trace = { ...record, projectNumber: project.number };
      const text = await deps.store.digest(trace);
      const usedBytes = jsonStringBytes(text) + Buffer.byteLength(record.metadataJson) + HEAD_BYTES;
      countAnswer(usedBytes);
      const room = { maxBytes: ANSWER_MAX_BYTES - usedBytes, countAnswer };
      const { evaluations, untold } = await readEvaluations(deps.store, trace, room);
      return { record, evaluations, text: untold === null ? text : `${text}\n${untold}` };
    },
  };
}

type Head = Omit<TraceView, keyof TraceHead | 'spans' | 'nextSpansCursor' | 'isShortOfEvaluations'>;

/** What every page of a trace begins with. None of its texts can fill a page. */
async function readHead(store: TraceStore, trace: StoredTrace & TraceRecord): Promise<Head> {
  const { choice, tree } = await store.outline(trace);
  const chosen = new Map<string | null, Span>();
  // One by one: each may be as large as a request.
  for (const id of new Set([choice.inputFromId, choice.outputFromId, choice.errorFromId])) {
    const [span] = id === null ? [] : await store.spans(trace, [id]);
    if (span !== undefined) chosen.set(id, span);
  }
  const inputJson = chosen.get(choice.inputFromId)?.inputJson ?? null;
  const outputJson = chosen.get(choice.outputFromId)?.outputJson ?? null;
  const errorJson = chosen.get(choice.errorFromId)?.errorJson ?? null;
  return {
    choice,
    input: inputJson === null ? '' : cutHeadText(inputText(inputJson)),
    output: outputJson === null ? '' : cutHeadText(outputText(outputJson)),
    expectedOutput: trace.expectedOutput === null ? null : cutHeadText(trace.expectedOutput),
    errorJson: errorJson === null ? null : cutHeadError(errorJson),
    asciiTree: tree,
  };
}

function headBytes(head: Head, { metadataJson }: TraceRecord): number {
  const texts = [head.input, head.output, head.expectedOutput ?? '', head.asciiTree, ...head.choice.models];
  const jsons = [head.errorJson ?? '', metadataJson];
  return (
    HEAD_BYTES +
    texts.reduce((sum, text) => sum + jsonStringBytes(text), 0) +
    jsons.reduce((sum, json) => sum + Buffer.byteLength(json), 0)
  );
}

function pricesOf(
  { prices, limits }: TracesDeps,
  { organizationId: id, priceVersion }: Project,
  drafts: readonly TraceDraft[],
): Promise<Prices> {
  return prices.of({ id, priceVersion }, () => listModels(drafts, limits.spansMax));
}

function* listModels(drafts: readonly TraceDraft[], spansMax: number): Iterable<string> {
  for (const { spans } of drafts) {
    if (spans === undefined || isUnreadable(spans)) continue;
    for (let index = 0; index < Math.min(spans.length, spansMax); index += 1) {
      const span = spans.at(index);
      if (span !== undefined && !isUnreadable(span) && typeof span.model === 'string') yield span.model;
    }
  }
}

function arrivalOf(deps: TracesDeps, at: { project: Project; nowMs: number }): Arrival {
  return { ...at, goneBeforeMs: cutOf(deps, at.project, at.nowMs) };
}

/** Traces of the project that came in before are past their term; null: none is. */
function cutOf({ traceDefaultDays }: TracesDeps, project: Project, nowMs: number): number | null {
  return termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs);
}

async function findTrace(deps: TracesDeps, project: Project, traceId: string, nowMs: number): Promise<TraceRecord> {
  if (!hasIdLength(traceId)) throw traceNotFound();
  const goneBeforeMs = cutOf(deps, project, nowMs) ?? Number.NEGATIVE_INFINITY;
  // A trace past its term is as unknown as one that never was, whether or not it is erased yet.
  const find = async (id: string) => {
    const record = await deps.store.find(project.number, id);
    return record !== null && record.insertedAtMs >= goneBeforeMs ? record : null;
  };
  const { exact, padded, prefix } = lookupForms(traceId);
  const named = (await find(exact)) ?? (padded === null ? null : await find(padded));
  if (named) return named;
  if (prefix === null) throw traceNotFound();
  const sinceMs = Math.max(nowMs - PREFIX_WINDOW_MS, goneBeforeMs);
  const candidates = await deps.store.findByPrefix(project.number, prefix, sinceMs, CANDIDATES_MAX);
  if (candidates.length > 1) {
    throw new Fault('ambiguous_trace_id', 'Several traces start with this id; send more of it.', {
      meta: { candidateTraceIds: [...candidates] },
    });
  }
  const [only] = candidates;
  const record = only === undefined ? null : await find(only);
  if (!record) throw traceNotFound();
  return record;
}
