/** Reading traces back. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TraceStore } from '../../domain/store.ts';
import type { Span, SpanSummary } from '../../domain/trace.ts';
import { idTextSql, packId, packPrefixRange, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { EVALUATION_SELECT, type EvaluationRow, toEvaluation } from './evaluation-rows.ts';
import type { ReadLane } from './read-lane.ts';
import {
  SPAN_SELECT,
  type SpanRow,
  SUMMARY_SELECT,
  type SummaryRow,
  TRACE_SELECT,
  type TraceRow,
  toSpan,
  toSummary,
  toTraceRecord,
} from './trace-rows.ts';

export type TraceReader = Omit<TraceStore, 'append'>;

// Large traces are read in parts, with room for others in between.
const SUMMARIES_PER_PART = 2000;
const SPANS_PER_PART = 250;
const LAST_CHARACTER = '\u{10ffff}';

export function prepareTraceReader(db: Database, lane: ReadLane): TraceReader {
  const statements = prepareStatements(db);

  function summariesAfter(projectNumber: number, sequence: number, after: StoredId): Promise<readonly SummaryRow[]> {
    return lane(() => statements.summaries.all(projectNumber, sequence, after, SUMMARIES_PER_PART));
  }

  async function summaries(projectNumber: number, sequence: number): Promise<readonly SpanSummary[]> {
    const found: SpanSummary[] = [];
    let after: StoredId = '';
    for (;;) {
      const rows = await summariesAfter(projectNumber, sequence, after);
      for (const row of rows) found.push(toSummary(row));
      const last = rows.at(-1);
      if (last === undefined || rows.length < SUMMARIES_PER_PART) return found.sort(byStart);
      after = last.storedId;
      await nextTurn();
    }
  }

  async function spans(projectNumber: number, sequence: number, spanIds: readonly string[]): Promise<readonly Span[]> {
    const found: Span[] = [];
    for (let start = 0; start < spanIds.length; start += SPANS_PER_PART) {
      if (start > 0) await nextTurn();
      const part = spanIds.slice(start, start + SPANS_PER_PART);
      const rows = await lane(() => part.map((id) => statements.span.get(projectNumber, sequence, packId(id))));
      for (const row of rows) if (row !== undefined) found.push(toSpan(row));
    }
    return found;
  }

  return {
    find: (projectNumber, traceId) =>
      lane(() => {
        const row = statements.find.get(projectNumber, packId(traceId));
        return row === undefined ? null : toTraceRecord(row);
      }),
    findByPrefix: (projectNumber, prefix, sinceMs, limit) =>
      lane(() => {
        const range = packPrefixRange(prefix);
        const { first, last } = range ?? {};
        const inBytes =
          first === undefined || last === undefined
            ? []
            : statements.idsBetween.all(projectNumber, first, last, sinceMs, limit);
        const inText = statements.idsBetween.all(projectNumber, prefix, prefix + LAST_CHARACTER, sinceMs, limit);
        return [...inBytes, ...inText].sort().slice(0, limit);
      }),
    summaries,
    spans,
    evaluations: (projectNumber, sequence) =>
      lane(() => statements.evaluations.all(projectNumber, sequence).map(toEvaluation)),
  };
}

/** Ids by their bytes, which is not the order of JavaScript strings beyond the BMP. */
function byStart(a: SpanSummary, b: SpanSummary): number {
  if (a.startedAtMs !== b.startedAtMs) return a.startedAtMs - b.startedAtMs;
  return Buffer.compare(Buffer.from(a.spanId), Buffer.from(b.spanId));
}

function prepareStatements(db: Database) {
  return {
    find: db.prepare<[number, StoredId], TraceRow>(`${TRACE_SELECT} WHERE project_number = ? AND trace_id = ?`),
    idsBetween: db
      .prepare<[number, StoredId, StoredId, number, number], string>(
        `SELECT ${idTextSql('trace_id')} FROM traces
         WHERE project_number = ? AND trace_id BETWEEN ? AND ? AND inserted_at >= ?
         ORDER BY trace_id LIMIT ?`,
      )
      .pluck(),
    summaries: db.prepare<[number, number, StoredId, number], SummaryRow>(
      `${SUMMARY_SELECT} WHERE project_number = ? AND trace_sequence = ? AND span_id > ? ORDER BY span_id LIMIT ?`,
    ),
    span: db.prepare<[number, number, StoredId], SpanRow>(
      `${SPAN_SELECT} WHERE project_number = ? AND trace_sequence = ? AND span_id = ?`,
    ),
    evaluations: db.prepare<[number, number], EvaluationRow>(
      `${EVALUATION_SELECT} WHERE project_number = ? AND trace_sequence = ? ORDER BY inserted_at, evaluation_id`,
    ),
  };
}
