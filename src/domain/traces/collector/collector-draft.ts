/**
 * Drafts: a trace as sent, before validation. Each transport makes drafts of its own form, so that the rules know no
 * transport. Each field of a draft holds a value, nothing, or something unreadable.
 */

import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { PromptLink } from '../prompt-links.ts';
import type { SpanNumbers } from '../trace.ts';

const UNREADABLE = Symbol('unreadable');

/** A sent value that its field cannot have. An interface, so that the compiler never takes it for free JSON. */
export interface Unreadable {
  /** JSON has no symbol keys, so this key sets it apart from every value. */
  readonly [UNREADABLE]: true;
  /** Where in the item; empty for the item itself. */
  readonly path: string;
  /** For example "must be a string". */
  readonly reason: string;
}

/** undefined: not sent. JSON null counts as not sent. */
export type Sent<T> = T | Unreadable | undefined;

/** A list whose items are made on demand. An array is such a list. */
export type DraftList<T> = { readonly length: number; readonly at: (index: number) => Sent<T> };

/** One trace, or one more part of it. */
export type TraceDraft = {
  readonly traceId: Sent<string>;
  readonly spans: Sent<DraftList<SpanDraft>>;
  readonly evaluations: Sent<DraftList<EvaluationDraft>>;
  /** Merged one after the other. */
  readonly metadata: readonly Sent<MetadataDraft>[];
  /** The versions of prompts that its spans name in attributes; absent where there are none. */
  readonly links?: readonly PromptLink[];
  /** A text, or any other JSON. */
  readonly expectedOutput: Sent<LosslessJson>;
  /** Facts about the texts of the drafts. They may grow while the drafts of a list are made. */
  readonly facts: DraftFacts;
  /** Indexes of the items in the request; absent where they equal those in the lists. */
  readonly indexes?: { readonly spans: readonly number[]; readonly evaluations: readonly number[] };
};

/** Several traces of one request. */
export type BatchDraft = {
  /** Each trace once, by a valid id. */
  readonly traces: readonly (TraceDraft & { readonly traceId: string })[];
  /** Spans that belong to no trace. */
  readonly refused: readonly ItemReason[];
  /** What the request calls the items that became spans; "spans" by default. */
  readonly itemsName?: string | undefined;
};

/** Why an item is not stored. */
export type ItemReason = {
  /** Its index in the request. */
  readonly index: number;
  /** With the path inside the item, for example ".type: is required". */
  readonly reason: string;
};

/** Bounds on the content of drafts, so that small ones need no deep walk. */
export type DraftFacts = {
  /** Nesting of any free JSON is at most this. */
  readonly depth: number;
  /** Any U+0000 or lone surrogate, which JSON can only hold as a \u escape. */
  readonly hasEscapes: boolean;
  /** No text is longer. */
  readonly bytes: number;
  /** Any object of too many members; TOO_WIDE stands in its place. */
  readonly hasWide: boolean;
};

/** Nothing is known of the texts, so that every check applies; no object is too wide. */
export const ANY_FACTS: DraftFacts = { depth: 128, hasEscapes: true, bytes: Number.MAX_SAFE_INTEGER, hasWide: false };

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
  /** Nanoseconds from the instant, rounded to a millisecond, to the exact one: -500,000 to 499,999. */
  readonly startedNs: number | undefined;
  readonly finishedNs: number | undefined;
  /** Where attributes tell the start or the end: those of the span, which stand in for one that is out of bounds. */
  readonly ownTimes?: OwnTimes | undefined;
  /** Token prices, when the sender gives them. */
  readonly rates: { readonly inputUsdPerToken: number; readonly outputUsdPerToken: number } | undefined;
  /** What the transport could not read and left out, with its path. */
  readonly dropped: readonly Unreadable[];
  /** Fields of OpenTelemetry spans only: attributes, resource_attributes, scope, kind, status, events, links. */
  readonly telemetry: Sent<LosslessObject>;
};

export type OwnTimes = Pick<SpanDraft, 'startedAt' | 'finishedAt' | 'startedNs' | 'finishedNs'>;

/** A value and its type. */
export type TypedDraft = {
  readonly type: string;
  readonly value: LosslessJson;
  /** Where in the item the value was. */
  readonly path: string;
};

type CountsDraft = {
  readonly [Name in Exclude<keyof SpanNumbers, 'costNanoUsd'>]: Sent<NonNullable<SpanNumbers[Name]>>;
};

export type MetricsDraft = CountsDraft & {
  /** US dollars. */
  readonly cost: Sent<number>;
  readonly cachedTokensInPrompt: Sent<boolean>;
  /** Further metrics. Members that have a field of their own are skipped. */
  readonly others: Sent<LosslessObject>;
};

export type ErrorDraft = {
  readonly message: Sent<string>;
  /** Lines, or one text of them. */
  readonly stacktrace: Sent<string | readonly string[]>;
  /** The kind of error, for statistics. */
  readonly kind: string | undefined;
  /** HTTP status from the provider. */
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
  /** The evaluation as the collector's JSON; its id is derived from it if none was sent. */
  readonly toJson: () => LosslessJson;
};

/** Members under the names of the collector, including well-known ones. */
export type MetadataDraft = {
  readonly members: LosslessObject;
  /** Prefix of the names of members in reports: "metadata.", or nothing. */
  readonly pathPrefix: string;
};

export function unreadable(path: string, reason: string): Unreadable {
  return { [UNREADABLE]: true, path, reason };
}

export function isUnreadable(sent: unknown): sent is Unreadable {
  return typeof sent === 'object' && sent !== null && UNREADABLE in sent;
}
