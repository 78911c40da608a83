/** Reading traces back. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListRange, StoredTrace, TraceStore } from '../../domain/store.ts';
import { createOutlineReads, type TakeSteps, type TraceReads, type WholeTraceReads } from '../reading/trace-reads.ts';
import { idTextSql, packId, packPrefixRange, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { EVALUATION_BYTES, EVALUATION_SELECT, type EvaluationRow, toEvaluation } from './evaluation-rows.ts';
import type { ReadLane } from './read-lane.ts';
import { prepareSums } from './sums.ts';
import {
  SPAN_BYTES,
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

export type TraceFinder = Pick<TraceStore, 'find' | 'findByPrefix'>;

export type TraceReader = TraceReads &
  WholeTraceReads & {
    /** Whether the trace has so many evaluations that looking at all of them takes long. */
    hasManyEvaluations(trace: StoredTrace): Promise<boolean>;
  };

// Rows are read in parts, with room for others in between.
const ROWS_PER_PART = 100;
const EVALUATIONS_SOON_READ_MAX = 200;
const LAST_CHARACTER = '\u{10ffff}';
const BEFORE_ALL = { atMs: Number.MIN_SAFE_INTEGER, id: '' };

export function prepareTraceFinder(db: Database, lane: ReadLane): TraceFinder {
  const find = db.prepare<[number, StoredId], TraceRow>(`${TRACE_SELECT} WHERE project_number = ? AND trace_id = ?`);
  const idsBetween = db
    .prepare<[number, StoredId, StoredId, number, number], string>(
      `SELECT ${idTextSql('trace_id')} FROM traces
       WHERE project_number = ? AND trace_id BETWEEN ? AND ? AND inserted_at >= ?
       ORDER BY trace_id LIMIT ?`,
    )
    .pluck();
  return {
    find: (projectNumber, traceId) =>
      lane(() => {
        const row = find.get(projectNumber, packId(traceId));
        return row === undefined ? null : toTraceRecord(row);
      }),
    findByPrefix: (projectNumber, prefix, sinceMs, limit) =>
      lane(() => {
        const { first, last } = packPrefixRange(prefix) ?? {};
        const inBytes =
          first === undefined || last === undefined ? [] : idsBetween.all(projectNumber, first, last, sinceMs, limit);
        const inText = idsBetween.all(projectNumber, prefix, prefix + LAST_CHARACTER, sinceMs, limit);
        return [...inBytes, ...inText].sort().slice(0, limit);
      }),
  };
}

export function prepareTraceReader(db: Database, lane: ReadLane, takeSteps: TakeSteps): TraceReader {
  const statements = prepareStatements(db);
  const sums = prepareSums(db);

  /** The rows of the given ids that there are, in their order. */
  async function readEach<Row>(ids: readonly string[], read: (id: string) => Row | undefined): Promise<readonly Row[]> {
    const found: Row[] = [];
    for (let start = 0; start < ids.length; start += ROWS_PER_PART) {
      if (start > 0) await nextTurn();
      const part = ids.slice(start, start + ROWS_PER_PART);
      const rows = await lane(() => part.map(read));
      for (const row of rows) if (row !== undefined) found.push(row);
    }
    return found;
  }

  async function spans({ projectNumber, sequence }: StoredTrace, spanIds: readonly string[]) {
    return (await readEach(spanIds, (id) => statements.span.get(projectNumber, sequence, packId(id)))).map(toSpan);
  }

  const outlines = createOutlineReads(
    {
      spans,
      links: ({ projectNumber, sequence }) => lane(() => statements.links.all(projectNumber, sequence)),
      summaries: async ({ projectNumber, sequence }, ids) =>
        (await readEach(ids, (id) => statements.summary.get(projectNumber, sequence, packId(id)))).map(toSummary),
    },
    takeSteps,
  );
  return {
    ...outlines,
    sums: (trace) => lane(() => sums(trace)),
    spans,
    spanOrder: (trace, range) => lane(() => statements.spanOrder.all(...rangeCells(trace, range))),
    evaluationOrder: (trace, range) => lane(() => statements.evaluationOrder.all(...rangeCells(trace, range))),
    evaluations: async ({ projectNumber, sequence }, ids) =>
      (await readEach(ids, (id) => statements.evaluation.get(projectNumber, sequence, id))).map(toEvaluation),
    hasManyEvaluations: ({ projectNumber, sequence }) =>
      lane(() => statements.manyEvaluations.get(projectNumber, sequence) !== undefined),
  };
}

type RangeCells = [number, number, number, string, number];

function rangeCells({ projectNumber, sequence }: StoredTrace, { after, limit }: ListRange): RangeCells {
  const { atMs, id } = after ?? BEFORE_ALL;
  return [projectNumber, sequence, atMs, id, limit];
}

type OrderRow = { readonly atMs: number; readonly id: string; readonly bytes: number };
type LinkRow = { readonly spanId: string; readonly parentId: string | null };

function prepareStatements(db: Database) {
  // By the bytes of the text, which those of its stored form do not follow.
  const spanId = idTextSql('span_id');
  const ofTrace = 'project_number = ? AND trace_sequence = ?';
  return {
    links: db.prepare<[number, number], LinkRow>(
      `SELECT ${spanId} AS spanId, ${idTextSql('parent_id')} AS parentId FROM spans WHERE ${ofTrace}
       ORDER BY started_at, ${spanId}`,
    ),
    summary: db.prepare<[number, number, StoredId], SummaryRow>(`${SUMMARY_SELECT} WHERE ${ofTrace} AND span_id = ?`),
    spanOrder: db.prepare<RangeCells, OrderRow>(
      `SELECT started_at AS atMs, ${spanId} AS id, ${SPAN_BYTES} AS bytes FROM spans
       WHERE ${ofTrace} AND (started_at, ${spanId}) > (?, ?) ORDER BY started_at, ${spanId} LIMIT ?`,
    ),
    span: db.prepare<[number, number, StoredId], SpanRow>(`${SPAN_SELECT} WHERE ${ofTrace} AND span_id = ?`),
    evaluationOrder: db.prepare<RangeCells, OrderRow>(
      `SELECT inserted_at AS atMs, evaluation_id AS id, ${EVALUATION_BYTES} AS bytes FROM evaluations
       WHERE ${ofTrace} AND (inserted_at, evaluation_id) > (?, ?) ORDER BY inserted_at, evaluation_id LIMIT ?`,
    ),
    evaluation: db.prepare<[number, number, string], EvaluationRow>(
      `${EVALUATION_SELECT} WHERE ${ofTrace} AND evaluation_id = ?`,
    ),
    manyEvaluations: db.prepare<[number, number]>(
      `SELECT 1 FROM evaluations WHERE ${ofTrace} LIMIT 1 OFFSET ${EVALUATIONS_SOON_READ_MAX}`,
    ),
  };
}
