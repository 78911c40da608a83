/** Pricing stored spans anew: what it is made of, and the port that finds and changes them. */

import type { Project } from '../caller.ts';
import type { Span } from '../trace.ts';

/** What the price of a stored span follows from, and what it is. */
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

/** Another price for a span, and the span that it was made for. */
export type NewPrice = {
  readonly span: PricedSpan;
  readonly costNanoUsd: number | null;
  readonly costSource: string | null;
};

export type RepricedTrace = { readonly traceId: string; readonly prices: readonly NewPrice[] };

/** Other prices for spans of one project. */
export type Repricing = {
  readonly kind: 'repricing';
  readonly projectNumber: number;
  readonly nowMs: number;
  readonly traces: readonly RepricedTrace[];
};

export type Repriced = {
  /** Spans that have their new price. */
  readonly count: number;
};

export type RepricedProject = Pick<Project, 'id' | 'number' | 'organizationId' | 'priceVersion'>;

export type SpanPage = {
  readonly projectNumber: number;
  readonly sequence: number;
  /** The id behind which to go on; empty: from the first on. */
  readonly afterId: string;
  readonly limit: number;
};

export type RepricingStore = {
  /** Projects that are not archived, by their numbers. */
  projects(): Promise<readonly RepricedProject[]>;
  /** Spans of a trace, by their ids. */
  spans(page: SpanPage): Promise<readonly PricedSpan[]>;
  /**
   * Commits new prices of spans. It MUST leave alone a span that is not as it was when its price was made, MUST leave
   * the totals of traces equal to a recomputation from the stored spans, and MUST change nothing else of a span.
   */
  reprice(repricing: Repricing): Promise<Repriced>;
};
