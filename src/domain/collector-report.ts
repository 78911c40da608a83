/** What the sender hears of what was not stored. */

import type { ItemReason } from './collector-draft.ts';
import { Fault } from './fault.ts';
import type { TraceAppend, TraceAppended } from './trace.ts';

/** What became of the drafts of one trace. */
export type Collected = {
  readonly append: TraceAppend;
  readonly refusedSpans: readonly ItemReason[];
  readonly refusedEvaluations: readonly ItemReason[];
  /** What was left out of the trace and of items that are kept, with where it was. */
  readonly notes: readonly string[];
  /** Strings that were cut. */
  readonly cuts: number;
  /** Where in the request the spans of the append were. */
  readonly spanPlaces: readonly number[];
  readonly stringMaxBytes: number;
};

export type Judged = { readonly collected: Collected; readonly isStorable: boolean };

export type CollectReport = {
  readonly rejectedSpans: number;
  readonly rejectedEvaluations: number;
  readonly errorMessage: string;
};

type Stored = { readonly collected: Collected; readonly appended: TraceAppended };

const TOLD_REASONS_MAX = 100;
const NOTHING_APPENDED: TraceAppended = { metadataNotes: [] };

/** Once the append is stored. Throws when the trace had room for nothing of it. */
export function reportCollected(collected: Collected, appended: TraceAppended): CollectReport {
  const { append } = collected;
  const { refusedSpans = [] } = appended;
  const isStored = refusedSpans.length < append.spans.length || append.evaluations.length > 0;
  if (refusedSpans.length > 0 && !isStored) throw namingTrace(nothingStored(collected, appended), append.traceId);
  return reportOf([], [{ collected, appended }]);
}

/** Once all appends are stored. `refused`: spans of no trace; `appended`: of those traces that could be stored. */
export function reportBatch(
  refused: readonly ItemReason[],
  judged: readonly Judged[],
  appended: readonly TraceAppended[],
): CollectReport {
  let next = 0;
  const stored = judged.map(({ collected, isStorable }) => {
    if (!isStorable) return { collected, appended: NOTHING_APPENDED };
    next += 1;
    return { collected, appended: appended[next - 1] ?? NOTHING_APPENDED };
  });
  return reportOf(refused, stored);
}

/** The refusal of a request of which nothing can be stored. */
export function nothingStored(collected: Collected, appended = NOTHING_APPENDED): Fault {
  const { errorMessage, rejectedSpans, rejectedEvaluations } = reportOf([], [{ collected, appended }]);
  const carriesItems = rejectedSpans + rejectedEvaluations > 0;
  const reason = carriesItems ? errorMessage : joinReasons([...collected.notes, 'nothing to store']);
  return refusal('validation_error', `Validation error: ${reason}`);
}

/** The family of the collector prints one text in both members, whatever the code. */
export function refusal(code: 'malformed_request' | 'validation_error', message: string): Fault {
  return new Fault(code, message, { kind: 'bad_request', flatError: message });
}

/** A refusal that says which trace it is about: errors have ids of their own. */
export function namingTrace(fault: Fault, traceId: string): Fault {
  const { code, message, kind, flatError } = fault;
  return new Fault(code, message, { kind, flatError, meta: { ...fault.meta, postedTraceId: traceId } });
}

/** Every reason on its own: spans first, then evaluations, metadata, and what was cut. */
export function reasonsOf(collected: Collected): readonly string[] {
  return tell([], [{ collected, appended: NOTHING_APPENDED }]).reasons;
}

function reportOf(refused: readonly ItemReason[], stored: readonly Stored[]): CollectReport {
  const { reasons, ...counts } = tell(refused, stored);
  return { ...counts, errorMessage: joinReasons(reasons) };
}

function tell(refused: readonly ItemReason[], stored: readonly Stored[]) {
  const spans = [...refused, ...stored.flatMap(({ collected }) => collected.refusedSpans)].sort(byPlace);
  const excess = stored.flatMap(excessOf).sort(byPlace);
  const evaluations = stored.flatMap(({ collected }) => collected.refusedEvaluations).sort(byPlace);
  const reasons = [
    ...[...spans, ...excess].map(({ place, reason }) => `spans[${place}]${reason}`),
    ...evaluations.map(({ place, reason }) => `evaluations[${place}]${reason}`),
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

function byPlace(a: ItemReason, b: ItemReason): number {
  return a.place - b.place;
}

/** Of spans that the trace had no room for. */
function excessOf({ collected: { append, spanPlaces }, appended: { refusedSpans = [] } }: Stored): ItemReason[] {
  const reason = `: too many spans, maximum of ${append.spansMax} per trace`;
  return refusedSpans.flatMap((index) => {
    const place = spanPlaces[index];
    return place === undefined ? [] : [{ place, reason }];
  });
}

function cutsOf(stored: readonly Stored[]): readonly string[] {
  const cuts = stored.reduce((sum, { collected }) => sum + collected.cuts, 0);
  return cuts === 0 ? [] : [`${cuts} string(s) truncated to ${stored[0]?.collected.stringMaxBytes} bytes`];
}

function joinReasons(reasons: readonly string[]): string {
  if (reasons.length <= TOLD_REASONS_MAX) return reasons.join('; ');
  return [...reasons.slice(0, TOLD_REASONS_MAX), `and ${reasons.length - TOLD_REASONS_MAX} more`].join('; ');
}
