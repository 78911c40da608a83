/** Repricing of stored spans: its data, and the port that reads and changes the spans. */

import type { Project } from '../caller.ts';
import type { Span } from '../traces/trace.ts';

/** The inputs to the price of a stored span, and the price. */
export type PricedSpan = Pick<
  Span,
  | 'spanId'
  | 'type'
  | 'model'
  | 'vendor'
  | 'startedAtMs'
  | 'promptTokens'
  | 'completionTokens'
  | 'reasoningTokens'
  | 'cacheReadInputTokens'
  | 'cacheCreationInputTokens'
  | 'cachedTokensInPrompt'
  | 'costNanoUsd'
  | 'costSource'
>;

/** A different price for a span, with the span as it was read. */
export type NewPrice = {
  readonly span: PricedSpan;
  readonly costNanoUsd: number | null;
  readonly costSource: string | null;
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
  spans(page: SpanPage): Promise<readonly PricedSpan[]>;
  /**
   * Commits new prices of spans. It MUST leave alone a span that changed after its price was computed, MUST leave
   * the totals of traces equal to a recomputation from the stored spans, and MUST change nothing else of a span.
   */
  reprice(repricing: Repricing): Promise<Repriced>;
};
