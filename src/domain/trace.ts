/** The values a trace is made of, as rules and storage see them. Free JSON travels as compact text. */

import type { RequestResult } from './request-report.ts';

export const SPAN_TYPES = [
  'span',
  'llm',
  'chain',
  'tool',
  'agent',
  'rag',
  'guardrail',
  'evaluation',
  'workflow',
  'component',
  'module',
  'server',
  'client',
  'producer',
  'consumer',
  'task',
  'unknown',
] as const;
export type SpanType = (typeof SPAN_TYPES)[number];

/** Numbers of one span that trace totals are made of. Null: the span does not say. */
export type SpanNumbers = {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly cacheReadInputTokens: number | null;
  readonly cacheCreationInputTokens: number | null;
  readonly costNanoUsd: number | null;
  readonly tokensEstimated: boolean;
};

/** A step of a trace, validated, normalised and priced. Instants are epoch milliseconds. */
export type Span = SpanNumbers & {
  readonly spanId: string;
  readonly parentId: string | null;
  readonly type: SpanType;
  readonly name: string | null;
  readonly vendor: string | null;
  readonly model: string | null;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly firstTokenAtMs: number | null;
  /** Compact JSON text of {"type","value"}. */
  readonly inputJson: string | null;
  /** Compact JSON text of {"type","value"}. */
  readonly outputJson: string | null;
  /** Compact JSON text of an object. */
  readonly paramsJson: string | null;
  /** The sent cached_tokens_in_prompt. */
  readonly cachedTokensInPrompt: boolean | null;
  /** Compact JSON text of an object with the metrics that have no column of their own; null when none. */
  readonly otherMetricsJson: string | null;
  readonly costSource: string | null;
  /** Compact JSON text of {"has_error":true,"message","stacktrace"}. */
  readonly errorJson: string | null;
  /** Compact JSON text of [{"document_id","chunk_id","content"}]; null when none. */
  readonly contextsJson: string | null;
  /**
   * Compact JSON text of an object with what only OpenTelemetry spans carry: attributes, resource_attributes, scope,
   * kind, status, events, links. Null for spans that came another way.
   */
  readonly telemetryJson: string | null;
};

/** What the totals, the tree and the choice of root need of a span. */
export type SpanSummary = SpanNumbers & {
  readonly spanId: string;
  readonly parentId: string | null;
  readonly type: SpanType;
  readonly name: string | null;
  readonly model: string | null;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly firstTokenAtMs: number | null;
  readonly hasInput: boolean;
  readonly hasOutput: boolean;
  readonly hasError: boolean;
};

/** Totals of a trace, a function of its stored spans. */
export type TraceTotals = {
  readonly spanCount: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly firstTokenMs: number | null;
  readonly totalTimeMs: number | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly cacheReadInputTokens: number | null;
  readonly cacheCreationInputTokens: number | null;
  readonly totalCostNanoUsd: number | null;
  readonly unpricedSpans: number;
  readonly tokensEstimated: boolean;
  readonly hasError: boolean;
};

/** An evaluation result, validated and normalised. */
export type Evaluation = {
  readonly evaluationId: string;
  readonly evaluatorId: string;
  readonly name: string;
  readonly type: string | null;
  readonly spanId: string | null;
  readonly threadId: string | null;
  readonly isGuardrail: boolean;
  readonly status: 'scheduled' | 'in_progress' | 'processed' | 'skipped' | 'error';
  readonly passed: boolean | null;
  readonly score: number | null;
  readonly label: string | null;
  readonly details: string | null;
  readonly errorJson: string | null;
  readonly inputsJson: string | null;
  readonly costJson: string | null;
  readonly monitorId: string | null;
  readonly insertedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
};

/** What one llm span says about the request behind it. */
export type SpanRequest = {
  /** Index of the span in the append. */
  readonly spanIndex: number;
  readonly gatewayRequestId: string;
  readonly requestType: 'chat' | null;
  readonly errorClass: string | null;
  readonly httpStatus: number | null;
  readonly rateVersion: string | null;
};

/** One accepted collector request: committed as a whole or not at all. */
export type TraceAppend = {
  readonly projectId: string;
  readonly projectNumber: number;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly traceId: string;
  readonly receivedAtMs: number;
  /** A stored trace that came in before this instant counts as gone; null: none does. */
  readonly goneBeforeMs: number | null;
  /** Spans that the trace may hold. */
  readonly spansMax: number;
  /** Compact JSON text of the usable metadata of this request; null when it carries none. */
  readonly metadataJson: string | null;
  /** undefined: not sent. */
  readonly expectedOutput: string | null | undefined;
  readonly spans: readonly Span[];
  readonly evaluations: readonly Evaluation[];
  readonly requests: readonly SpanRequest[];
};

/** Several traces that came in one request: committed as a whole or not at all. */
export type TraceBatch = {
  readonly kind: 'traces';
  /** Each trace once. */
  readonly appends: readonly TraceAppend[];
};

/** What only the commit can tell. */
export type TraceAppended = {
  /** Metadata values that the merge dropped, in the wording of the collector's report. */
  readonly metadataNotes: readonly string[];
  /**
   * What came of each request, in their order; null for one whose span was not stored, because another of the same
   * append took its place or the trace had no room for it.
   * Left out where every request was emitted, which is almost always.
   */
  readonly requestResults?: readonly (RequestResult | null)[];
  /** Places of the spans that the trace had no room for, ascending; left out where there are none. */
  readonly refusedSpans?: readonly number[];
};

/** The stored row of a trace. */
export type TraceRecord = TraceTotals & {
  readonly traceId: string;
  /** Ascending number of the trace inside storage. */
  readonly sequence: number;
  readonly metadataJson: string;
  readonly expectedOutput: string | null;
  readonly insertedAtMs: number;
  readonly updatedAtMs: number;
  /** JSON text of TraceAggregates; null for traces that are read through, and where nobody has computed them yet. */
  readonly aggregatesJson: string | null;
};
