/** Reads what filters need of traces, batch by batch. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { AnnotationFacts } from '../../domain/annotations/score.ts';
import type { Needs, SearchDocument, TraceNumbers } from '../../domain/traces/search/trace-filter.ts';
import { factsByTrace } from '../annotations/annotations.ts';
import { choiceAmong, cutIntoBatches, METADATA_BYTES_AT_ONCE, readSpansOf, SPANS_AT_ONCE } from '../long-reads.ts';
import type { RowOf } from '../statements/statement.ts';
import { queryInBatches } from '../transaction.ts';
import type { SearchQueries, SearchRunner } from './search-runner.ts';
import { createTextReader, SHORT_TEXT_BYTES, type ShortTexts, type VisitText } from './span-texts.ts';

type Candidate = TraceNumbers &
  Pick<RowOf<SearchQueries['listByStart']>, 'sequence' | 'traceId' | 'spanCount' | 'hasError' | 'metadataBytes'>;

export type Read<Row> = { readonly row: Row; readonly document: Document };
type Document = Omit<SearchDocument, 'spans'> & { readonly spans: readonly SpanFacts[] };

export type Documents = ReturnType<typeof createDocuments>;

const EVALUATED_AT_ONCE = 200;

export function createDocuments(
  { queries, runQuery, nowMs, idsPerQuery }: SearchRunner,
  { projectNumber, needs }: { readonly projectNumber: number; readonly needs: Needs },
) {
  async function spansOf(batch: readonly Candidate[]): Promise<ReadonlyMap<number, readonly SpanFacts[]>> {
    if (!needs.spans) return NONE;
    return await readSpansOf<SpanFacts>(batch, {
      list: listSpans,
      listBehind: (page) => runQuery(queries.listSpansBehind, { projectNumber, ...page }),
    });
  }

  async function listSpans(sequences: readonly number[]): Promise<readonly SpanFacts[]> {
    if (!needs.texts) return await runQuery(queries.listSpans, { projectNumber, sequences });
    return await runQuery(queries.listSpansWithTexts, { projectNumber, sequences, bytesMax: SHORT_TEXT_BYTES });
  }

  async function evaluationsOf(sequences: readonly number[]) {
    if (!needs.evaluations) return NONE;
    const rows = await runQuery(queries.listEvaluations, { projectNumber, sequences });
    return Map.groupBy(rows, ({ traceSequence }) => traceSequence);
  }

  async function feedbackOf(batch: readonly Candidate[]) {
    if (!needs.feedback) return new Map<string, SearchDocument['feedback']>();
    const traceIds = batch.map(({ traceId }) => traceId);
    const find = (some: readonly string[]) => runQuery(queries.listFeedbackFacts, { projectNumber, traceIds: some });
    return Map.groupBy(await queryInBatches(traceIds, idsPerQuery, find), ({ traceId }) => traceId);
  }

  async function annotationsOf(batch: readonly Candidate[]): Promise<ReadonlyMap<string, readonly AnnotationFacts[]>> {
    if (!needs.annotations) return new Map();
    const traceIds = batch.map(({ traceId }) => traceId);
    const find = (some: readonly string[]) => runQuery(queries.listAnnotationFacts, { projectNumber, traceIds: some });
    const rows = await queryInBatches(traceIds, idsPerQuery, find);
    return factsByTrace(rows, rows.length === 0 ? [] : await runQuery(queries.listScores, { projectNumber }));
  }

  async function metadataOf(sequences: readonly number[]) {
    const rows = needs.metadata ? await runQuery(queries.listMetadata, { projectNumber, sequences }) : [];
    return new Map(rows.map(({ sequence, metadataJson }) => [sequence, metadataJson]));
  }

  return {
    /** Cuts rows into batches that can be read at once. */
    cut: <Row extends Candidate>(rows: readonly Row[]) =>
      cutIntoBatches(
        rows,
        ({ spanCount, metadataBytes }) => [
          needs.spans ? spanCount : 0,
          needs.metadata ? metadataBytes : 0,
          needs.evaluations || needs.feedback || needs.annotations ? 1 : 0,
        ],
        [SPANS_AT_ONCE, METADATA_BYTES_AT_ONCE, EVALUATED_AT_ONCE],
      ),

    /** Reads the documents of a batch, without long texts of spans. */
    async read<Row extends Candidate>(batch: readonly Row[]): Promise<readonly Read<Row>[]> {
      const sequences = batch.map(({ sequence }) => sequence);
      const [spans, evaluations] = [await spansOf(batch), await evaluationsOf(sequences)];
      const [metadata, feedback] = [await metadataOf(sequences), await feedbackOf(batch)];
      const annotations = await annotationsOf(batch);
      return batch.map((row) => {
        const of = spans.get(row.sequence) ?? [];
        const document = {
          // A trace that was removed meanwhile has none.
          metadataJson: metadata.get(row.sequence) ?? '{}',
          hasError: row.hasError,
          name: needs.spans ? choiceAmong(of).name : '',
          numbers: row,
          spans: of,
          evaluations: (evaluations.get(row.sequence) ?? []) as SearchDocument['evaluations'],
          feedback: feedback.get(row.traceId) ?? [],
          annotations: annotations.get(row.traceId) ?? [],
        };
        return { row, document };
      });
    },

    /**
     * Passes the folded searchable texts of a trace to `visit`, until it returns true. The name of the trace is that of a
     * span, so it is among them.
     */
    async forEachText({ sequence, spanCount }: Candidate, { spans }: Document, visit: VisitText): Promise<boolean> {
      const texts = createTextReader({ queries, runQuery, nowMs }, { projectNumber, sequence });
      if (spanCount <= SPANS_AT_ONCE) return await texts.visitAll(spans, visit);
      for await (const page of texts.pages()) {
        if (await texts.visitAll(page, visit)) return true;
        await yieldToEventLoop();
      }
      return false;
    },
  };
}

/** The texts of the spans of a large trace are read by forEachText alone. */
type SpanFacts = RowOf<SearchQueries['listSpans']> & ShortTexts;
const NONE: ReadonlyMap<number, readonly never[]> = new Map();
