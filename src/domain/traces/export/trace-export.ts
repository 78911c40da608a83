/** Exports the traces of a search one by one, and a large trace in several messages. */

import type { Clock } from '../../clock.ts';
import type { RunCooperatively } from '../../steps.ts';
import type { SearchCall } from '../search/search-call.ts';
import type { SearchRequest, TraceSearches } from '../search/trace-search.ts';
import type { SearchPosition } from '../search/trace-search-store.ts';
import { createShowEvaluation, LISTED_TEXTS_MAX_BYTES, type ShownEvaluation } from '../shown-inputs.ts';
import type { ListPosition, ListRange, SizedText, SpanPosition, TraceStore } from '../telemetry-port.ts';
import type { Span } from '../trace.ts';
import { evaluationPosition, spanPosition } from '../trace-page.ts';
import { unlessErased } from '../trace-row.ts';
import { evaluationBytes, spanBytes } from '../trace-size.ts';
import type { Traces, TraceView } from '../traces.ts';

type ExportRequest = Omit<SearchRequest, 'pageSize' | 'cursor'>;

/** A trace and the items that fit, or more items of that trace. */
export type ExportMessage =
  | { readonly kind: 'trace'; readonly view: TraceView }
  | { readonly kind: 'evaluations'; readonly evaluations: readonly ShownEvaluation[] }
  | { readonly kind: 'spans'; readonly traceId: string; readonly spans: readonly Span[] };

export type TraceExports = {
  /** Resolves once the first traces are found; throws validation_error. A later error ends the export. */
  open(request: ExportRequest, call: SearchCall): Promise<AsyncGenerator<ExportMessage, void>>;
};

type TraceExportsDeps = {
  readonly searches: Pick<TraceSearches, 'walk'>;
  readonly traces: Pick<Traces, 'get'>;
  readonly store: Pick<TraceStore, 'spanOrder' | 'spans' | 'spanIdsOfType' | 'evaluationOrder' | 'evaluations'>;
  readonly runCooperatively: RunCooperatively;
  readonly clock: Clock;
};

/** Writing a message holds up all other requests, some 30 ms for each MiB. */
const MESSAGE_MAX_BYTES = 256 * 1024;
const MESSAGE_ITEMS_MAX = 250;
const ORDERED_AT_ONCE = 10_000;

export function createTraceExports({
  searches,
  traces,
  store,
  runCooperatively,
  clock,
}: TraceExportsDeps): TraceExports {
  async function* exportAll(
    pages: AsyncIterable<readonly SearchPosition[]>,
    { includeSpans }: ExportRequest,
    call: SearchCall,
  ): AsyncGenerator<ExportMessage, void> {
    for await (const positions of pages) {
      for (const { traceId } of positions) {
        const view = await read(traceId, includeSpans ? MESSAGE_ITEMS_MAX : 0, call);
        // Erased since the search.
        if (view === null) continue;
        yield { kind: 'trace', view: { ...view, nextSpansCursor: includeSpans ? null : view.nextSpansCursor } };
        if (view.isShortOfEvaluations) yield* moreEvaluations(view, call);
        if (includeSpans && view.nextSpansCursor !== null) yield* moreSpans(view, call);
      }
    }
  }

  async function read(traceId: string, spansLimit: number, { project, countResponseBytes }: SearchCall) {
    const limits = { spansLimit, maxBytes: MESSAGE_MAX_BYTES, shownTextsMaxBytes: LISTED_TEXTS_MAX_BYTES };
    const request = { traceId, spansCursor: '', ...limits, countResponseBytes };
    return await unlessErased(traces.get(project, request, clock()));
  }

  async function* moreEvaluations(
    { record, evaluations, spans }: TraceView,
    { project, countResponseBytes }: SearchCall,
  ): AsyncGenerator<ExportMessage> {
    const trace = { ...record, projectNumber: project.number };
    const last = evaluations.at(-1);
    const order = (range: ListRange<ListPosition>) => store.evaluationOrder(trace, range);
    for await (const ids of idBatches(order, last === undefined ? null : evaluationPosition(last))) {
      const some = await store.evaluations(trace, ids);
      countResponseBytes(sumOf(some, evaluationBytes));
      const maxBytes = LISTED_TEXTS_MAX_BYTES;
      const show = createShowEvaluation(
        { store, runCooperatively },
        { trace, listSpans: () => spans, maxBytes, countResponseBytes },
      );
      const shown: ShownEvaluation[] = [];
      for (const each of some) shown.push(await show(each));
      yield { kind: 'evaluations', evaluations: shown };
    }
  }

  async function* moreSpans({ record, spans }: TraceView, call: SearchCall): AsyncGenerator<ExportMessage> {
    const trace = { ...record, projectNumber: call.project.number };
    const { traceId } = record;
    const last = spans.at(-1);
    const order = (range: ListRange<SpanPosition>) => store.spanOrder(trace, range);
    for await (const ids of idBatches(order, last === undefined ? null : spanPosition(last))) {
      const some = await store.spans(trace, ids);
      call.countResponseBytes(sumOf(some, (span) => spanBytes(span, traceId)));
      yield { kind: 'spans', traceId, spans: some };
    }
  }

  return {
    async open(request, call) {
      const pages = searches.walk({ ...request, pageSize: null, cursor: '' }, call);
      const first = await pages.next();
      return exportAll(prepend(first, pages), request, call);
    },
  };
}

async function* prepend<T>(first: IteratorResult<T, void>, others: AsyncGenerator<T, void>): AsyncGenerator<T> {
  if (first.done) return;
  yield first.value;
  yield* others;
}

type Order<Position> = (range: ListRange<Position>) => Promise<readonly (Position & SizedText)[]>;

/** Batches of the ids after a position, sized for one read; one item may be larger. */
async function* idBatches<Position extends ListPosition>(
  order: Order<Position>,
  start: Position | null,
): AsyncGenerator<readonly string[]> {
  for (let after = start; ; ) {
    const positions = await order({ after, limit: ORDERED_AT_ONCE });
    let ids: string[] = [];
    let bytes = 0;
    for (const position of positions) {
      bytes += position.bytes;
      if (ids.length > 0 && (bytes > MESSAGE_MAX_BYTES || ids.length === MESSAGE_ITEMS_MAX)) {
        yield ids;
        [ids, bytes] = [[], position.bytes];
      }
      ids.push(position.id);
    }
    if (ids.length > 0) yield ids;
    const last = positions.at(-1);
    if (last === undefined || positions.length < ORDERED_AT_ONCE) return;
    after = last;
  }
}

function sumOf<T>(items: readonly T[], bytesOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + bytesOf(item), 0);
}
