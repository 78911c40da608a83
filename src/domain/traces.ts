/** Sending traces and reading them back. */

import type { Project } from './caller.ts';
import { type CollectFacts, type CollectorLimits, collect, reportText } from './collector.ts';
import type { CursorCodec } from './cursor.ts';
import { Fault, type JsonValue } from './fault.ts';
import { termStartMs } from './page.ts';
import type { Pricing } from './pricing.ts';
import type { TraceStore } from './store.ts';
import type { Evaluation, Span, SpanSummary, TraceRecord } from './trace.ts';
import { digest, digestSpanIds } from './trace-digest.ts';
import { lookupForms } from './trace-ids.ts';
import { traceTermDays } from './trace-retention.ts';
import { asciiTree, chooseSpans, inputText, outputText, type TraceChoice } from './trace-view.ts';

export type TracesDeps = {
  readonly store: TraceStore;
  readonly cursors: CursorCodec;
  readonly pricing: Pricing;
  readonly limits: CollectorLimits;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export type CollectReport = {
  readonly rejectedSpans: number;
  readonly rejectedEvaluations: number;
  readonly errorMessage: string;
};

export type GetTrace = {
  readonly traceId: string;
  readonly spansLimit: number | null;
  /** Empty: the first page. */
  readonly spansCursor: string;
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
  readonly errorJson: string | null;
  readonly spans: readonly Span[];
  readonly nextSpansCursor: string | null;
  readonly asciiTree: string;
};

export type TraceDigestView = TraceHead & { readonly text: string };

export type Traces = {
  /** Stores what is valid of one collector body; resolves after the commit. Throws validation_error when nothing is. */
  collect(body: JsonValue, facts: CollectFacts, at: { project: Project; nowMs: number }): Promise<CollectReport>;
  /** Throws trace_not_found, ambiguous_trace_id or invalid_cursor. */
  get(project: Project, question: GetTrace, nowMs: number): Promise<TraceView>;
  /** Throws trace_not_found or ambiguous_trace_id. */
  digest(project: Project, traceId: string, nowMs: number): Promise<TraceDigestView>;
};

const SPANS_LIMIT_DEFAULT = 10_000;
const ID_MAX_CHARACTERS = 200;
const PREFIX_WINDOW_MS = 90 * 86_400_000;
const CANDIDATES_MAX = 5;
/** Read at once; a span may hold several texts of 1 MiB. */
const CHUNK_SPANS = 50;
const PAGE_TEXT_MAX_CHARACTERS = 32 * 1024 * 1024;

export function createTraces(deps: TracesDeps): Traces {
  return {
    async collect(body, facts, at) {
      const arrival = { ...at, goneBeforeMs: cutOf(deps, at.project, at.nowMs) };
      const collected = collect(body, facts, arrival, deps);
      const { metadataNotes } = await deps.store.append(collected.append);
      return {
        rejectedSpans: collected.rejectedSpans,
        rejectedEvaluations: collected.rejectedEvaluations,
        errorMessage: reportText([...collected.reasons, ...metadataNotes]),
      };
    },

    async get(project, question, nowMs) {
      const record = await findTrace(deps, project, question.traceId, nowMs);
      const summaries = await deps.store.summaries(project.number, record.sequence);
      const page = await readPage(deps, project, { record, summaries, question });
      const choice = chooseSpans(summaries);
      const chosen = await loadSpans(deps.store, project, record, choiceIds(choice));
      const inputJson = choice.inputFromId === null ? null : (chosen.get(choice.inputFromId)?.inputJson ?? null);
      const outputJson = choice.outputFromId === null ? null : (chosen.get(choice.outputFromId)?.outputJson ?? null);
      return {
        record,
        choice,
        evaluations: await deps.store.evaluations(project.number, record.sequence),
        input: inputJson === null ? '' : inputText(inputJson),
        output: outputJson === null ? '' : outputText(outputJson),
        errorJson: choice.errorFromId === null ? null : (chosen.get(choice.errorFromId)?.errorJson ?? null),
        spans: page.spans,
        nextSpansCursor: page.nextCursor,
        asciiTree: asciiTree(summaries),
      };
    },

    async digest(project, traceId, nowMs) {
      const record = await findTrace(deps, project, traceId, nowMs);
      const summaries = await deps.store.summaries(project.number, record.sequence);
      const full = await loadSpans(deps.store, project, record, digestSpanIds(summaries));
      return {
        record,
        evaluations: await deps.store.evaluations(project.number, record.sequence),
        text: digest(summaries, full),
      };
    },
  };
}

/** Traces of the project that came in before are past their term; null: none is. */
function cutOf({ traceDefaultDays }: TracesDeps, project: Project, nowMs: number): number | null {
  return termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs);
}

async function findTrace(deps: TracesDeps, project: Project, traceId: string, nowMs: number): Promise<TraceRecord> {
  if ([...traceId].length > ID_MAX_CHARACTERS) throw notFound();
  const goneBeforeMs = cutOf(deps, project, nowMs) ?? Number.NEGATIVE_INFINITY;
  // A trace past its term is as unknown as one that never was, whether or not it is erased yet.
  const find = async (id: string) => {
    const record = await deps.store.find(project.number, id);
    return record !== null && record.insertedAtMs >= goneBeforeMs ? record : null;
  };
  const { exact, padded, prefix } = lookupForms(traceId);
  const named = (await find(exact)) ?? (padded === null ? null : await find(padded));
  if (named) return named;
  if (prefix === null) throw notFound();
  const sinceMs = Math.max(nowMs - PREFIX_WINDOW_MS, goneBeforeMs);
  const candidates = await deps.store.findByPrefix(project.number, prefix, sinceMs, CANDIDATES_MAX);
  if (candidates.length > 1) {
    throw new Fault('ambiguous_trace_id', 'Several traces start with this id; send more of it.', {
      meta: { candidateTraceIds: [...candidates] },
    });
  }
  const [only] = candidates;
  const record = only === undefined ? null : await find(only);
  if (!record) throw notFound();
  return record;
}

function notFound(): Fault {
  return new Fault('trace_not_found', 'Trace not found.', { flatError: 'Trace not found.' });
}

type SpanPage = { readonly spans: readonly Span[]; readonly nextCursor: string | null };
type PageQuestion = {
  readonly record: TraceRecord;
  readonly summaries: readonly SpanSummary[];
  readonly question: GetTrace;
};

/**
 * Spans are paged by their place in (start, id), so a page stays put while spans are added behind it. A page also
 * ends when it holds enough text: one answer must not take the memory of all others.
 */
async function readPage(
  deps: TracesDeps,
  project: Project,
  { record, summaries, question }: PageQuestion,
): Promise<SpanPage> {
  const { store, cursors } = deps;
  const binding = ['trace-spans', project.id, record.traceId];
  const start =
    question.spansCursor === '' ? 0 : indexAfter(cursors, binding, { summaries, cursor: question.spansCursor });
  const end = Math.min(summaries.length, start + (question.spansLimit ?? SPANS_LIMIT_DEFAULT));
  const spans: Span[] = [];
  let next = start;
  let characters = 0;
  while (next < end && characters < PAGE_TEXT_MAX_CHARACTERS) {
    const ids = summaries.slice(next, Math.min(end, next + CHUNK_SPANS)).map((summary) => summary.spanId);
    const chunk = await store.spans(project.number, record.sequence, ids);
    for (const span of chunk) characters += textLength(span);
    spans.push(...chunk);
    next += ids.length;
  }
  const last = summaries[next - 1];
  const more = next < summaries.length && last !== undefined;
  return { spans, nextCursor: more ? cursors.seal(binding, [last.startedAtMs, last.spanId]) : null };
}

function textLength(span: Span): number {
  const texts = [
    span.inputJson,
    span.outputJson,
    span.paramsJson,
    span.otherMetricsJson,
    span.errorJson,
    span.contextsJson,
  ];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

function indexAfter(
  cursors: CursorCodec,
  binding: readonly string[],
  { summaries, cursor }: { summaries: readonly SpanSummary[]; cursor: string },
): number {
  const [startedAtMs, spanId] = cursors.open(binding, cursor) ?? [];
  if (typeof startedAtMs !== 'number' || typeof spanId !== 'string') {
    throw new Fault('invalid_cursor', 'The cursor is not valid for this trace.');
  }
  const index = summaries.findIndex(
    (summary) =>
      summary.startedAtMs > startedAtMs ||
      (summary.startedAtMs === startedAtMs && compareBytes(summary.spanId, spanId) > 0),
  );
  return index < 0 ? summaries.length : index;
}

/** The order of the store: by UTF-8 bytes, which is not the order of JavaScript strings beyond the BMP. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function choiceIds(choice: TraceChoice): string[] {
  return [choice.inputFromId, choice.outputFromId, choice.errorFromId].flatMap((id) => id ?? []);
}

async function loadSpans(
  store: TraceStore,
  project: Project,
  record: TraceRecord,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Span>> {
  const spans = await store.spans(project.number, record.sequence, [...new Set(ids)]);
  return new Map(spans.map((span) => [span.spanId, span]));
}
