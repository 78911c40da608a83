/** Stores sent traces and reads them. */

import { jsonStringBytes } from '../../json/json-size.ts';
import type { Project } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { feedbackBytes } from '../feedback/feedback-event.ts';
import type { PriceResolver, Prices } from '../pricing/prices.ts';
import type { KnownPrompts } from '../prompts/known-prompts.ts';
import { type ErasureTerm, erasedBeforeMs, termStartMs, traceTermDays } from '../retention-terms.ts';
import type { RunCooperatively } from '../steps.ts';
import { appendOf, draftOf, type ReplacedSpan } from './add-span-events.ts';
import { appendAll, noteExcess } from './append-all.ts';
import { type Arrival, type CollectorLimits, collect, collectBatch } from './collector/collector.ts';
import { type BatchDraft, isUnreadable, type TraceDraft } from './collector/collector-draft.ts';
import { allWithLinks, withLinks } from './collector/collector-links.ts';
import { type CollectReport, reportBatch, reportCollected } from './collector/collector-report.ts';
import type { Losses } from './collector/losses.ts';
import { readSaid, type Said, type SaidDeps } from './said.ts';
import { createShowEvaluation, SHOWN_TEXTS_MAX_BYTES, type ShownEvaluation } from './shown-inputs.ts';
import { countSpan, planSpan } from './span-page.ts';
import type { StoredTrace, TraceStore } from './telemetry-port.ts';
import type { Span, TraceAppend, TraceRecord } from './trace.ts';
import { traceNotFound } from './trace-changes.ts';
import { createHead, headBytes, readChosen, recordBytes, type TraceHead } from './trace-head.ts';
import { hasIdLength, lookupForms } from './trace-ids.ts';
import { createPageCursors, cutPage, loadPage, planPage, readEvaluations, showPage } from './trace-page.ts';
import { RESPONSE_MAX_BYTES } from './trace-size.ts';

type TracesDeps = SaidDeps &
  ErasureTerm & {
    readonly store: TraceStore;
    readonly cursors: CursorCodec;
    readonly prices: PriceResolver;
    readonly limits: CollectorLimits;
    /** Validates large requests in several turns of the event loop. */
    readonly runCooperatively: RunCooperatively;
    readonly losses: Losses;
    readonly prompts: KnownPrompts;
  };

type GetTrace = {
  readonly traceId: string;
  /** Whether only the trace that is stored under this very id counts; false by default. */
  readonly isExact?: boolean;
  readonly spansLimit: number | null;
  /** Empty: the first page. */
  readonly spansCursor: string;
  /** The only span to read, without evaluations; empty or absent: a page of all. */
  readonly spanId?: string;
  /** Approximate limit of the response; RESPONSE_MAX_BYTES by default. */
  readonly maxBytes?: number;
  /** Of texts that are shown for references of evaluations; SHOWN_TEXTS_MAX_BYTES by default. */
  readonly shownTextsMaxBytes?: number;
  /** Counts bytes of the answer before they are sent; throws the unavailable Fault without room. */
  readonly countResponseBytes: (bytes: number) => void;
};

/** The parts that both formats show. */
type ShownTrace = {
  readonly record: TraceRecord;
  readonly evaluations: readonly ShownEvaluation[];
};

export type TraceView = ShownTrace &
  TraceHead &
  Said & {
    readonly spans: readonly Span[];
    readonly nextSpansCursor: string | null;
    /** Whether evaluations follow on later pages. */
    readonly isShortOfEvaluations: boolean;
  };

type TraceDigestView = ShownTrace & { readonly text: string };

export type Traces = {
  /** Stores the valid parts of a trace; resolves after the commit. Throws validation_error without any. */
  collect(draft: TraceDraft, at: { project: Project; nowMs: number }): Promise<CollectReport>;
  /** Returns what stores a trace that this server made itself, with the outcome of its request. Throws as `collect` does. */
  prepare(draft: TraceDraft, at: { project: Project; nowMs: number }): Promise<TraceAppend>;
  /**
   * Stores the valid parts of several traces; there may be none. Each trace is stored as a whole or not at all: after a
   * failure the sender repeats the request, which is safe.
   */
  collectBatch(batch: BatchDraft, at: { project: Project; nowMs: number }): Promise<CollectReport>;
  /** Stores a span that is stored anew, unless it has changed since it was read. */
  replaceSpan(
    replaced: ReplacedSpan,
    at: { project: Project; nowMs: number },
  ): Promise<'stored' | 'outdated' | 'refused'>;
  /** Throws trace_not_found, ambiguous_trace_id or invalid_cursor. */
  get(project: Project, request: GetTrace, nowMs: number): Promise<TraceView>;
  /** Throws trace_not_found or ambiguous_trace_id. */
  digest(
    project: Project,
    request: Pick<GetTrace, 'traceId' | 'countResponseBytes'>,
    nowMs: number,
  ): Promise<TraceDigestView>;
};

const SPANS_LIMIT_DEFAULT = 10_000;
const PREFIX_WINDOW_MS = 90 * 86_400_000;
const CANDIDATES_MAX = 5;

export function createTraces(deps: TracesDeps): Traces {
  return {
    async collect(draft, at) {
      const prices = await pricesOf(deps, at.project, [draft]);
      const collecting = collect(draft, arrivalOf(deps, at), { ...deps, prices });
      const collected = await withLinks(deps.prompts, at, await deps.runCooperatively(collecting));
      const appended = await deps.store.append(collected.append);
      noteExcess(deps, at, [appended]);
      return reportCollected(collected, appended);
    },

    async prepare(draft, at) {
      const prices = await pricesOf(deps, at.project, [draft]);
      const collecting = collect(draft, arrivalOf(deps, at), { ...deps, prices });
      return (await withLinks(deps.prompts, at, await deps.runCooperatively(collecting))).append;
    },

    async collectBatch(batch, at) {
      const prices = await pricesOf(deps, at.project, batch.traces);
      const validating = collectBatch(batch, arrivalOf(deps, at), { ...deps, prices });
      const validated = await allWithLinks(deps.prompts, at, await deps.runCooperatively(validating));
      const appends = validated.flatMap(({ collected, isStorable }) => (isStorable ? [collected.append] : []));
      const appended = await appendAll(deps.store, appends);
      noteExcess(deps, at, appended);
      return reportBatch(batch, validated, appended);
    },

    async replaceSpan(replaced, at) {
      const batch = await deps.runCooperatively(draftOf(replaced));
      const prices = await pricesOf(deps, at.project, batch.traces);
      const context = { at: arrivalOf(deps, at), deps: { ...deps, prices } };
      const append = await deps.runCooperatively(appendOf(batch, replaced, context));
      if (append === undefined) return 'refused';
      const { isOutdated } = await deps.store.append(append);
      return isOutdated === true ? 'outdated' : 'stored';
    },

    async get(project, request, nowMs) {
      const record = await findTrace(deps, project, request, nowMs);
      const said = (await readSaid(deps, project.number, [record.traceId]))(record.traceId);
      const ownBytes = recordBytes(record) + feedbackBytes(said.events);
      request.countResponseBytes(ownBytes);
      const trace = { ...record, projectNumber: project.number };
      const cursors = createPageCursors(deps.cursors, ['trace-spans', project.id, record.traceId]);
      const start = cursors.open(request.spansCursor);
      const spansMax = request.spansLimit ?? SPANS_LIMIT_DEFAULT;
      const { spanId = '' } = request;
      const plan = spanId === '' ? await planPage(deps.store, { trace, start, spansMax }) : planSpan(trace, spanId);
      // Before anything is loaded, so that a refused answer costs no more than its plan.
      const { maxBytes: responseMaxBytes = RESPONSE_MAX_BYTES } = request;
      request.countResponseBytes(Math.min(Math.max(responseMaxBytes, plan.firstBytes), plan.bytes));
      // The outline of a large trace is computed in another thread while this one loads spans.
      const [{ head, spans }, loaded] = await Promise.all([
        readHead(deps, trace, request),
        loadPage(deps.store, { ...plan, maxBytes: responseMaxBytes }),
      ]);
      if (spanId !== '') countSpan(loaded.spans, request);
      const usedBytes = headBytes(head);
      request.countResponseBytes(usedBytes);
      // Of a small answer the trace itself leaves half to its parts.
      const least = request.maxBytes === undefined ? 0 : responseMaxBytes / 2;
      const leftBytes = Math.max(least, responseMaxBytes - ownBytes - usedBytes);
      const show = createShowEvaluation(deps, {
        trace,
        listSpans: () => [...spans, ...loaded.spans.map(({ item }) => item)],
        maxBytes: Math.min(leftBytes, request.shownTextsMaxBytes ?? SHOWN_TEXTS_MAX_BYTES),
        countResponseBytes: request.countResponseBytes,
      });
      const page = cutPage(cursors, await showPage(loaded, show), leftBytes);
      const { nextCursor: nextSpansCursor, ...parts } = page;
      return { record, ...head, ...said, ...parts, nextSpansCursor };
    },

    async digest(project, { traceId, countResponseBytes }, nowMs) {
      const record = await findTrace(deps, project, { traceId }, nowMs);
      const ownBytes = recordBytes(record);
      countResponseBytes(ownBytes);
      const trace = { ...record, projectNumber: project.number };
      const text = await deps.store.digest(trace);
      const textBytes = jsonStringBytes(text);
      countResponseBytes(textBytes);
      const room = { maxBytes: RESPONSE_MAX_BYTES - ownBytes - textBytes, countResponseBytes };
      const { evaluations: stored, leftBytes, omitted } = await readEvaluations(deps.store, trace, room);
      const maxBytes = Math.min(leftBytes, SHOWN_TEXTS_MAX_BYTES);
      const show = createShowEvaluation(deps, { trace, listSpans: () => [], maxBytes, countResponseBytes });
      const evaluations: ShownEvaluation[] = [];
      for (const each of stored) evaluations.push(await show(each));
      return { record, evaluations, text: omitted === null ? text : `${text}\n${omitted}` };
    },
  };
}

type ReadHead = {
  readonly head: TraceHead;
  /** Those that were loaded for it. */
  readonly spans: readonly Span[];
};

async function readHead(
  { store, runCooperatively }: Pick<TracesDeps, 'store' | 'runCooperatively'>,
  trace: StoredTrace & TraceRecord,
  { countResponseBytes }: Pick<GetTrace, 'countResponseBytes'>,
): Promise<ReadHead> {
  const { choice, tree: asciiTree } = await store.outline(trace);
  const { texts, spans } = await readChosen(store, { trace, choice, countResponseBytes });
  const { expectedOutput } = trace;
  return { head: await createHead(runCooperatively, texts, { choice, expectedOutput, asciiTree }), spans };
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
  return { ...at, expiredBeforeMs: erasedBeforeMs(deps, at.project) };
}

/** Traces first received before this instant have expired; null: none has. */
function cutOf({ traceDefaultDays }: TracesDeps, project: Project, nowMs: number): number | null {
  return termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs);
}

type Named = Pick<GetTrace, 'traceId' | 'isExact'>;

async function findTrace(
  deps: TracesDeps,
  project: Project,
  { traceId, isExact = false }: Named,
  nowMs: number,
): Promise<TraceRecord> {
  if (!hasIdLength(traceId)) throw traceNotFound();
  const expiredBeforeMs = cutOf(deps, project, nowMs) ?? Number.NEGATIVE_INFINITY;
  // An expired trace is not found, whether or not it is erased yet.
  const find = async (id: string) => {
    const record = await deps.store.find(project.number, id);
    return record !== null && record.insertedAtMs >= expiredBeforeMs ? record : null;
  };
  const { exact, padded, prefix } = isExact ? { exact: traceId, padded: null, prefix: null } : lookupForms(traceId);
  const named = (await find(exact)) ?? (padded === null ? null : await find(padded));
  if (named) return named;
  if (prefix === null) throw traceNotFound();
  const sinceMs = Math.max(nowMs - PREFIX_WINDOW_MS, expiredBeforeMs);
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
