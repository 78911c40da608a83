/** Repricing of stored spans: its data, and the port that reads and changes the spans. */

import type { Project } from '../caller.ts';
import type { AppendTables, TraceKey } from '../events/append-tables.ts';
import type { CallSettlement } from '../traces/shares/trace-calls.ts';
import type { Replaced, Span, SpanUsage, SummedName } from '../traces/trace.ts';
import { sumUp } from '../traces/trace-growth.ts';

/** The inputs to the price of a stored span, and the price. */
export type PricedSpan = Pick<
  Span,
  | 'spanId'
  | 'type'
  | 'model'
  | 'vendor'
  | 'startedAtMs'
  | SummedName
  | 'cachedTokensInPrompt'
  | 'otherMetricsJson'
  | 'costSource'
  | 'callRow'
>;

/** Parameters may be large, so that they are read only where they may name a service tier. */
export type ListedSpan = { readonly span: PricedSpan; readonly mayNameTier: boolean };

/** A different price for a span, with the span as it was read. */
export type NewPrice = {
  readonly span: PricedSpan;
  readonly costNanoUsd: number | null;
  readonly costSource: string | null;
  readonly shareRates: SpanUsage['shareRates'];
};

export type RepricedTrace = { readonly traceId: string; readonly prices: readonly NewPrice[] };

/** New prices for spans of one project. */
export type Repricing = {
  readonly kind: 'repricing';
  readonly projectNumber: number;
  readonly nowMs: number;
  readonly traces: readonly RepricedTrace[];
};

export type Repriced = {
  /** Spans that got a new price. */
  readonly count: number;
};

/** Gives requests of calls of one trace the costs that its spans have now. */
export type RequestMending = Omit<CallSettlement, 'nowMs'> & {
  readonly kind: 'mending';
  readonly projectNumber: number;
  readonly nowMs: number;
  /** Of costs from the price list. */
  readonly rateVersion: string;
  /** Whether events correct the requests; otherwise only the rows of the requests change. */
  readonly emits: boolean;
};

export type RequestsMended =
  | {
      readonly kind: 'mended';
      /** Requests whose cost changed. */
      readonly count: number;
    }
  /** The trace has changed since it was read, and nothing was done. */
  | { readonly kind: 'stale' };

export type RepricedProject = Pick<Project, 'id' | 'number' | 'organizationId' | 'priceVersion'>;

type SpanPage = {
  readonly projectNumber: number;
  readonly sequence: number;
  /** The last id of the previous page; empty: the first page. */
  readonly afterId: string;
  readonly limit: number;
};

export type RepricingStore = {
  /** Projects that are not archived, by number. */
  projects(): Promise<readonly RepricedProject[]>;
  /** Spans of a trace, by id. */
  spans(page: SpanPage): Promise<readonly ListedSpan[]>;
  /**
   * Commits new prices of spans. It MUST leave alone a span that changed after its price was computed, MUST leave
   * the totals of traces equal to a recomputation from the stored spans, and MUST change nothing else of a span.
   */
  reprice(repricing: Repricing): Promise<Repriced>;
  /**
   * Commits costs of requests. It MUST leave alone requests that a gateway reported, and MUST do nothing when the trace
   * has changed since it was read. Events MUST be corrected as those of a span that is sent again.
   */
  mend(mending: RequestMending): Promise<RequestsMended>;
};

export function applyRepricing(tables: AppendTables, { projectNumber, nowMs, traces }: Repricing): Repriced {
  let count = 0;
  for (const { traceId, prices } of traces) {
    const trace = { projectNumber, traceId, nowMs };
    count += changeSpans(tables, trace, (traceKey) => prices.flatMap((price) => repriceSpan(tables, traceKey, price)));
  }
  return { count };
}

/** `nowMs`: the instant of the update; null: it is none. */
type ChangedTrace = { readonly projectNumber: number; readonly traceId: string; readonly nowMs: number | null };

/** Replaces spans of a stored trace, and computes its totals from them. Returns how many were replaced. */
export function changeSpans(
  tables: AppendTables,
  { projectNumber, traceId, nowMs }: ChangedTrace,
  replaceSome: (traceKey: TraceKey) => readonly Replaced[],
): number {
  const record = tables.findTrace(projectNumber, traceId);
  if (record === undefined) return 0;
  const traceKey = { projectNumber, traceId: record.traceId, sequence: record.sequence };
  const replaced = replaceSome(traceKey);
  if (replaced.length === 0) return 0;
  tables.updateTrace(traceKey, {
    ...sumUp(tables, traceKey, { record, added: [], replaced }),
    updatedAtMs: Math.max(record.updatedAtMs, nowMs ?? record.updatedAtMs),
  });
  return replaced.length;
}

function repriceSpan(
  tables: AppendTables,
  traceKey: TraceKey,
  { span: known, ...price }: NewPrice,
): readonly Replaced[] {
  const stored = tables.findSpan(traceKey, known.spanId);
  const pricing = tables.findPricing(traceKey, known.spanId);
  // A span that was sent again meanwhile has a newer price.
  if (stored === undefined || pricing === undefined || !isAsKnown({ ...stored.summary, ...pricing }, known)) return [];
  tables.changeSpan(traceKey, stored, price);
  return [{ old: stored.summary, next: { ...stored.summary, ...price } }];
}

function isAsKnown(span: PricedSpan, known: PricedSpan): boolean {
  return (Object.keys(known) as (keyof PricedSpan)[]).every((name) => span[name] === known[name]);
}
