/** Walks through stored traces and reprices their spans by the current price list and overrides. */

import { SETTLED_AT_ONCE } from '../traces/call-settlement.ts';
import { readResultCost } from '../traces/collector/collector-metrics.ts';
import { ALL_TRACES, type SearchPosition, type TraceSearch } from '../traces/search/trace-search-store.ts';
import type { TraceStore } from '../traces/telemetry-port.ts';
import type { Span } from '../traces/trace.ts';
import type { PriceResolver, Prices } from './prices.ts';
import type { ListedSpan, NewPrice, RepricedProject, RepricedTrace, RepricingStore } from './repricing.ts';
import { storedQuery } from './stored-query.ts';

type RepriceDeps = {
  readonly store: {
    readonly repricing: RepricingStore;
    readonly search: TraceSearch;
    readonly traces: Pick<TraceStore, 'find' | 'spans' | 'calls'>;
  };
  readonly prices: PriceResolver;
  readonly nowMs: () => number;
  /** Called after each page with the share done, 0 to 1. */
  readonly report: (share: number) => void;
  readonly isStopped: () => boolean;
};

export type RepriceRequest = {
  /** Traces that started within, ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: all projects. */
  readonly projectId: string | null;
  readonly isDryRun: boolean;
  /** Whether events correct requests that cost something else now. */
  readonly emits: boolean;
  /** Where a stopped walk continues; null: from the beginning. */
  readonly after: RepricePosition | null;
};

export type RepricePosition = { readonly projectNumber: number; readonly trace: SearchPosition | null };

export type RepriceResult = {
  readonly traces: number;
  readonly spans: number;
  /** Spans with a new price, and how many of them had none before or have none now. */
  readonly changed: number;
  readonly unpricedBefore: number;
  readonly unpricedAfter: number;
  /** The total costs of those spans. */
  readonly beforeNanoUsd: bigint;
  readonly afterNanoUsd: bigint;
  /** Requests that got another cost; with `emits`, by an event each. A dry run counts none. */
  readonly requests: number;
  /** Where to continue; null: it is complete. */
  readonly stoppedAt: RepricePosition | null;
};

const TRACES_AT_ONCE = 100;
const SPANS_AT_ONCE = 500;
/** How often the requests of a trace that changes meanwhile are tried. */
const MEND_ATTEMPTS = 5;
/** Reported costs (other sources) stay. */
const PRICED_HERE: ReadonlySet<string | null> = new Set(['override', 'registry', 'unpriced']);

type Tally = { -readonly [Name in keyof Omit<RepriceResult, 'stoppedAt'>]: RepriceResult[Name] };

/** Throws an Error for an unknown project. A second run by the same prices changes nothing. */
export async function reprice(deps: RepriceDeps, request: RepriceRequest): Promise<RepriceResult> {
  const tally: Tally = {
    traces: 0,
    spans: 0,
    changed: 0,
    unpricedBefore: 0,
    unpricedAfter: 0,
    beforeNanoUsd: 0n,
    afterNanoUsd: 0n,
    requests: 0,
  };
  const all = await deps.store.repricing.projects();
  const projects = all.filter(({ id }) => request.projectId === null || id === request.projectId);
  if (request.projectId !== null && projects.length === 0) throw new Error(`there is no project ${request.projectId}`);
  const left = projects.filter(({ number }) => number >= (request.after?.projectNumber ?? 0));
  const done = projects.length - left.length;
  for (const [index, project] of left.entries()) {
    const report = (share: number) => deps.report((done + index + share) / projects.length);
    const stoppedAt = await repriceProject({ ...deps, report }, { request, project, tally });
    if (stoppedAt !== null) return { ...tally, stoppedAt };
  }
  deps.report(1);
  return { ...tally, stoppedAt: null };
}

type Walk = { readonly request: RepriceRequest; readonly project: RepricedProject; readonly tally: Tally };

async function repriceProject(deps: RepriceDeps, { request, project, tally }: Walk): Promise<RepricePosition | null> {
  const { number, organizationId, priceVersion } = project;
  const prices = await deps.prices.of({ id: organizationId, priceVersion }, () => []);
  let after = request.after?.projectNumber === number ? request.after.trace : null;
  for (;;) {
    if (deps.isStopped()) return { projectNumber: number, trace: after };
    const { traces, next } = await deps.store.search.find({
      ...ALL_TRACES,
      projectNumber: number,
      started: { fromMs: request.fromMs, toMs: request.toMs },
      sort: 'started_at',
      isAscending: true,
      after,
      limit: TRACES_AT_ONCE,
    });
    await repriceTraces(
      deps,
      traces.map(({ traceId }) => traceId),
      { request, project, prices, tally },
    );
    if (!request.isDryRun) {
      for (const { traceId } of traces)
        tally.requests += await mendRequests(deps, traceId, { request, project, prices, tally });
    }
    tally.traces += traces.length;
    if (next === null) return null;
    after = next;
    deps.report(shareOf(next.key, request));
  }
}

function shareOf(atMs: number, { fromMs, toMs }: RepriceRequest): number {
  return toMs <= fromMs ? 0 : Math.min(1, Math.max(0, (atMs - fromMs) / (toMs - fromMs)));
}

type Priced = Walk & { readonly prices: Prices };

/** Commits some hundred spans at a time, so that other writes wait only briefly. */
async function repriceTraces(deps: RepriceDeps, traceIds: readonly string[], walk: Priced): Promise<void> {
  const { request, project, prices, tally } = walk;
  let waiting: RepricedTrace[] = [];
  let waitingCount = 0;

  async function flush(): Promise<void> {
    const changes = waiting;
    waiting = [];
    waitingCount = 0;
    if (changes.length === 0) return;
    if (!request.isDryRun) {
      const nowMs = deps.nowMs();
      await deps.store.repricing.reprice({ kind: 'repricing', projectNumber: project.number, nowMs, traces: changes });
    }
    for (const { prices: changed } of changes) for (const price of changed) count(tally, price);
  }

  for (const traceId of traceIds) {
    const record = await deps.store.traces.find(project.number, traceId);
    if (record === null) continue;
    const trace = { ...record, projectNumber: project.number };
    let afterId = '';
    for (;;) {
      const page = { projectNumber: project.number, sequence: record.sequence, afterId, limit: SPANS_AT_ONCE };
      const spans = await deps.store.repricing.spans(page);
      tally.spans += spans.length;
      const changed: NewPrice[] = [];
      for (const listed of spans) {
        const price = PRICED_HERE.has(listed.span.costSource) ? await priceAnew(listed, prices, readSpan) : null;
        if (price !== null) changed.push(price);
      }
      if (changed.length > 0) waiting.push({ traceId, prices: changed });
      waitingCount += changed.length;
      if (waitingCount >= SPANS_AT_ONCE) await flush();
      const last = spans.at(-1);
      if (last === undefined || spans.length < SPANS_AT_ONCE) break;
      afterId = last.span.spanId;
    }

    async function readSpan(spanId: string): Promise<Span | undefined> {
      const [span] = await deps.store.traces.spans(trace, [spanId]);
      return span;
    }
  }
  await flush();
}

/** Null when the price is unchanged. */
async function priceAnew(
  { span, mayNameTier }: ListedSpan,
  prices: Prices,
  readSpan: (spanId: string) => Promise<Span | undefined>,
): Promise<NewPrice | null> {
  const paramsJson = mayNameTier ? (await readSpan(span.spanId))?.paramsJson : null;
  const query = storedQuery(span, paramsJson);
  let price = prices.price(query);
  const mayHaveResultCost = span.type === 'guardrail' || span.type === 'evaluation';
  if (price.source === 'unpriced' && mayHaveResultCost) {
    const outputJson = (await readSpan(span.spanId))?.outputJson ?? null;
    const resultCostUsd = outputJson === null ? null : readResultCost(JSON.parse(outputJson));
    price = prices.price({ ...query, resultCostUsd });
  }
  const { costNanoUsd, source: costSource } = price;
  if (costNanoUsd === span.costNanoUsd && costSource === span.costSource) return null;
  const { shareRates } = prices.measure(query, { source: costSource, isCall: span.callRow !== 0 });
  return { span, costNanoUsd, costSource, shareRates };
}

/** Returns how many requests got another cost. */
async function mendRequests(deps: RepriceDeps, traceId: string, { request, project, prices }: Priced): Promise<number> {
  const { repricing, traces } = deps.store;
  let count = 0;
  for (let attempt = 0; attempt < MEND_ATTEMPTS; attempt += 1) {
    const record = await traces.find(project.number, traceId);
    if (record === null) return count;
    const calls = await traces.calls({ ...record, projectNumber: project.number });
    let isStale = false;
    for (let start = 0; start < calls.length && !isStale; start += SETTLED_AT_ONCE) {
      const mended = await repricing.mend({
        kind: 'mending',
        projectNumber: project.number,
        traceId,
        updatedAtMs: record.updatedAtMs,
        calls: calls.slice(start, start + SETTLED_AT_ONCE),
        nowMs: deps.nowMs(),
        rateVersion: prices.rateVersion,
        emits: request.emits,
      });
      if (mended.kind === 'stale') isStale = true;
      else count += mended.count;
    }
    if (!isStale) return count;
  }
  // A trace that keeps changing is left to the next run.
  return count;
}

function count(tally: Tally, { span, costNanoUsd }: NewPrice): void {
  tally.changed += 1;
  if (span.costNanoUsd === null) tally.unpricedBefore += 1;
  if (costNanoUsd === null) tally.unpricedAfter += 1;
  tally.beforeNanoUsd += BigInt(span.costNanoUsd ?? 0);
  tally.afterNanoUsd += BigInt(costNanoUsd ?? 0);
}
