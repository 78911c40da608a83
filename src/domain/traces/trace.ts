/** The values of a trace, shared by rules and storage. Free JSON is held as compact text. */

import type { RequestResult } from '../events/request-report.ts';

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

/** Numbers of a span that trace totals add up. */
export const SUMMED = [
  'promptTokens',
  'completionTokens',
  'reasoningTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'costNanoUsd',
] as const;
export type SummedName = (typeof SUMMED)[number];

/** Null: the span does not report it. */
type SummedNumbers = { readonly [Name in SummedName]: number | null };
export type SpanNumbers = SummedNumbers & { readonly tokensEstimated: boolean };

/** What shares need of a span. */
export type SpanUsage = SummedNumbers & {
  readonly type: SpanType;
  readonly model: string | null;
  /** Where its cost comes from; null: it has none. */
  readonly costSource: string | null;
  /**
   * Equal for calls whose models have the same row in the price list; 0: no call; null: stored before calls were told
   * apart.
   */
  readonly callRow: number | null;
  /** With the tokens of caches; null: equals the prompt tokens. */
  readonly totalInput: number | null;
  /** With the tokens of reasoning; null: equals the completion tokens. */
  readonly totalOutput: number | null;
  /** The rates at which a part of its tokens is priced, as packed by share-rates.ts; null: such a part has no price. */
  readonly shareRates: string | null;
};

/** A step of a trace, validated, normalised and priced. Instants are epoch milliseconds. */
export type Span = SpanUsage & {
  readonly tokensEstimated: boolean;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string | null;
  readonly vendor: string | null;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly firstTokenAtMs: number | null;
  /** Nanoseconds from the start, which is rounded to a millisecond, to the exact start: -500,000 to 499,999. Null: 0. */
  readonly startedNs: number | null;
  /** The same for the end. */
  readonly finishedNs: number | null;
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
  /** Compact JSON text of {"has_error":true,"message","stacktrace"}. */
  readonly errorJson: string | null;
  /** Compact JSON text of [{"document_id","chunk_id","content"}]; null when none. */
  readonly contextsJson: string | null;
  /**
   * Compact JSON text of an object with the fields of OpenTelemetry spans: attributes, resource_attributes, scope,
   * kind, status, events, links. Null for other spans.
   */
  readonly telemetryJson: string | null;
};

/** The stored texts of the spans that stand for a trace. */
export type ChosenTexts = Pick<Span, 'inputJson' | 'outputJson' | 'errorJson'>;

/** The exact instants of a span. */
export type SpanInstants = Pick<Span, 'startedAtMs' | 'finishedAtMs' | 'startedNs' | 'finishedNs'>;

/** The fields that totals, the tree and the choice of root use. */
export type SpanSummary = SpanUsage &
  Pick<Span, 'tokensEstimated' | 'spanId' | 'parentId' | 'name' | 'firstTokenAtMs'> &
  SpanInstants & {
    readonly hasInput: boolean;
    readonly hasOutput: boolean;
    readonly hasError: boolean;
  };

/** A stored span and the span that replaces it. */
export type Replaced = { readonly old: SpanSummary; readonly next: SpanSummary };

/** Totals of a trace, computed from its stored spans. */
export type TraceTotals = Omit<SpanNumbers, 'costNanoUsd'> & {
  readonly spanCount: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly firstTokenMs: number | null;
  readonly totalTimeMs: number | null;
  readonly totalCostNanoUsd: number | null;
  readonly unpricedSpans: number;
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
  /** As it was sent; of a result of this server in the form of result-inputs.ts. */
  readonly inputsJson: string | null;
  readonly costJson: string | null;
  readonly monitorId: string | null;
  readonly insertedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
};

/** The request that a call reports. */
export type SpanRequest = {
  /** Index of the span in the append. */
  readonly spanIndex: number;
  readonly gatewayRequestId: string;
  readonly requestType: 'chat' | 'embeddings' | 'rerank' | null;
  readonly errorClass: string | null;
  readonly httpStatus: number | null;
  readonly rateVersion: string | null;
};

/** What a trace keeps as it was sent: an append that does not send it leaves it alone. */
export type SentFields = { readonly expectedOutput: string | null };

export const NOTHING_SENT: SentFields = { expectedOutput: null };

/** One accepted collector request: committed as a whole or not at all. */
export type TraceAppend = { readonly [Name in keyof SentFields]?: SentFields[Name] | undefined } & {
  readonly projectId: string;
  readonly projectNumber: number;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly traceId: string;
  readonly receivedAtMs: number;
  /** A trace first received before this instant is erased, and a new one made; null: none is. */
  readonly expiredBeforeMs: number | null;
  /** Limit of spans in the trace. */
  readonly spansMax: number;
  /** Compact JSON text of the usable metadata of this request; null when it carries none. */
  readonly metadataJson: string | null;
  readonly spans: readonly Span[];
  readonly evaluations: readonly Evaluation[];
  readonly requests: readonly SpanRequest[];
  /** Where the append was made of a stored span: it is stored only if that has not changed since. */
  readonly madeOf?: SpanVersion;
};

/** A stored span as it was when it was read. */
export type SpanVersion = {
  readonly spanId: string;
  /** Of its trace. */
  readonly sequence: number;
  /** Another number after each change. */
  readonly version: number;
};

export type VersionedSpan = { readonly span: Span; readonly version: number };

/** Results of the commit. */
export type TraceAppended = {
  /** Metadata values that the merge dropped, in the wording of the collector's report. */
  readonly metadataNotes: readonly string[];
  /**
   * Result of each request, in order; null when its span was not stored, because a later span of the append has its id
   * or the trace had no room for it. Absent when every request was emitted, which is almost always.
   */
  readonly requestResults?: readonly (RequestResult | null)[];
  /** Nothing was stored: the span that the append was made of has changed. Absent otherwise. */
  readonly isOutdated?: true;
  /** Indexes of the spans that the trace had no room for, ascending; absent without any. */
  readonly refusedSpans?: readonly number[];
};

/** A stored trace without its texts, which may be large. */
export type TraceHead = TraceTotals &
  TraceState & {
    readonly traceId: string;
    /** Ascending number of the trace inside storage. */
    readonly sequence: number;
  };

/** What appends change, beside the totals and the texts. */
export type TraceState = Omit<SentFields, keyof TraceTexts> & {
  readonly insertedAtMs: number;
  readonly updatedAtMs: number;
  /**
   * By which a store may lay the trace out: frozen at first sight, see trace-anchor.ts. Null: it has had no span yet, or
   * was stored before traces had one.
   */
  readonly anchorAtMs: number | null;
  /** JSON text of TraceAggregates or of outdatedAggregates; null for small traces, and until they are computed. */
  readonly aggregatesJson: string | null;
};

export type TraceTexts = Pick<SentFields, 'expectedOutput'> & { readonly metadataJson: string };

export type TraceRecord = TraceHead & TraceTexts;
