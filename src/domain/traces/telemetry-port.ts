/** The port of telemetry: traces with their spans and evaluations, and what is asked of them. Rules as for the port of management. */

import type { TraceAnalytics } from '../analytics/trace-analytics-store.ts';
import type { AnnotationStore, ScoreStore } from '../annotations/annotation.ts';
import type { QueueStore } from '../annotations/queue.ts';
import type { FeedbackStore } from '../feedback/feedback-event.ts';
import type { MeasuringStore } from '../pricing/measuring.ts';
import type { RepricingStore } from '../pricing/repricing.ts';
import type { PortRetention, RetentionTask } from '../retention-walk.ts';
import type { TraceGroups } from '../threads/group-store.ts';
import type { LogRecordStore } from './logs/log-record-store.ts';
import type { SearchProgress, TraceSearch } from './search/trace-search-store.ts';
import type { ListedCall } from './shares/trace-calls.ts';
import type { ChosenTexts, Evaluation, Span, TraceAppend, TraceAppended, TraceRecord, VersionedSpan } from './trace.ts';
import type { TraceChoice } from './trace-aggregates.ts';
import type { TraceChangeStore } from './trace-changes.ts';

export type Telemetry = {
  readonly traces: TraceStore;
  readonly traceChanges: TraceChangeStore;
  readonly logRecords: LogRecordStore;
  readonly feedback: FeedbackStore;
  readonly annotations: AnnotationStore;
  readonly annotationScores: ScoreStore;
  readonly annotationQueues: QueueStore;
  readonly search: TraceSearch & SearchProgress;
  readonly analytics: TraceAnalytics & TraceGroups;
  readonly repricing: RepricingStore;
  readonly measuring: MeasuringStore;
  readonly telemetryRetention: TelemetryRetention;
};

/** A trace that cannot be erased at once MUST be unreachable before anything of it is removed. */
export type TelemetryRetention = PortRetention<TelemetryCuts> & {
  /**
   * About how many traces are past a cut and not erased yet: MUST count those of at most 200 spans that were received in a
   * whole hour before it and began at most 35 days before it.
   */
  backlog(cuts: readonly TraceCut[]): Promise<number>;
  /** The tasks that erase what was removed before and could not be erased at once: large traces, and large texts. */
  beginErasure(): Promise<readonly RetentionTask[]>;
};

export type TelemetryCuts = {
  readonly traces: readonly TraceCut[];
  /** Log records received before the instant are no longer kept for their spans. */
  readonly logRecordsBeforeMs: number;
  /** Feedback received before the instant no longer waits for its trace. */
  readonly feedbackBeforeMs: number;
};

/** Traces received before the instant are removed from projects that store this very term during the step. */
export type TraceCut = { readonly storedDays: number | null; readonly expiredBeforeMs: number };

export type TraceStore = {
  /**
   * Commits one collector request. It MUST resolve only after the commit is durable, MUST store all of it or nothing,
   * MUST replace a span or evaluation that is sent again, MUST leave the totals equal to a recomputation from the
   * stored spans, MUST merge metadata per key, and MUST append exactly one completed event per request id however often
   * it is sent, none for a span that had its event already. Inside one append the later of two equal ids wins. A new
   * span beyond `spansMax` MUST be refused alone, with its event; a stored span MUST still be replaced. An append
   * without evaluations whose spans are all refused stores nothing. An append made of a span that has changed since it was
   * read MUST store nothing, and say so.
   */
  append(append: TraceAppend): Promise<TraceAppended>;
  /** By the exact normalised id. MUST see every append acknowledged before the call. */
  find(projectNumber: number, traceId: string): Promise<TraceRecord | null>;
  /**
   * What lists show of the named traces, in a few reads for all of them and in any order. MUST return of each what `find`,
   * `outline`, `spans` and `evaluations` do. Leaves out unknown traces, and those that are better read one by one: with
   * more spans or evaluations than a list shows quickly, or with long texts.
   */
  rows(projectNumber: number, traceIds: readonly string[]): Promise<readonly TraceRow[]>;
  /** Ids with the prefix that were stored at or after `sinceMs`, at most `limit`, ascending. */
  findByPrefix(projectNumber: number, prefix: string, sinceMs: number, limit: number): Promise<readonly string[]>;
  /** Summarizes all spans of a trace. MUST work for any number of spans, without delaying other requests. */
  outline(trace: StoredTrace): Promise<TraceOutline>;
  /** The digest of the trace, in the format of trace-digest.ts. MUST work as `outline` does. */
  digest(trace: StoredTrace): Promise<string>;
  /** The calls of a trace with their requests, in a fixed order. MUST work as `outline` does. */
  calls(trace: StoredTrace): Promise<readonly ListedCall[]>;
  /** Positions of spans, in the order of `SpanPosition`. */
  spanOrder(trace: StoredTrace, range: ListRange<SpanPosition>): Promise<readonly (SpanPosition & SizedText)[]>;
  /** The named spans in the order of the ids; unknown ids are left out. */
  spans(trace: StoredTrace, spanIds: readonly string[]): Promise<readonly Span[]>;
  /** A span as it is stored, with its version; null without. MUST see every append acknowledged before the call. */
  versionedSpan(trace: StoredTrace, spanId: string): Promise<VersionedSpan | null>;
  /** Ids of the spans of a type that come first or last, in that order. MUST work as `outline` does. */
  spanIdsOfType(trace: StoredTrace, request: SpansOfType): Promise<readonly string[]>;
  /** Positions of evaluations, by insertion and then id. */
  evaluationOrder(trace: StoredTrace, range: ListRange<ListPosition>): Promise<readonly (ListPosition & SizedText)[]>;
  /** The named evaluations in the order of the ids; unknown ids are left out. */
  evaluations(trace: StoredTrace, evaluationIds: readonly string[]): Promise<readonly Evaluation[]>;
};

/** A trace as `find` returned it, with its project's number. */
export type StoredTrace = Pick<TraceRecord, 'sequence' | 'spanCount' | 'aggregatesJson'> & {
  readonly projectNumber: number;
};

/** A trace without its spans and its tree. */
export type TraceRow = {
  readonly record: TraceRecord;
  readonly choice: TraceChoice;
  readonly hasSpans: boolean;
  /** Of the spans that stand for the trace; null: one of them is long, and none was read. */
  readonly texts: ChosenTexts | null;
  /** In the order of `evaluationOrder`. */
  readonly evaluations: readonly Evaluation[];
};

export type TraceOutline = {
  /** Comes from the aggregates of a trace that has them. */
  readonly choice: TraceChoice;
  readonly tree: string;
};

/** The position of an item in a list of a trace. */
export type ListPosition = { readonly atMs: number; readonly id: string };
/** By the exact start, then the later end first, so that a span comes before those inside it, then id. */
export type SpanPosition = ListPosition & {
  readonly startedNs: number;
  readonly durationMs: number;
  readonly finishedNs: number;
};
/** `after` null: from the beginning. */
export type ListRange<Position> = { readonly after: Position | null; readonly limit: number };
/** An unknown type matches no span. */
type SpansOfType = { readonly type: string; readonly order: 'first' | 'last'; readonly limit: number };
/** The approximate size of the item's text. */
export type SizedText = { readonly bytes: number };
