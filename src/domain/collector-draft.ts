/**
 * What a sender says about a trace before any rule has judged it. Each transport makes these of its own form, and the
 * rules know no transport. A draft says of each field what arrived: a value, nothing, or something unreadable.
 */

import type { LosslessJson, LosslessObject } from './lossless-json.ts';

const UNREADABLE = Symbol('unreadable');

/** Something arrived that is no value of its field. An interface, so that the compiler never takes one for free JSON. */
export interface Unreadable {
  /** No JSON has a member named by a symbol, so this tells it from every value. */
  readonly [UNREADABLE]: true;
  /** Where in the item; empty for the item itself. */
  readonly path: string;
  /** For example "must be a string". */
  readonly reason: string;
}

/** undefined: nothing arrived. What is null in JSON counts as nothing. */
export type Sent<T> = T | Unreadable | undefined;

/** The items of a list, made when they are asked for. An array is such a list. */
export type DraftList<T> = { readonly length: number; readonly at: (index: number) => Sent<T> };

/** One trace, or one more part of it. */
export type TraceDraft = {
  readonly traceId: Sent<string>;
  readonly spans: Sent<DraftList<SpanDraft>>;
  readonly evaluations: Sent<DraftList<EvaluationDraft>>;
  /** Merged one after the other. */
  readonly metadata: readonly Sent<MetadataDraft>[];
  /** A text, or any other JSON. */
  readonly expectedOutput: Sent<LosslessJson>;
  /** What is known of the texts that the drafts are made of. It may grow while the drafts of a list are made. */
  readonly facts: DraftFacts;
  /** Where in the request the items were; left out where that is their place in the lists. */
  readonly places?: { readonly spans: readonly number[]; readonly evaluations: readonly number[] };
};

/** Several traces that came in one request. */
export type BatchDraft = {
  /** Each trace once, by a valid id. */
  readonly traces: readonly (TraceDraft & { readonly traceId: string })[];
  /** Spans that belong to no trace. */
  readonly refused: readonly ItemReason[];
};

/** Why an item is not stored. */
export type ItemReason = {
  /** Where in the request it was. */
  readonly place: number;
  /** With the path inside the item, for example ".type: is required". */
  readonly reason: string;
};

/** Bounds on what drafts hold, so that small ones are spared the deep walks. */
export type DraftFacts = {
  /** Nesting of any free JSON is at most this. */
  readonly depth: number;
  /** Any U+0000 or lone surrogate, which JSON can only hold as a \u escape. */
  readonly hasEscapes: boolean;
  /** No text is longer. */
  readonly bytes: number;
  /** Any object of too many members, in whose place TOO_WIDE stands. */
  readonly hasWide: boolean;
};

export type SpanDraft = {
  readonly spanId: Sent<string>;
  /** Must be the trace of the draft, where it is sent. */
  readonly traceId: Sent<string>;
  readonly parentId: Sent<string>;
  readonly type: Sent<string>;
  readonly name: Sent<string>;
  readonly vendor: Sent<string>;
  readonly model: Sent<string>;
  readonly input: Sent<TypedDraft>;
  readonly output: Sent<TypedDraft>;
  readonly params: Sent<LosslessObject>;
  readonly metrics: Sent<MetricsDraft>;
  readonly error: Sent<ErrorDraft>;
  readonly contexts: Sent<DraftList<ContextDraft>>;
  /** Epoch milliseconds, also with a fraction. */
  readonly startedAt: Sent<number>;
  readonly finishedAt: Sent<number>;
  readonly firstTokenAt: Sent<number>;
  /** What a token costs, where the sender says so. */
  readonly rates: { readonly inputUsdPerToken: number; readonly outputUsdPerToken: number } | undefined;
  /** What only OpenTelemetry spans carry: attributes, resource_attributes, scope, kind, status, events, links. */
  readonly telemetry: Sent<LosslessObject>;
};

/** A value and the way to read it. */
export type TypedDraft = {
  readonly type: string;
  readonly value: LosslessJson;
  /** Where in the item the value was. */
  readonly path: string;
};

export type MetricsDraft = {
  readonly promptTokens: Sent<number>;
  readonly completionTokens: Sent<number>;
  readonly reasoningTokens: Sent<number>;
  readonly cacheReadInputTokens: Sent<number>;
  readonly cacheCreationInputTokens: Sent<number>;
  /** US dollars. */
  readonly cost: Sent<number>;
  readonly tokensEstimated: Sent<boolean>;
  readonly cachedTokensInPrompt: Sent<boolean>;
  /** Further metrics. Members that are named like a field of its own are passed over. */
  readonly others: Sent<LosslessObject>;
};

export type ErrorDraft = {
  readonly message: Sent<string>;
  /** Lines, or one text of them. */
  readonly stacktrace: Sent<string | readonly string[]>;
  /** The kind of error, for statistics. */
  readonly kind: string | undefined;
  /** The status of the provider's answer. */
  readonly httpStatus: number | undefined;
};

/** The text of a document, or a document with its ids. */
export type ContextDraft =
  | string
  | {
      readonly documentId: Sent<string>;
      readonly chunkId: Sent<string>;
      /** A text, or any other JSON. */
      readonly content: Sent<LosslessJson>;
    };

export type EvaluationDraft = {
  readonly name: Sent<string>;
  readonly evaluationId: Sent<string>;
  readonly evaluatorId: Sent<string>;
  readonly spanId: Sent<string>;
  readonly type: Sent<string>;
  readonly threadId: Sent<string>;
  readonly isGuardrail: Sent<boolean>;
  readonly status: Sent<string>;
  readonly passed: Sent<boolean>;
  readonly score: Sent<number>;
  readonly label: Sent<string>;
  readonly details: Sent<string>;
  readonly inputs: Sent<LosslessJson>;
  /** {currency, amount} */
  readonly cost: Sent<LosslessObject>;
  readonly error: Sent<ErrorDraft>;
  /** Epoch milliseconds. */
  readonly startedAt: Sent<number>;
  readonly finishedAt: Sent<number>;
  /** The evaluation as the collector's JSON, of which its id is derived where none was sent. */
  readonly toJson: () => LosslessJson;
};

/** Members by the names of the collector, with the well-known ones among them. */
export type MetadataDraft = {
  readonly members: LosslessObject;
  /** What stands before the name of a member in reports: "metadata.", or nothing. */
  readonly place: string;
};

export function unreadable(path: string, reason: string): Unreadable {
  return { [UNREADABLE]: true, path, reason };
}

export function isUnreadable(sent: unknown): sent is Unreadable {
  return typeof sent === 'object' && sent !== null && UNREADABLE in sent;
}
