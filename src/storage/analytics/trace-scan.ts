/** Scans traces by their start, with their metadata and spans where a query needs them, batch by batch. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { TraceRange } from '../../domain/analytics/trace-analytics-store.ts';
import { withShares } from '../../domain/traces/shares/shares.ts';
import { isOutdated } from '../../domain/traces/trace-aggregates.ts';
import { totalsOf } from '../../domain/traces/trace-totals.ts';
import { cutIntoBatches, METADATA_BYTES_AT_ONCE, readPages, readSpansOf, SPANS_AT_ONCE } from '../long-reads.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Queries, QueryRunner } from '../transaction.ts';

export type AnalyticsQueries = Queries['analytics'] &
  Pick<Queries['searchIndex'], 'listPending'> &
  Pick<Queries['traces'], 'listOutdated'>;
export type AnalyticsRunner = QueryRunner<AnalyticsQueries> & {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

type TraceRow = RowOf<AnalyticsQueries['listTraces']>;
type SpanRow = RowOf<AnalyticsQueries['listSpans']>;

/** `metadataJson` is null, and `spans` is empty, unless needed. Spans have their shares. Outdated totals are computed from the spans. */
type TraceFacts = {
  readonly trace: TraceRow;
  readonly metadataJson: string | null;
  readonly spans: readonly SpanRow[];
};

/** Both ends of both ranges are inclusive. */
export type ScanRange = {
  readonly projectNumber: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** The receipt of the traces. */
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
  readonly size: 'any' | 'small' | 'large';
};

/** All traces of a query. */
export function wholeRange({ projectNumber, expiredBeforeMs, fromMs, toMs }: TraceRange): ScanRange {
  const receivedFromMs = expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
  return { projectNumber, fromMs, toMs, receivedFromMs, receivedToMs: Number.MAX_SAFE_INTEGER, size: 'any' };
}

export type Needs = {
  readonly metadata: boolean;
  readonly spans: boolean;
  /** At most two substrings of the metadata; other traces are left out. */
  readonly needles: readonly string[];
};

const TRACES_AT_ONCE = 1_000;
const FIRST_SEQUENCE = -1;

/** Yields batches, and lets other reads run in between. */
export async function* scanTraces(
  runner: AnalyticsRunner,
  { size, ...range }: ScanRange,
  needs: Needs,
): AsyncGenerator<readonly TraceFacts[]> {
  const { queries, runQuery } = runner;
  const [firstNeedle = null, secondNeedle = null] = needs.needles;
  const { fromMs, ...bounds } = range;
  const list = queries[LISTINGS[size]];
  const pages = readPages<TraceRow>(TRACES_AT_ONCE, (last) => {
    const after = { afterMs: last?.startMs ?? fromMs, afterSequence: last?.sequence ?? FIRST_SEQUENCE };
    return runQuery(list, { ...bounds, firstNeedle, secondNeedle, ...after, limit: TRACES_AT_ONCE });
  });
  for await (const rows of pages) {
    for (const batch of cut(rows, needs)) {
      yield await readFacts(runner, bounds.projectNumber, { batch, needs });
      await yieldToEventLoop();
    }
  }
}

const NAMED_AT_ONCE = 500;

/** The same for traces that are named by their sequences; those that were removed are left out. */
export async function* readTraces(
  runner: AnalyticsRunner,
  projectNumber: number,
  { sequences, needs }: { readonly sequences: readonly number[]; readonly needs: Omit<Needs, 'needles'> },
): AsyncGenerator<readonly TraceFacts[]> {
  const { queries, runQuery } = runner;
  for (let start = 0; start < sequences.length; start += NAMED_AT_ONCE) {
    const some = sequences.slice(start, start + NAMED_AT_ONCE);
    const rows = await runQuery(queries.listNamed, { projectNumber, sequences: some });
    for (const batch of cut(rows, needs)) {
      yield await readFacts(runner, projectNumber, { batch, needs });
      await yieldToEventLoop();
    }
  }
}

const LISTINGS = { any: 'listTraces', small: 'listSmallTraces', large: 'listLargeTraces' } as const;

function cut(rows: readonly TraceRow[], needs: Omit<Needs, 'needles'>): readonly (readonly TraceRow[])[] {
  return cutIntoBatches(
    rows,
    (row) => [needs.spans || isOutdated(row) ? row.spanCount : 0, needs.metadata ? row.metadataBytes : 0],
    [SPANS_AT_ONCE, METADATA_BYTES_AT_ONCE],
  );
}

async function readFacts(
  { queries, runQuery }: AnalyticsRunner,
  projectNumber: number,
  { batch, needs }: { readonly batch: readonly TraceRow[]; readonly needs: Omit<Needs, 'needles'> },
): Promise<readonly TraceFacts[]> {
  const spans = await readSpansOf<SpanRow>(needs.spans ? batch : batch.filter(isOutdated), {
    list: (sequences) => runQuery(queries.listSpans, { projectNumber, sequences }),
    listBehind: (page) => runQuery(queries.listSpansBehind, { projectNumber, ...page }),
  });
  const sequences = batch.map(({ sequence }) => sequence);
  const metadata = needs.metadata ? await runQuery(queries.listMetadata, { projectNumber, sequences }) : [];
  const metadataOf = new Map(metadata.map(({ sequence, metadataJson }) => [sequence, metadataJson]));
  return batch.map((trace) => {
    const shared = withShares(spans.get(trace.sequence) ?? []);
    const metadataJson = metadataOf.get(trace.sequence) ?? null;
    return { trace: isOutdated(trace) ? withTotals(trace, shared) : trace, metadataJson, spans: shared };
  });
}

function withTotals(trace: TraceRow, spans: readonly SpanRow[]): TraceRow {
  const summaries = spans.map(({ startedAtMs, durationMs, firstTokenMs, ...span }) => ({
    ...{ ...span, tokensEstimated: false, startedAtMs, finishedAtMs: startedAtMs + durationMs },
    firstTokenAtMs: firstTokenMs === null ? null : startedAtMs + firstTokenMs,
  }));
  const totals = totalsOf(summaries);
  return { ...trace, ...totals, durationMs: totals.totalTimeMs };
}
