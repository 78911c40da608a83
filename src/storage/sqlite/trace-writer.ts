/** Applies one collector request to the tables, inside a transaction that somebody else begins and ends. */

import type { Evaluation, Span, TraceAppend, TraceTotals } from '../../domain/trace.ts';
import { mergeMetadata } from '../../domain/trace-metadata.ts';
import { summaryOf, totalsOf } from '../../domain/trace-totals.ts';
import { addTotals } from '../add-totals.ts';
import { packId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { EVALUATION_COLUMNS, EVALUATION_KEY, evaluationCells } from './evaluation-rows.ts';
import type { LogHeads } from './log-heads.ts';
import { prepareRequestWriter } from './request-writer.ts';
import {
  type Cell,
  SPAN_COLUMNS,
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

type Merged = { readonly sequence: number; readonly metadataJson: string; readonly notes: readonly string[] };

export function prepareTraceWriter(db: Database): TraceWriter {
  const statements = prepareStatements(db);
  const requests = prepareRequestWriter(db);

  function apply(append: TraceAppend, heads: LogHeads): readonly string[] {
    const spans = lastOfEach(append.spans, (span) => span.spanId);
    const stored = statements.find.get(append.projectNumber, packId(append.traceId));
    const merged = stored === undefined ? create(append, spans) : update(append, spans, stored);
    for (const evaluation of append.evaluations) storeEvaluation(append.projectNumber, merged.sequence, evaluation);
    if (append.requests.length > 0) completeRequests(append, merged.metadataJson, heads);
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
    return { sequence, metadataJson, notes };
  }

  function update(append: TraceAppend, spans: readonly Span[], row: TraceRow): Merged {
    const { json: metadataJson, notes } = mergeMetadata(row.metadataJson, append.metadataJson);
    const { sequence } = row;
    const totals = storeSpans(append.projectNumber, spans, row);
    statements.update.run(
      ...traceCells({
        totals,
        metadataJson,
        expectedOutput: append.expectedOutput === undefined ? row.expectedOutput : append.expectedOutput,
        updatedAtMs: Math.max(row.updatedAtMs, append.receivedAtMs),
      }),
      sequence,
    );
    return { sequence, metadataJson, notes };
  }

  /** Stores spans of a known trace and answers its new totals. */
  function storeSpans(projectNumber: number, spans: readonly Span[], row: TraceRow): TraceTotals {
    let replaced = false;
    for (const span of spans) {
      const cells = spanCells(projectNumber, row.sequence, span);
      if (statements.insertSpan.run(...cells).changes === 1) continue;
      statements.replaceSpan.run(...cells);
      replaced = true;
    }
    if (!replaced) return addTotals(toTraceRecord(row), totalsOf(spans.map(summaryOf)));
    // What the replaced spans had contributed is known no more.
    return totalsOf(statements.summaries.all(projectNumber, row.sequence).map(toSummary));
  }

  function storeEvaluation(projectNumber: number, sequence: number, evaluation: Evaluation): void {
    const { evaluationId, insertedAtMs } = evaluation;
    statements.storeEvaluation.run(projectNumber, sequence, evaluationId, insertedAtMs, ...evaluationCells(evaluation));
  }

  function completeRequests(append: TraceAppend, metadataJson: string, heads: LogHeads): void {
    const head = heads.take(append.organizationNumber);
    const winners = new Map(append.spans.map((span, index) => [span.spanId, index]));
    for (const request of append.requests) {
      const span = append.spans[request.spanIndex];
      // A span that the same append overwrites is never stored, so nothing came of its request either.
      if (span === undefined || winners.get(span.spanId) !== request.spanIndex) continue;
      requests.complete({ append, request, span, metadataJson }, head);
    }
  }

  return { apply };
}

function lastOfEach<T>(items: readonly T[], idOf: (item: T) => string): readonly T[] {
  if (items.length < 2) return items;
  const last = new Map(items.map((item) => [idOf(item), item]));
  return last.size === items.length ? items : [...last.values()];
}

function prepareStatements(db: Database) {
  const insertSpan = `INTO spans (${SPAN_COLUMNS.join(', ')}) VALUES (${placeholders(SPAN_COLUMNS.length)})`;
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
      `INSERT ${insertSpan} ON CONFLICT (project_number, trace_sequence, span_id) DO NOTHING`,
    ),
    replaceSpan: db.prepare<Cell[]>(`INSERT OR REPLACE ${insertSpan}`),
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
