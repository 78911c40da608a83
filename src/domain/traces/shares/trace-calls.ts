/** The calls of a trace that do not simply count for themselves. */

import { isCall } from '../calls.ts';
import { isEarlier } from './call-roles.ts';
import { hasParent, type SharedSpan, sharesOf } from './shares.ts';
import type { SpanRole } from './span-share.ts';
import { linkSpans, type UsageTree } from './usage-tree.ts';

export type TraceCall = {
  readonly role: SpanRole;
  /** The span that the requests of this one are counted with: the other one of a pair, or the first call below. */
  readonly otherId: string | null;
  /** The share of the cost. */
  readonly costNanoUsd: number | null;
};

/** By span id. Calls that count for themselves are left out. */
export type TraceCalls = ReadonlyMap<string, TraceCall>;

/** A stored span that makes a request or is counted in one. `call` is null for a call that counts for itself. */
export type ListedCall = {
  readonly spanId: string;
  readonly call: TraceCall | null;
  /** Whether its requests may need a correction. */
  readonly isUnsettled: boolean;
};

/** What to correct in a trace, as it was when it was read. */
export type CallSettlement = {
  readonly traceId: string;
  /** When the trace had changed last. */
  readonly updatedAtMs: number;
  readonly calls: readonly ListedCall[];
  readonly nowMs: number;
};

export const NO_CALLS: TraceCalls = new Map();
const NONE = -1;

/** Over all spans of a trace, each id once, in any order. */
export function callsOf(spans: readonly SharedSpan[]): TraceCalls {
  // A call with nothing below it counts for itself.
  if (!hasParent(spans, isCall)) return NO_CALLS;
  const { roles, others, costs } = sharesOf(spans);
  const calls = new Map<string, TraceCall>();
  let tree: UsageTree | null = null;
  for (const [index, span] of spans.entries()) {
    const role = roles[index] ?? 'container';
    if (role === 'call' || !isCall(span)) continue;
    if (role === 'container') tree ??= linkSpans(spans);
    const other = tree !== null && role === 'container' ? firstBelow(spans, tree, index) : (others[index] ?? NONE);
    calls.set(span.spanId, { role, otherId: spans[other]?.spanId ?? null, costNanoUsd: costs[index] ?? null });
  }
  return calls;
}

function firstBelow(spans: readonly SharedSpan[], { firstChild, nextSibling }: UsageTree, index: number): number {
  let found = NONE;
  const open = [index];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    for (let at = firstChild[from] ?? NONE; at !== NONE; at = nextSibling[at] ?? NONE) {
      const span = spans[at];
      if (span === undefined) continue;
      if (!isCall(span)) open.push(at);
      else if (isEarlier(span, spans[found])) found = at;
    }
  }
  return found;
}

/** Whether a span plays another part, or with another span. */
export function isOtherCall(one: TraceCall | undefined, other: TraceCall | undefined): boolean {
  return one?.role !== other?.role || one?.otherId !== other?.otherId;
}
