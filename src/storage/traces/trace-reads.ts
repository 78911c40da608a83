/** Reads of a trace that was found, the same for every store. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createCooperativeRunner, type RunCooperatively } from '../../domain/steps.ts';
import { listCalls } from '../../domain/traces/call-settlement.ts';
import type { ListRange, StoredTrace, TraceOutline, TraceStore } from '../../domain/traces/telemetry-port.ts';
import { SPAN_TYPES, type SpanSummary } from '../../domain/traces/trace.ts';
import {
  aggregatesOf,
  choiceOf,
  readAggregates,
  SPANS_READ_THROUGH_MAX,
} from '../../domain/traces/trace-aggregates.ts';
import { createDigest } from '../../domain/traces/trace-digest.ts';
import { createRecomputation, type TraceState } from '../../domain/traces/trace-growth.ts';
import { drawTree, layOutTree, type SpanLink } from '../../domain/traces/trace-tree.ts';
import { spanTypes } from '../rows/codes.ts';
import type { Query } from '../statements/statement.ts';
import { type Queries, type QueryRunner, queryInBatches } from '../transaction.ts';
import { createRowReads } from './trace-rows.ts';

type TraceRunner = QueryRunner<Queries['traces']> & {
  /** Calls `take` with each of very many rows, in pages where that lets others run. */
  readonly queryForEach: <Params, Row>(
    query: Query<Params, Row>,
    params: Params,
    take: (row: Row) => void,
  ) => Promise<void>;
};

/** Reads of traces other than finding them. */
export type TraceReads = Pick<
  TraceStore,
  | 'rows'
  | 'outline'
  | 'digest'
  | 'calls'
  | 'spanOrder'
  | 'spanIdsOfType'
  | 'spans'
  | 'versionedSpan'
  | 'evaluationOrder'
  | 'evaluations'
>;

/** Reads that may go through everything of a trace. */
export type WholeTraceReads = Omit<TraceReads, 'rows' | 'spans' | 'versionedSpan' | 'evaluations'> & {
  /** Computed from all its spans. */
  sums(trace: StoredTrace): Promise<TraceState>;
};

// Each span may be as large as a request.
const DIGEST_SPANS_AT_ONCE = 8;

type Limit = <T>(read: (trace: StoredTrace) => Promise<T>) => (trace: StoredTrace) => Promise<T>;

/** Limits reads of all spans where they are many. */
export function limitWholeReads<Reads extends TraceReads & Pick<WholeTraceReads, 'sums'>>(
  reads: Reads,
  limit: Limit,
): Reads {
  function ofLarge<T>(read: (trace: StoredTrace) => Promise<T>) {
    const limited = limit(read);
    return (trace: StoredTrace) => (isLarge(trace) ? limited(trace) : read(trace));
  }
  return {
    ...reads,
    sums: limit(reads.sums),
    outline: ofLarge(reads.outline),
    digest: ofLarge(reads.digest),
    calls: ofLarge(reads.calls),
  };
}

/** Whether a trace has so many spans that reading them all takes long. */
export function isLarge({ spanCount }: StoredTrace): boolean {
  return spanCount > SPANS_READ_THROUGH_MAX;
}

const BEFORE_ALL = { atMs: Number.MIN_SAFE_INTEGER, startedNs: 0, durationMs: 0, finishedNs: 0, id: '' };

export function createTraceReads(
  runner: TraceRunner,
  runCooperatively: RunCooperatively,
): TraceReads & WholeTraceReads {
  const { queries, runQuery, queryForEach, idsPerQuery } = runner;

  /** The existing rows of the ids, in the order of the ids. */
  async function readEach<Row>({ query, trace, ids, idOf }: Reading<Row>): Promise<readonly Row[]> {
    const rows = await queryInBatches(ids, idsPerQuery, (batch) => runQuery(query, { ...keyOf(trace), ids: batch }));
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
  }

  async function links(trace: StoredTrace): Promise<readonly SpanLink[]> {
    if (!isLarge(trace)) return await runQuery(queries.listLinks, keyOf(trace));
    const found: SpanLink[] = [];
    await queryForEach(queries.listLinks, keyOf(trace), (link) => found.push(link));
    return found;
  }

  const spans: TraceReads['spans'] = (trace, ids) =>
    readEach({ query: queries.findSpans, trace, ids, idOf: ({ spanId }) => spanId });

  async function outline(trace: StoredTrace): Promise<TraceOutline> {
    const all = await links(trace);
    const layout = await runCooperatively(layOutTree(all));
    const shown = isLarge(trace) ? layout.lines : all;
    const summaries = await readEach({
      query: queries.findSummaries,
      trace,
      ids: shown.map(({ spanId }) => spanId),
      idOf: ({ spanId }) => spanId,
    });
    const { aggregatesJson } = trace;
    const aggregates = aggregatesJson === null ? aggregatesOf(summaries) : readAggregates(aggregatesJson);
    const titles = new Map(summaries.map((summary) => [summary.spanId, summary]));
    return { choice: choiceOf(aggregates), tree: drawTree(layout, titles) };
  }

  async function digest(trace: StoredTrace): Promise<string> {
    const layout = await runCooperatively(layOutTree(await links(trace)));
    const text = createDigest(layout);
    const { lines } = layout;
    for (let start = 0; start < lines.length; start += DIGEST_SPANS_AT_ONCE) {
      const batch = lines.slice(start, start + DIGEST_SPANS_AT_ONCE);
      const ids = batch.map(({ spanId }) => spanId);
      const found = new Map((await spans(trace, ids)).map((span) => [span.spanId, span]));
      for (const line of batch) {
        const span = found.get(line.spanId);
        if (span !== undefined && !(await runCooperatively(text.add(line, span)))) return text.text();
      }
    }
    return text.text();
  }

  return {
    rows: createRowReads(runner),
    outline,
    digest,
    spans,
    async versionedSpan(trace, spanId) {
      const [found] = await runQuery(queries.findVersionedSpans, { ...keyOf(trace), ids: [spanId] });
      if (found === undefined) return null;
      const { version, ...span } = found;
      return { span, version: version ?? 0 };
    },
    async sums(trace) {
      const recomputation = createRecomputation();
      await queryForEach(queries.listLinkedSummaries, keyOf(trace), recomputation.add);
      return recomputation.end();
    },
    async calls(trace) {
      const spans: SpanSummary[] = [];
      await queryForEach(queries.listSummaries, keyOf(trace), (span) => spans.push(span));
      const sharers = await runQuery(queries.listSharers, keyOf(trace));
      return listCalls(
        spans,
        sharers.map(({ spanId }) => spanId),
      );
    },
    spanOrder: (trace, range) => runQuery(queries.listSpanOrder, rangeOf(trace, range, BEFORE_ALL)),
    async spanIdsOfType(trace, { type, order, limit }) {
      const known = SPAN_TYPES.find((each) => each === type);
      if (known === undefined) return [];
      const query = order === 'first' ? queries.listFirstOfType : queries.listLastOfType;
      const found = await runQuery(query, { ...keyOf(trace), type: spanTypes.code(known), limit });
      return found.map(({ spanId }) => spanId);
    },
    evaluationOrder: (trace, range) => runQuery(queries.listEvaluationOrder, rangeOf(trace, range, BEFORE_ALL)),
    evaluations: (trace, ids) =>
      readEach({ query: queries.findEvaluations, trace, ids, idOf: ({ evaluationId }) => evaluationId }),
  };
}

type OfSome = ReturnType<typeof keyOf> & { readonly ids: readonly string[] };

type Reading<Row> = {
  readonly query: Query<OfSome, Row>;
  readonly trace: StoredTrace;
  readonly ids: readonly string[];
  readonly idOf: (row: Row) => string;
};

function keyOf({ projectNumber, sequence }: StoredTrace) {
  return { projectNumber, sequence };
}

function rangeOf<Position>(trace: StoredTrace, { after, limit }: ListRange<Position>, beforeAll: Position) {
  return { ...keyOf(trace), ...(after ?? beforeAll), limit };
}

/** Lets other work run between steps. */
export const runCooperatively: RunCooperatively = createCooperativeRunner({
  yieldToEventLoop,
  nowMs: () => performance.now(),
});
