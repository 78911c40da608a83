/** Applies one collector request to the tables, inside a transaction that somebody else begins and ends. */

import { addTotals } from '../../domain/add-totals.ts';
import { readEventMetadata, requestIdOfStored } from '../../domain/request-event.ts';
import type { Evaluation, Span, TraceAppend, TraceTotals } from '../../domain/trace.ts';
import { mergeMetadata } from '../../domain/trace-metadata.ts';
import { summaryOf, totalsOf } from '../../domain/trace-totals.ts';
import { spanTypes } from './codes.ts';
import { packId, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { EVALUATION_COLUMNS, EVALUATION_KEY, evaluationCells } from './evaluation-rows.ts';
import type { LogHeads } from './log-heads.ts';
import { prepareRequestWriter } from './request-writer.ts';
import {
  type Cell,
  SPAN_COLUMNS,
  SPAN_EVENT_SELECT,
  type SpanEventRow,
  SUMMARY_SELECT,
  type SummaryRow,
  spanCells,
  TRACE_COLUMNS,
  TRACE_SELECT,
  type TraceRow,
  toSummary,
  toTraceRecord,
  traceCells,
} from './trace-rows.ts';

export type TraceWriter = {
  /** Answers what the merge of metadata kept out. */
  apply(append: TraceAppend, heads: LogHeads): readonly string[];
};

type Merged = {
  readonly sequence: number;
  readonly metadataJson: string;
  readonly notes: readonly string[];
  /** Ids of spans that had their event before. */
  readonly told: ReadonlySet<string>;
};

/** Spans for a trace that is stored. */
type Update = { readonly append: TraceAppend; readonly spans: readonly Span[]; readonly row: TraceRow };

const NONE_TOLD: ReadonlySet<string> = new Set();

export function prepareTraceWriter(db: Database): TraceWriter {
  const statements = prepareStatements(db);
  const requests = prepareRequestWriter(db);

  function apply(append: TraceAppend, heads: LogHeads): readonly string[] {
    const spans = lastOfEach(append.spans, (span) => span.spanId);
    const stored = statements.find.get(append.projectNumber, packId(append.traceId));
    const merged = stored === undefined ? create(append, spans) : update({ append, spans, row: stored }, heads);
    for (const evaluation of append.evaluations) storeEvaluation(append.projectNumber, merged.sequence, evaluation);
    if (append.requests.length > 0) completeRequests(append, merged, heads);
    return merged.notes;
  }

  function create(append: TraceAppend, spans: readonly Span[]): Merged {
    const { projectNumber, receivedAtMs } = append;
    const { json: metadataJson, notes } = mergeMetadata(null, append.metadataJson);
    const inserted = statements.insert.run(
      projectNumber,
      packId(append.traceId),
      receivedAtMs,
      ...traceCells({
        totals: totalsOf(spans.map(summaryOf)),
        metadataJson,
        expectedOutput: append.expectedOutput ?? null,
        updatedAtMs: receivedAtMs,
      }),
    );
    const sequence = Number(inserted.lastInsertRowid);
    for (const span of spans) statements.insertSpan.run(...spanCells(projectNumber, sequence, span));
    return { sequence, metadataJson, notes, told: NONE_TOLD };
  }

  function update({ append, spans, row }: Update, heads: LogHeads): Merged {
    const { json: metadataJson, notes } = mergeMetadata(row.metadataJson, append.metadataJson);
    const { sequence } = row;
    const { totals, told } = storeSpans({ append, spans, row }, heads);
    statements.update.run(
      ...traceCells({
        totals,
        metadataJson,
        expectedOutput: append.expectedOutput === undefined ? row.expectedOutput : append.expectedOutput,
        updatedAtMs: Math.max(row.updatedAtMs, append.receivedAtMs),
      }),
      sequence,
    );
    return { sequence, metadataJson, notes, told };
  }

  /** Stores spans of a known trace and answers its new totals. */
  function storeSpans(update: Update, heads: LogHeads): { totals: TraceTotals; told: ReadonlySet<string> } {
    const { append, spans, row } = update;
    const told = new Set<string>();
    let replaced = false;
    for (const span of spans) {
      const cells = spanCells(append.projectNumber, row.sequence, span);
      if (statements.insertSpan.run(...cells).changes === 1) continue;
      const emittedId = findEmittedId(update, span.spanId, heads);
      if (emittedId !== null) told.add(span.spanId);
      const follows = emittedId === requestIdOfStored(append.traceId, span);
      statements.replaceSpan.run(...cells, follows ? null : emittedId);
      replaced = true;
    }
    if (!replaced) return { totals: addTotals(toTraceRecord(row), totalsOf(spans.map(summaryOf))), told };
    // What the replaced spans had contributed is known no more.
    return { totals: totalsOf(statements.summaries.all(append.projectNumber, row.sequence).map(toSummary)), told };
  }

  /** The id of the request that a stored span had its event for; null when it had none. */
  function findEmittedId({ append, row }: Update, spanId: string, heads: LogHeads): string | null {
    const stored = statements.findSpanEvent.get(append.projectNumber, row.sequence, packId(spanId));
    if (stored === undefined) return null;
    const { type, paramsJson, emittedRequestId } = stored;
    const id =
      emittedRequestId ?? requestIdOfStored(append.traceId, { spanId, type: spanTypes.word(type), paramsJson });
    if (id === null) return null;
    // The project may not have emitted anything when the span came first.
    const head = heads.take(append.organizationNumber);
    return requests.hasOutcome({ append, gatewayRequestId: id }, head) ? id : null;
  }

  function storeEvaluation(projectNumber: number, sequence: number, evaluation: Evaluation): void {
    const { evaluationId, insertedAtMs } = evaluation;
    statements.storeEvaluation.run(projectNumber, sequence, evaluationId, insertedAtMs, ...evaluationCells(evaluation));
  }

  function completeRequests(append: TraceAppend, { metadataJson, told }: Merged, heads: LogHeads): void {
    const head = heads.take(append.organizationNumber);
    const winners = new Map(append.spans.map((span, index) => [span.spanId, index]));
    const metadata = once(() => readEventMetadata(metadataJson));
    for (const request of append.requests) {
      const span = append.spans[request.spanIndex];
      // A span that the same append overwrites is never stored, so nothing came of its request either.
      if (span === undefined || winners.get(span.spanId) !== request.spanIndex) continue;
      // What a span says when it is sent again may name another request, but it is still the same call.
      if (!told.has(span.spanId)) requests.complete({ append, request, span, metadata }, head);
    }
  }

  return { apply };
}

/** Large metadata takes long to read: not for each event again, and not at all when there is none. */
function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | null = null;
  return () => {
    known ??= { value: read() };
    return known.value;
  };
}

function lastOfEach<T>(items: readonly T[], idOf: (item: T) => string): readonly T[] {
  if (items.length < 2) return items;
  const last = new Map(items.map((item) => [idOf(item), item]));
  return last.size === items.length ? items : [...last.values()];
}

function prepareStatements(db: Database) {
  const intoSpans = (columns: readonly string[]) =>
    `INTO spans (${columns.join(', ')}) VALUES (${placeholders(columns.length)})`;
  const traceColumns = ['project_number', 'trace_id', 'inserted_at', ...TRACE_COLUMNS];
  const evaluationColumns = [...EVALUATION_KEY, 'inserted_at', ...EVALUATION_COLUMNS];
  return {
    find: db.prepare<[number, string | Buffer], TraceRow>(`${TRACE_SELECT} WHERE project_number = ? AND trace_id = ?`),
    insert: db.prepare<Cell[]>(
      `INSERT INTO traces (${traceColumns.join(', ')}) VALUES (${placeholders(traceColumns.length)})`,
    ),
    update: db.prepare<Cell[]>(
      `UPDATE traces SET ${TRACE_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE sequence = ?`,
    ),
    insertSpan: db.prepare<Cell[]>(
      `INSERT ${intoSpans(SPAN_COLUMNS)} ON CONFLICT (project_number, trace_sequence, span_id) DO NOTHING`,
    ),
    replaceSpan: db.prepare<Cell[]>(`INSERT OR REPLACE ${intoSpans([...SPAN_COLUMNS, 'emitted_request_id'])}`),
    findSpanEvent: db.prepare<[number, number, StoredId], SpanEventRow>(
      `${SPAN_EVENT_SELECT} WHERE project_number = ? AND trace_sequence = ? AND span_id = ?`,
    ),
    summaries: db.prepare<[number, number], SummaryRow>(
      `${SUMMARY_SELECT} WHERE project_number = ? AND trace_sequence = ?`,
    ),
    storeEvaluation: db.prepare<Cell[]>(
      `INSERT INTO evaluations (${evaluationColumns.join(', ')}) VALUES (${placeholders(evaluationColumns.length)})
       ON CONFLICT (${EVALUATION_KEY.join(', ')})
       DO UPDATE SET ${EVALUATION_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    ),
  };
}

function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}
