/** Reading traces back. */

import type { ListPlace, ListRange, SizedText, StoredTrace, TraceStore } from '../../domain/store.ts';
import type { Evaluation, Span, SpanSummary, TraceRecord } from '../../domain/trace.ts';
import type { SpanLink } from '../../domain/trace-tree.ts';
import { completeSums } from '../reading/complete-sums.ts';
import { createLimiter } from '../reading/limiter.ts';
import { createOutlineReads, isLarge, type TraceReads, takeInTurns } from '../reading/trace-reads.ts';
import { keepSums, readSums } from './aggregates.ts';
import type { Lane, Statement } from './connection.ts';
import { EVALUATION_BYTES, EVALUATION_SELECT } from './evaluation-rows.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';
import {
  SPAN_BYTES,
  SPAN_SELECT,
  type SpanRow,
  SUMMARY_SELECT,
  type SummaryRow,
  TRACE_SELECT,
  toSpan,
  toSummary,
} from './trace-rows.ts';

export type TraceReader = Omit<TraceStore, 'append'>;

// What looks at all spans of a trace holds all of their ids.
const WHOLE_TRACES = { runningMax: 2, waitingMax: 64 };
// Large traces are read in parts, with room for others in between.
const LINKS_PER_PART = 2000;
const ROWS_PER_PART = 250;
const LAST_CHARACTER = '\u{10ffff}';
// PostgreSQL refuses it in text, so nothing that is stored has it.
const NUL = '\u0000';
const BEFORE_ALL: ListPlace = { atMs: Number.MIN_SAFE_INTEGER, id: '' };

/** `writes` is for what a read has found out and is worth keeping. */
export function createTraceReader(lane: Lane, writes: Lane): TraceReader {
  const limit = createLimiter(WHOLE_TRACES);

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

  /** The rows of the given ids that there are, in their order. */
  async function readEach<Row>({ statement, trace, ids, idOf }: Reading<Row>): Promise<readonly Row[]> {
    const found: Row[] = [];
    for (let start = 0; start < ids.length; start += ROWS_PER_PART) {
      const part = ids.slice(start, start + ROWS_PER_PART).filter((id) => !id.includes(NUL));
      const rows = await lane.ask<Row>(statement, [trace.projectNumber, trace.sequence, part]);
      const byId = new Map(rows.map((row) => [idOf(row), row]));
      for (const id of part) {
        const row = byId.get(id);
        if (row !== undefined) found.push(row);
      }
    }
    return found;
  }

  async function readSpans(trace: StoredTrace, ids: readonly string[]): Promise<readonly Span[]> {
    const rows = await readEach<SpanRow>({ statement: SPANS, trace, ids, idOf: ({ spanId }) => spanId });
    return rows.map(toSpan);
  }

  async function readSummaries(trace: StoredTrace, ids: readonly string[]): Promise<readonly SpanSummary[]> {
    const rows = await readEach<SummaryRow>({ statement: SUMMARIES, trace, ids, idOf: ({ spanId }) => spanId });
    return rows.map(toSummary);
  }

  async function readOrder(statement: Statement, { projectNumber, sequence }: StoredTrace, range: ListRange) {
    const { atMs, id } = range.after ?? BEFORE_ALL;
    return await lane.ask<ListPlace & SizedText>(statement, [projectNumber, sequence, atMs, id, range.limit]);
  }

  const outlines: Pick<TraceReads, 'outline' | 'digest'> = createOutlineReads(
    {
      spans: readSpans,
      links: (trace) => (isLarge(trace) ? readLinks(lane, trace) : lane.ask<SpanLink>(LINKS, keyOf(trace))),
      summaries: readSummaries,
    },
    takeInTurns,
  );
  return {
    find: completeSums({
      find,
      sums: (trace) => limit(() => readSums(lane, trace)),
      keep: (...kept) => keepSums(writes, ...kept),
    }),
    findByPrefix,
    outline: (trace) => (isLarge(trace) ? limit(() => outlines.outline(trace)) : outlines.outline(trace)),
    digest: (trace) => (isLarge(trace) ? limit(() => outlines.digest(trace)) : outlines.digest(trace)),
    spanOrder: (trace, range) => readOrder(SPAN_ORDER, trace, range),
    spans: readSpans,
    evaluationOrder: (trace, range) => readOrder(EVALUATION_ORDER, trace, range),
    evaluations: (trace, ids) =>
      readEach<Evaluation>({ statement: EVALUATIONS, trace, ids, idOf: ({ evaluationId }) => evaluationId }),
  };
}

type Reading<Row> = {
  readonly statement: Statement;
  readonly trace: StoredTrace;
  readonly ids: readonly string[];
  readonly idOf: (row: Row) => string;
};

function keyOf({ projectNumber, sequence }: StoredTrace): readonly number[] {
  return [projectNumber, sequence];
}

/** Sorted once, then handed over in parts. */
async function readLinks(lane: Lane, { projectNumber, sequence }: StoredTrace): Promise<readonly SpanLink[]> {
  try {
    return await lane.hold(async (client) => {
      const found: SpanLink[] = [];
      await client.query('BEGIN READ ONLY');
      await client.query({ text: `DECLARE links CURSOR FOR ${LINKS.text}`, values: [projectNumber, sequence] });
      for (;;) {
        const { rows } = await client.query<SpanLink>(`FETCH ${LINKS_PER_PART} FROM links`);
        for (const row of rows) found.push(row);
        if (rows.length < LINKS_PER_PART) break;
      }
      await client.query('COMMIT');
      return found;
    });
  } catch (error) {
    throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
  }
}

const OF_TRACE = 'project_number = $1 AND trace_sequence = $2';

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

const LINKS: Statement = {
  name: 'list-span-links',
  text: `SELECT span_id AS "spanId", parent_id AS "parentId" FROM spans WHERE ${OF_TRACE} ORDER BY started_at, span_id`,
};

const SUMMARIES: Statement = {
  name: 'find-span-summaries',
  text: `${SUMMARY_SELECT} WHERE ${OF_TRACE} AND span_id = ANY ($3)`,
};

const SPAN_ORDER: Statement = {
  name: 'list-span-order',
  text: `SELECT started_at AS "atMs", span_id AS id, ${SPAN_BYTES} AS bytes FROM spans
    WHERE ${OF_TRACE} AND (started_at, span_id) > ($3, $4) ORDER BY started_at, span_id LIMIT $5`,
};

const SPANS: Statement = {
  name: 'find-spans',
  text: `${SPAN_SELECT} WHERE ${OF_TRACE} AND span_id = ANY ($3)`,
};

const EVALUATION_ORDER: Statement = {
  name: 'list-evaluation-order',
  text: `SELECT inserted_at AS "atMs", evaluation_id AS id, ${EVALUATION_BYTES} AS bytes FROM evaluations
    WHERE ${OF_TRACE} AND (inserted_at, evaluation_id) > ($3, $4) ORDER BY inserted_at, evaluation_id LIMIT $5`,
};

const EVALUATIONS: Statement = {
  name: 'find-evaluations',
  text: `${EVALUATION_SELECT} WHERE ${OF_TRACE} AND evaluation_id = ANY ($3)`,
};
