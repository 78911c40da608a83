/** Reports to the sender what was not stored. */

import { Fault } from '../../fault.ts';
import type { PromptLink } from '../prompt-links.ts';
import type { TraceAppend, TraceAppended } from '../trace.ts';
import type { BatchDraft, ItemReason } from './collector-draft.ts';

/** The validated drafts of one trace. */
export type Collected = {
  readonly append: TraceAppend;
  /** The versions of prompts that its spans name; its metadata does not have them yet. */
  readonly links: readonly PromptLink[];
  readonly refusedSpans: readonly ItemReason[];
  readonly refusedEvaluations: readonly ItemReason[];
  /** Parts left out of kept spans. */
  readonly spanNotes: readonly ItemReason[];
  /** Parts left out of the trace, each with its path. */
  readonly notes: readonly string[];
  /** The paths of the fields that were left out of kept items. */
  readonly dropped: readonly string[];
  /** Number of cut strings. */
  readonly cuts: number;
  /** Indexes in the request of the append's spans. */
  readonly spanIndexes: readonly number[];
  readonly stringMaxBytes: number;
};

export type ValidatedTrace = { readonly collected: Collected; readonly isStorable: boolean };

export type CollectReport = {
  readonly rejectedSpans: number;
  readonly rejectedEvaluations: number;
  readonly errorMessage: string;
};

type Stored = { readonly collected: Collected; readonly appended: TraceAppended };

const LISTED_REASONS_MAX = 100;
const NOTHING_APPENDED: TraceAppended = { metadataNotes: [] };

/** Call it once the append is stored. Throws when nothing of it was stored. */
export function reportCollected(collected: Collected, appended: TraceAppended): CollectReport {
  const { append } = collected;
  const { refusedSpans = [] } = appended;
  const isStored = refusedSpans.length < append.spans.length || append.evaluations.length > 0;
  if (refusedSpans.length > 0 && !isStored) throw namingTrace(nothingStored(collected, appended), append.traceId);
  return reportOf({ stored: [{ collected, appended }] });
}

/** Call it once all appends are stored. `appended`: results of storable traces. */
export function reportBatch(
  { refused, itemsName }: Pick<BatchDraft, 'refused' | 'itemsName'>,
  validated: readonly ValidatedTrace[],
  appended: readonly TraceAppended[],
): CollectReport {
  const results = appended.values();
  const stored = validated.map(({ collected, isStorable }) => {
    return { collected, appended: (isStorable ? results.next().value : undefined) ?? NOTHING_APPENDED };
  });
  return reportOf({ refused, stored, itemsName });
}

/** The refusal of a request of which nothing can be stored. */
export function nothingStored(collected: Collected, appended = NOTHING_APPENDED): Fault {
  const { errorMessage, rejectedSpans, rejectedEvaluations } = reportOf({ stored: [{ collected, appended }] });
  const carriesItems = rejectedSpans + rejectedEvaluations > 0;
  const reason = carriesItems ? errorMessage : joinReasons([...collected.notes, 'nothing to store']);
  return refusal('validation_error', `Validation error: ${reason}`);
}

/** Errors of the collector have one text in both members, for any code. */
export function refusal(code: 'malformed_request' | 'validation_error', message: string): Fault {
  return new Fault(code, message, { kind: 'bad_request', flatError: message });
}

/** Adds the posted trace id: errors carry the trace id of the call itself. */
export function namingTrace(fault: Fault, traceId: string): Fault {
  const { code, message, kind, flatError } = fault;
  return new Fault(code, message, { kind, flatError, meta: { ...fault.meta, postedTraceId: traceId } });
}

/** Each reason as one text: spans first, then evaluations, metadata, and what was cut. */
export function reasonsOf(collected: Collected): readonly string[] {
  return describeRejections({ stored: [{ collected, appended: NOTHING_APPENDED }] }).reasons;
}

type Reported = {
  readonly refused?: readonly ItemReason[];
  readonly stored: readonly Stored[];
  readonly itemsName?: string | undefined;
};

function reportOf(reported: Reported): CollectReport {
  const { reasons, ...counts } = describeRejections(reported);
  return { ...counts, errorMessage: joinReasons(reasons) };
}

function describeRejections({ refused = [], stored, itemsName = 'spans' }: Reported) {
  const spans = [...refused, ...stored.flatMap(({ collected }) => collected.refusedSpans)].sort(byIndex);
  const notes = stored.flatMap(({ collected }) => collected.spanNotes);
  const excess = stored.flatMap(excessOf).sort(byIndex);
  const evaluations = stored.flatMap(({ collected }) => collected.refusedEvaluations).sort(byIndex);
  const reasons = [
    ...[...[...spans, ...notes].sort(byIndex), ...excess].map(({ index, reason }) => `${itemsName}[${index}]${reason}`),
    ...evaluations.map(({ index, reason }) => `evaluations[${index}]${reason}`),
    ...stored.flatMap(({ collected }) => collected.notes),
    ...cutsOf(stored),
    ...stored.flatMap(({ appended }) => appended.metadataNotes),
  ];
  return {
    rejectedSpans: spans.length + excess.length,
    rejectedEvaluations: evaluations.length,
    reasons,
  };
}

function byIndex(a: ItemReason, b: ItemReason): number {
  return a.index - b.index;
}

/** For spans beyond the trace's limit. */
function excessOf({ collected: { append, spanIndexes }, appended: { refusedSpans = [] } }: Stored): ItemReason[] {
  const reason = `: too many spans, maximum of ${append.spansMax} per trace`;
  return refusedSpans.flatMap((index) => {
    const spanIndex = spanIndexes[index];
    return spanIndex === undefined ? [] : [{ index: spanIndex, reason }];
  });
}

function cutsOf(stored: readonly Stored[]): readonly string[] {
  const cuts = stored.reduce((sum, { collected }) => sum + collected.cuts, 0);
  return cuts === 0 ? [] : [`${cuts} string(s) truncated to ${stored[0]?.collected.stringMaxBytes} bytes`];
}

function joinReasons(reasons: readonly string[]): string {
  if (reasons.length <= LISTED_REASONS_MAX) return reasons.join('; ');
  return [...reasons.slice(0, LISTED_REASONS_MAX), `and ${reasons.length - LISTED_REASONS_MAX} more`].join('; ');
}
