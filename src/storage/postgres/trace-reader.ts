/** Reading traces back. */

import type { TraceStore } from '../../domain/store.ts';
import type { Evaluation, Span, SpanSummary, TraceRecord } from '../../domain/trace.ts';
import type { Lane, Statement } from './connection.ts';
import { EVALUATION_SELECT } from './evaluation-rows.ts';
import {
  SPAN_SELECT,
  type SpanRow,
  SUMMARY_SELECT,
  type SummaryRow,
  TRACE_SELECT,
  toSpan,
  toSummary,
} from './trace-rows.ts';

export type TraceReader = Omit<TraceStore, 'append'>;

// Large traces are read in parts, so that no answer of the database takes more memory than others leave.
const SUMMARIES_PER_PART = 2000;
const SPANS_PER_PART = 250;
const LAST_CHARACTER = '\u{10ffff}';
// PostgreSQL refuses it in text, so nothing that is stored has it.
const NUL = '\u0000';

export function createTraceReader(lane: Lane): TraceReader {
  async function find(projectNumber: number, traceId: string): Promise<TraceRecord | null> {
    if (traceId.includes(NUL)) return null;
    const [record] = await lane.ask<TraceRecord>(FIND, [projectNumber, traceId]);
    return record ?? null;
  }

  async function findByPrefix(
    projectNumber: number,
    prefix: string,
    sinceMs: number,
    limit: number,
  ): Promise<readonly string[]> {
    if (prefix.includes(NUL)) return [];
    const bounds = [prefix, prefix + LAST_CHARACTER];
    const rows = await lane.ask<{ traceId: string }>(FIND_BY_PREFIX, [projectNumber, ...bounds, sinceMs, limit]);
    return rows.map((row) => row.traceId);
  }

  async function summaries(projectNumber: number, sequence: number): Promise<readonly SpanSummary[]> {
    const found: SpanSummary[] = [];
    let after = '';
    for (;;) {
      const rows = await lane.ask<SummaryRow>(SUMMARIES, [projectNumber, sequence, after, SUMMARIES_PER_PART]);
      for (const row of rows) found.push(toSummary(row));
      const last = rows.at(-1);
      // They came by id, which sorting by start leaves in place among those of one start.
      if (last === undefined || rows.length < SUMMARIES_PER_PART) {
        return found.sort((a, b) => a.startedAtMs - b.startedAtMs);
      }
      after = last.spanId;
    }
  }

  async function spans(projectNumber: number, sequence: number, spanIds: readonly string[]): Promise<readonly Span[]> {
    const wanted = spanIds.filter((id) => !id.includes(NUL));
    const found: Span[] = [];
    for (let start = 0; start < wanted.length; start += SPANS_PER_PART) {
      const part = wanted.slice(start, start + SPANS_PER_PART);
      const rows = await lane.ask<SpanRow>(SPANS, [projectNumber, sequence, part]);
      const byId = new Map(rows.map((row) => [row.spanId, row]));
      for (const id of part) {
        const row = byId.get(id);
        if (row !== undefined) found.push(toSpan(row));
      }
    }
    return found;
  }

  return {
    find,
    findByPrefix,
    summaries,
    spans,
    evaluations: (projectNumber, sequence) => lane.ask<Evaluation>(EVALUATIONS, [projectNumber, sequence]),
  };
}

const FIND: Statement = {
  name: 'find-trace',
  text: `${TRACE_SELECT} WHERE project_number = $1 AND trace_id = $2`,
};

const FIND_BY_PREFIX: Statement = {
  name: 'find-traces-by-prefix',
  text: `SELECT trace_id AS "traceId" FROM traces
    WHERE project_number = $1 AND trace_id BETWEEN $2 AND $3 AND inserted_at >= $4
    ORDER BY trace_id LIMIT $5`,
};

const SUMMARIES: Statement = {
  name: 'list-span-summaries',
  text: `${SUMMARY_SELECT} WHERE project_number = $1 AND trace_sequence = $2 AND span_id > $3 ORDER BY span_id LIMIT $4`,
};

const SPANS: Statement = {
  name: 'find-spans',
  text: `${SPAN_SELECT} WHERE project_number = $1 AND trace_sequence = $2 AND span_id = ANY ($3)`,
};

const EVALUATIONS: Statement = {
  name: 'list-evaluations',
  text: `${EVALUATION_SELECT} WHERE project_number = $1 AND trace_sequence = $2 ORDER BY inserted_at, evaluation_id`,
};
