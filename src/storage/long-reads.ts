/** What long reads share: a bound on how many run at once and on what each holds, their time limit, and reading in pages. */

import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailableFault } from '../domain/fault.ts';
import { keyedGroupHash } from '../domain/group-parts.ts';
import type { SpanSummary } from '../domain/traces/trace.ts';
import { aggregatesOf, choiceOf, type TraceChoice } from '../domain/traces/trace-aggregates.ts';
import { createSemaphore, type SemaphoreOptions } from '../scheduling/semaphore.ts';
import type { BehindSpan } from './traces/columns.ts';

/** After this time a sum is given up, and the caller gets the unavailable Fault. */
export const READ_MAX_MS = 25_000;

const GROUP_KEY_BYTES = 16;
/** Divides groups into parts, with a key of this process. */
export const GROUP_HASH = keyedGroupHash(randomBytes(GROUP_KEY_BYTES).toString('base64'));

/** Reads pages until one is not full. `read` gets the last row before the page; null for the first page. */
export async function* readPages<Row>(
  limit: number,
  read: (last: Row | null) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  let last: Row | null = null;
  do {
    const rows: readonly Row[] = await read(last);
    if (rows.length > 0) yield rows;
    last = rows.length < limit ? null : (rows.at(-1) ?? null);
  } while (last !== null);
}

/** The rows of all pages. */
export async function readAllPages<Row>(
  limit: number,
  read: (last: Row | null) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const all: Row[] = [];
  for await (const rows of readPages(limit, read)) for (const row of rows) all.push(row);
  return all;
}

const RETRY_AFTER_SECONDS = 1;
/** One tenant cannot use every permit. */
const LIMITS: SemaphoreOptions = { permitsMax: 4, ofOwnerMax: 2, waitingMax: 64, waitingOfOwnerMax: 16 };

/** Searches of a project. */
export function limitSearches<Query extends { readonly projectNumber: number }, Found>(
  find: (query: Query) => Promise<Found>,
): (query: Query) => Promise<Found> {
  return limitReads(find, ({ projectNumber }) => projectNumber, SEARCHES);
}

type OfProject = { readonly projectNumber: number };
type TraceRead = { readonly trace: OfProject; readonly read: () => Promise<unknown> };

/** Limits reads of whole traces, each of which holds the ids of all spans. Projects take turns. */
export function createTraceLimit(permitsMax: number) {
  const limits = { permitsMax, waitingMax: 64, waitingOfOwnerMax: 48 };
  const run = limitReads(
    ({ read }: TraceRead) => read(),
    ({ trace }) => trace.projectNumber,
    { all: 'large traces are being read', ofTenant: 'large traces of this project are being read', limits },
  );
  return <Trace extends OfProject, T>(read: (trace: Trace) => Promise<T>) =>
    (trace: Trace) =>
      run({ trace, read: () => read(trace) }) as Promise<T>;
}

/** The names of the reads in refusals. */
type Reads = { readonly all: string; readonly ofTenant: string; readonly limits?: SemaphoreOptions };

const SEARCHES: Reads = { all: 'searches at once', ofTenant: 'searches of this project at once' };
export const SUMS: Reads = { all: 'sums at once', ofTenant: 'sums of this organization at once' };
/** A run may have a hundred thousand scores, which the event loop parses: two such reads at once would slow all else. */
export const RUNS: Reads = {
  all: 'reads of runs at once',
  ofTenant: 'reads of runs of this project at once',
  limits: { ...LIMITS, permitsMax: 2, ofOwnerMax: 1 },
};

/** Each limited read rejects with the unavailable Fault when too many are waiting. */
export function limitReads<Query, Found>(
  read: (query: Query) => Promise<Found>,
  tenantOf: (query: Query) => number | string,
  { all, ofTenant, limits = LIMITS }: Reads,
): (query: Query) => Promise<Found> {
  const semaphore = createSemaphore<number | string>(limits);
  return async (query) => {
    const tenant = tenantOf(query);
    const outcome = await semaphore.acquire(tenant);
    if (outcome !== 'acquired') {
      const tooMany = outcome === 'owner_full' ? ofTenant : all;
      throw unavailableFault(`Too many ${tooMany}; try again.`, RETRY_AFTER_SECONDS);
    }
    try {
      return await read(query);
    } finally {
      semaphore.release(tenant);
    }
  };
}

/** Spans of a batch; a batch of one trace may have more. */
export const SPANS_AT_ONCE = 2_000;
/** Metadata of a batch; a batch of one trace may have more. A few reads at once fit into the heap of the reader thread. */
export const METADATA_BYTES_AT_ONCE = 256 * 1024;

/** Cuts rows into batches whose weights each sum up to at most their limit; a batch has at least one row. */
export function cutIntoBatches<Row>(
  rows: readonly Row[],
  weightsOf: (row: Row) => readonly number[],
  limits: readonly number[],
): readonly (readonly Row[])[] {
  const batches: Row[][] = [];
  let sums: readonly number[] = [];
  for (const row of rows) {
    const batch = batches.at(-1);
    const weights = weightsOf(row);
    const grown = weights.map((weight, index) => (sums[index] ?? 0) + weight);
    if (batch !== undefined && grown.every((sum, index) => sum <= (limits[index] ?? 0))) {
      batch.push(row);
      sums = grown;
    } else {
      batches.push([row]);
      sums = weights;
    }
  }
  return batches;
}

/** The numbers of a span, for summaries that need none of them. */
const NO_NUMBERS = {
  firstTokenAtMs: null,
  promptTokens: null,
  completionTokens: null,
  reasoningTokens: null,
  cacheReadInputTokens: null,
  cacheCreationInputTokens: null,
  costNanoUsd: null,
  costSource: null,
  callRow: null,
  totalInput: null,
  totalOutput: null,
  shareRates: null,
  tokensEstimated: false,
};

type SpanWithoutNumbers = Omit<SpanSummary, keyof typeof NO_NUMBERS>;

/** The name of a trace and the spans that stand for it, among all its spans. */
export function choiceAmong(spans: readonly SpanWithoutNumbers[]): TraceChoice {
  return choiceOf(aggregatesOf(spans.map((span) => ({ ...NO_NUMBERS, ...span }))));
}

type SpanReads<Span> = {
  /** The spans of several traces. */
  readonly list: (sequences: readonly number[]) => Promise<readonly Span[]>;
  /** A page of the spans of one trace, after a span id. */
  readonly listBehind: (page: Omit<BehindSpan, 'projectNumber'>) => Promise<readonly Span[]>;
};

/** The spans of a batch, by the sequence of their trace. */
export async function readSpansOf<Span extends { readonly traceSequence: number; readonly spanId: string }>(
  batch: readonly { readonly sequence: number; readonly spanCount: number }[],
  { list, listBehind }: SpanReads<Span>,
): Promise<ReadonlyMap<number, readonly Span[]>> {
  const [first, ...others] = batch;
  if (first === undefined) return new Map();
  if (others.length > 0 || first.spanCount <= SPANS_AT_ONCE) {
    const spans = await list(batch.map(({ sequence }) => sequence));
    return Map.groupBy(spans, ({ traceSequence }) => traceSequence);
  }
  const { sequence } = first;
  const spans: Span[] = [];
  const pages = readPages<Span>(SPANS_AT_ONCE, (last) =>
    listBehind({ sequence, after: last?.spanId ?? '', limit: SPANS_AT_ONCE }),
  );
  for await (const page of pages) {
    for (const span of page) spans.push(span);
    await nextTurn();
  }
  return new Map([[sequence, spans]]);
}
