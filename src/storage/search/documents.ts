/** Reads what filters need of traces, batch by batch. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Needs, SearchDocument } from '../../domain/traces/search/trace-filter.ts';
import { inputText, outputText } from '../../domain/traces/search/trace-texts.ts';
import type { SpanSummary } from '../../domain/traces/trace.ts';
import { aggregatesOf, choiceOf, type TraceChoice } from '../../domain/traces/trace-aggregates.ts';
import {
  cutIntoBatches,
  METADATA_BYTES_AT_ONCE,
  NO_NUMBERS,
  readPages,
  readSpansOf,
  SPANS_AT_ONCE,
} from '../long-reads.ts';
import { unpackTyped } from '../rows/codes.ts';
import type { RowOf } from '../statements/statement.ts';
import { takeInTurns } from '../traces/trace-reads.ts';
import type { SearchQueries, SearchRunner } from './index-reader.ts';

type Candidate = Pick<RowOf<SearchQueries['listByStart']>, 'sequence' | 'spanCount' | 'hasError' | 'metadataBytes'>;

export type Read<Row> = { readonly row: Row; readonly document: Document };
type Document = Omit<SearchDocument, 'spans'> & {
  readonly choice: TraceChoice | null;
  readonly spans: readonly SpanFacts[];
};

/** Returns true to stop; a promise when that takes a while. */
type VisitText = (text: string) => boolean | Promise<boolean>;

export type Documents = ReturnType<typeof createDocuments>;

// Each message may visit 1 MiB.
const ERRORS_AT_ONCE = 8;
const EVALUATED_AT_ONCE = 200;
// Texts up to this size are read with their spans, also of spans that the trace does not need.
const SHORT_TEXT_BYTES = 2_048;

export function createDocuments(
  { queries, runQuery }: SearchRunner,
  {
    projectNumber,
    needs,
    withShortTexts = false,
  }: { readonly projectNumber: number; readonly needs: Needs; readonly withShortTexts?: boolean },
) {
  async function spansOf(batch: readonly Candidate[]): Promise<ReadonlyMap<number, readonly SpanFacts[]>> {
    if (!needs.spans) return NONE;
    return await readSpansOf<SpanFacts>(batch, {
      list: listSpans,
      listBehind: (page) => runQuery(queries.listSpansBehind, { projectNumber, ...page }),
    });
  }

  async function listSpans(sequences: readonly number[]): Promise<readonly SpanFacts[]> {
    if (!withShortTexts) return await runQuery(queries.listSpans, { projectNumber, sequences });
    return await runQuery(queries.listSpansWithTexts, { projectNumber, sequences, bytesMax: SHORT_TEXT_BYTES });
  }

  async function visitErrors(sequence: number, visit: VisitText): Promise<boolean> {
    const errors = readPages<ErrorRow>(ERRORS_AT_ONCE, (last) =>
      runQuery(queries.listErrors, { projectNumber, sequence, after: last?.spanId ?? '', limit: ERRORS_AT_ONCE }),
    );
    for await (const page of errors) {
      for (const { errorJson } of page) if (errorJson !== null && (await visit(messageOf(errorJson)))) return true;
      await nextTurn();
    }
    return false;
  }

  async function evaluationsOf(sequences: readonly number[]) {
    if (!needs.evaluations) return NONE;
    const rows = await runQuery(queries.listEvaluations, { projectNumber, sequences });
    return Map.groupBy(rows, ({ traceSequence }) => traceSequence);
  }

  async function metadataOf(sequences: readonly number[]) {
    const rows = needs.metadata ? await runQuery(queries.listMetadata, { projectNumber, sequences }) : [];
    return new Map(rows.map(({ sequence, metadataJson }) => [sequence, metadataJson]));
  }

  async function textsOf(sequence: number, span: SpanFacts | undefined): Promise<Texts> {
    if (span === undefined) return NO_TEXTS;
    const { spanId, hasInput, hasOutput, inputText = null, outputText = null } = span;
    if ((!hasInput || inputText !== null) && (!hasOutput || outputText !== null)) {
      return { inputJson: unpackTyped(inputText), outputJson: unpackTyped(outputText) };
    }
    const [texts] = await runQuery(queries.findTexts, { projectNumber, sequence, spanId });
    return texts ?? NO_TEXTS;
  }

  return {
    /** Cuts rows into batches that can be read at once. */
    cut: <Row extends Candidate>(rows: readonly Row[]) =>
      cutIntoBatches(
        rows,
        ({ spanCount, metadataBytes }) => [
          needs.spans ? spanCount : 0,
          needs.metadata ? metadataBytes : 0,
          needs.evaluations ? 1 : 0,
        ],
        [SPANS_AT_ONCE, METADATA_BYTES_AT_ONCE, EVALUATED_AT_ONCE],
      ),

    /** Reads the documents of a batch, without long texts of spans. */
    async read<Row extends Candidate>(batch: readonly Row[]): Promise<readonly Read<Row>[]> {
      const sequences = batch.map(({ sequence }) => sequence);
      const [spans, evaluations] = [await spansOf(batch), await evaluationsOf(sequences)];
      const metadata = await metadataOf(sequences);
      return batch.map((row) => {
        const of = spans.get(row.sequence) ?? [];
        const choice = needs.spans ? choiceOf(aggregatesOf(of.map(toSummary))) : null;
        const document = {
          // A trace that was removed meanwhile has none.
          metadataJson: metadata.get(row.sequence) ?? '{}',
          hasError: row.hasError,
          name: choice?.name ?? '',
          choice,
          spans: of,
          evaluations: (evaluations.get(row.sequence) ?? []) as SearchDocument['evaluations'],
        };
        return { row, document };
      });
    },

    /** Passes the searchable texts of a trace to `visit`, until it returns true. */
    async forEachText({ sequence }: Candidate, { name, spans, choice }: Document, visit: VisitText): Promise<boolean> {
      if (await visit(name)) return true;
      const names = new Set(spans.map((span) => span.name ?? span.type));
      for (const each of names) if (await visit(each)) return true;
      const speaking = (id: string | null | undefined) => spans.find(({ spanId }) => spanId === id);
      const { inputJson } = await textsOf(sequence, speaking(choice?.inputFromId));
      if (inputJson !== null && (await visit(await takeInTurns(inputText(inputJson))))) return true;
      const { outputJson } = await textsOf(sequence, speaking(choice?.outputFromId));
      if (outputJson !== null && (await visit(await takeInTurns(outputText(outputJson))))) return true;
      return choice?.errorFromId != null && (await visitErrors(sequence, visit));
    },
  };
}

type SpanFacts = RowOf<SearchQueries['listSpans']> & {
  /** Only from listSpansWithTexts. */
  readonly inputText?: string | null;
  readonly outputText?: string | null;
};
type Texts = RowOf<SearchQueries['findTexts']>;
const NO_TEXTS: Texts = { inputJson: null, outputJson: null };
type ErrorRow = RowOf<SearchQueries['listErrors']>;
const NONE: ReadonlyMap<number, readonly never[]> = new Map();

/** Storage wrote the JSON itself. */
function messageOf(errorJson: string): string {
  return (JSON.parse(errorJson) as { readonly message: string }).message;
}

/** The summary that chooses the spans whose input, output and error stand for the trace. */
function toSummary({ traceSequence: _, inputText: __, outputText: ___, ...span }: SpanFacts): SpanSummary {
  return { ...NO_NUMBERS, ...span };
}
