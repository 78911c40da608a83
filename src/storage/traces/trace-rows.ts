/** Reads what lists show of many traces: the traces, their spans and their evaluations, each in one query. */

import type { TraceRow, TraceStore } from '../../domain/traces/telemetry-port.ts';
import type { ChosenTexts, Evaluation, TraceRecord } from '../../domain/traces/trace.ts';
import { SPANS_READ_THROUGH_MAX, type TraceChoice } from '../../domain/traces/trace-aggregates.ts';
import { choiceAmong, cutIntoBatches } from '../long-reads.ts';
import { unpackTyped } from '../rows/codes.ts';
import type { RowOf } from '../statements/statement.ts';
import { type Queries, type QueryRunner, queryInBatches } from '../transaction.ts';

type Runner = QueryRunner<Queries['traces']>;
type Found = RowOf<Queries['traces']['findRows']>;
type SpanRow = RowOf<Queries['traces']['listSpansWithTexts']>;
type EvaluationRow = RowOf<Queries['traces']['listRowEvaluations']>;

/** Of traces with more spans, the texts of those that stand for the trace are read one by one. */
const SPANS_WITH_TEXTS_MAX = 32;
/** At once: SQLite reads them in the thread that answers requests. */
const SPANS_AT_ONCE = 500;
const EVALUATIONS_PER_TRACE_MAX = 100;
const EVALUATIONS_AT_ONCE = 1_000;
/** A longer text is read with its trace. */
const TEXT_BYTES_MAX = 2_048;
const NO_TEXTS = -1;

export function createRowReads({ queries, runQuery, idsPerQuery }: Runner): TraceStore['rows'] {
  async function spansOf(projectNumber: number, traces: readonly Found[]) {
    const spans: SpanRow[] = [];
    for (const [hasTexts, some] of Map.groupBy(traces, hasFewSpans)) {
      const bytesMax = hasTexts ? TEXT_BYTES_MAX : NO_TEXTS;
      for (const batch of cutIntoBatches(some, ({ spanCount }) => [spanCount], [SPANS_AT_ONCE])) {
        const sequences = batch.map(({ sequence }) => sequence);
        for (const span of await runQuery(queries.listSpansWithTexts, { projectNumber, sequences, bytesMax })) {
          spans.push(span);
        }
      }
    }
    return Map.groupBy(spans, ({ traceSequence }) => traceSequence);
  }

  /** By trace; without traces whose evaluations are many or long. */
  async function evaluationsOf(projectNumber: number, traces: readonly Found[]) {
    const sequences = traces.map(({ sequence }) => sequence);
    const limits = { bytesMax: TEXT_BYTES_MAX, limit: EVALUATIONS_AT_ONCE };
    const rows = await runQuery(queries.listRowEvaluations, { projectNumber, sequences, ...limits });
    // The last trace may have further ones, and those behind it were not read.
    const readTo = rows.length < EVALUATIONS_AT_ONCE ? Number.POSITIVE_INFINITY : (rows.at(-1)?.traceSequence ?? 0);
    const grouped = Map.groupBy(rows, ({ traceSequence }) => traceSequence);
    const read = sequences
      .filter((sequence) => sequence < readTo)
      .map((sequence) => ({
        sequence,
        evaluations: grouped.get(sequence) ?? [],
      }));
    return new Map(
      read
        .filter(({ evaluations }) => areShort(evaluations))
        .map(({ sequence, evaluations }) => [sequence, evaluations.toSorted(byInsertion).map(toEvaluation)]),
    );
  }

  return async (projectNumber, traceIds) => {
    const find = (ids: readonly string[]) => runQuery(queries.findRows, { projectNumber, ids });
    const found = (await queryInBatches(traceIds, idsPerQuery, find)).filter(isShort);
    if (found.length === 0) return [];
    const [spans, evaluations] = [await spansOf(projectNumber, found), await evaluationsOf(projectNumber, found)];
    return found.flatMap((trace): TraceRow[] => {
      const shown = evaluations.get(trace.sequence);
      if (shown === undefined) return [];
      const of = spans.get(trace.sequence) ?? [];
      const choice = choiceAmong(of);
      const texts = textsOf(choice, of);
      return [{ record: toRecord(trace), choice, hasSpans: of.length > 0, texts, evaluations: shown }];
    });
  };
}

function hasFewSpans({ spanCount }: Found): boolean {
  return spanCount <= SPANS_WITH_TEXTS_MAX;
}

/** Whether the row has all its texts, and its spans are few enough to be gone through. */
function isShort({ spanCount, aggregatesJson, metadataBytes, expectedOutputIsApart }: Found): boolean {
  const isSmall = spanCount <= SPANS_READ_THROUGH_MAX && aggregatesJson === null;
  // A computed flag is a number on SQLite.
  return isSmall && metadataBytes === null && !expectedOutputIsApart;
}

function toRecord({
  metadataBytes: _,
  expectedOutputIsApart: __,
  largeInlineBytes: ___,
  expectedOutputBytesApart: ____,
  ...record
}: Found): TraceRecord {
  return record;
}

/** Null when one of the texts is long. */
function textsOf(choice: TraceChoice, spans: readonly SpanRow[]): ChosenTexts | null {
  const of = (id: string | null) => spans.find(({ spanId }) => spanId === id);
  const [input, output, failed] = [of(choice.inputFromId), of(choice.outputFromId), of(choice.errorFromId)];
  const texts = {
    inputJson: unpackTyped(input?.inputJson ?? null),
    outputJson: unpackTyped(output?.outputJson ?? null),
    errorJson: failed?.errorJson ?? null,
  };
  const isLong =
    (input?.hasInput === true && texts.inputJson === null) ||
    (output?.hasOutput === true && texts.outputJson === null) ||
    (failed?.hasError === true && texts.errorJson === null);
  return isLong ? null : texts;
}

function areShort(evaluations: readonly EvaluationRow[]): boolean {
  return (
    evaluations.length <= EVALUATIONS_PER_TRACE_MAX && evaluations.every(({ textBytes }) => textBytes <= TEXT_BYTES_MAX)
  );
}

/** By insertion, then the bytes of the id. */
function byInsertion(one: EvaluationRow, other: EvaluationRow): number {
  return (
    one.insertedAtMs - other.insertedAtMs ||
    Buffer.compare(Buffer.from(one.evaluationId), Buffer.from(other.evaluationId))
  );
}

function toEvaluation({ traceSequence: _, textBytes: __, ...evaluation }: EvaluationRow): Evaluation {
  return evaluation as Evaluation;
}
