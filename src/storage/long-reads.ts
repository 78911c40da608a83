/** What long reads share: a bound on how many run at once and on what each holds, their time limit, and reading in pages. */

import { randomBytes } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Tenant } from '../domain/caller.ts';
import { unavailableFault } from '../domain/fault.ts';
import { keyedGroupHash } from '../domain/group-parts.ts';
import type { SpanSummary } from '../domain/traces/trace.ts';
import { aggregatesOf, choiceOf, type TraceChoice } from '../domain/traces/trace-aggregates.ts';
import { createTenantSemaphore, type TenantSemaphoreOptions } from '../scheduling/tenant-semaphore.ts';
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
/** Of four reads, an organization has three at most, and a project two. */
const LIMITS: TenantSemaphoreOptions = { permitsMax: 4, waitingMax: 64 };

/** The number of the organization of a project. */
export type OrganizationOf = (projectNumber: number) => Promise<number>;

const REMEMBERED_MAX = 10_000;

/** Asks once for each project, which never leaves its organization. */
export function rememberOrganizations(find: (projectNumber: number) => Promise<number | undefined>): OrganizationOf {
  const known = new Map<number, number>();
  return async (projectNumber) => {
    const found = known.get(projectNumber) ?? (await find(projectNumber));
    // A project that is being removed is on its own.
    if (found === undefined) return -projectNumber;
    if (known.size >= REMEMBERED_MAX) known.clear();
    known.set(projectNumber, found);
    return found;
  };
}

type OfProject = { readonly projectNumber: number };
type LimitSearches = <Query extends OfProject, Found>(
  find: (query: Query) => Promise<Found>,
) => (query: Query) => Promise<Found>;

/** Limits searches of an organization, and then of its projects. Each kind of search has its own limit. */
export function createSearchLimit(organizationOf: OrganizationOf): LimitSearches {
  return (find) => limitReads(find, ({ projectNumber }) => ownerOf(organizationOf, projectNumber), SEARCHES);
}

type TraceRead = { readonly trace: OfProject; readonly read: () => Promise<unknown> };

/** Limits reads of whole traces, each of which holds the ids of all spans. Organizations take turns, and then projects. */
export function createTraceLimit(permitsMax: number, organizationOf: OrganizationOf) {
  const run = limitReads(
    ({ read }: TraceRead) => read(),
    ({ trace }) => ownerOf(organizationOf, trace.projectNumber),
    { ...WHOLE_TRACES, limits: { permitsMax, waitingMax: 192 } },
  );
  return <Trace extends OfProject, T>(read: (trace: Trace) => Promise<T>) =>
    (trace: Trace) =>
      run({ trace, read: () => read(trace) }) as Promise<T>;
}

async function ownerOf(organizationOf: OrganizationOf, projectNumber: number): Promise<Tenant> {
  return { organizationId: String(await organizationOf(projectNumber)), projectId: String(projectNumber) };
}

/** The names of the reads in refusals. */
type Reads = { readonly all: string; readonly ofTenant: string; readonly limits?: TenantSemaphoreOptions };

const SEARCHES: Reads = { all: 'searches at once', ofTenant: 'searches of this organization at once' };
const WHOLE_TRACES: Reads = {
  all: 'large traces are being read',
  ofTenant: 'large traces of this organization are being read',
};
export const SUMS: Reads = { all: 'sums at once', ofTenant: 'sums of this organization at once' };
/** A run may have a hundred thousand scores, which the event loop parses: two such reads at once would slow all else. */
export const RUNS: Reads = {
  all: 'reads of runs at once',
  ofTenant: 'reads of runs of this organization at once',
  limits: { ...LIMITS, permitsMax: 2 },
};

/** Each limited read rejects with the unavailable Fault when too many are waiting. */
export function limitReads<Query, Found>(
  read: (query: Query) => Promise<Found>,
  tenantOf: (query: Query) => Tenant | Promise<Tenant>,
  { all, ofTenant, limits = LIMITS }: Reads,
): (query: Query) => Promise<Found> {
  const semaphore = createTenantSemaphore(limits);
  return async (query) => {
    const request = { tenant: await tenantOf(query), isUrgent: false };
    const outcome = await semaphore.acquire(request);
    if (outcome !== 'acquired') {
      const tooMany = outcome === 'owner_full' ? ofTenant : all;
      throw unavailableFault(`Too many ${tooMany}; try again.`, RETRY_AFTER_SECONDS);
    }
    try {
      return await read(query);
    } finally {
      semaphore.release(request);
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
    await yieldToEventLoop();
  }
  return new Map([[sequence, spans]]);
}
