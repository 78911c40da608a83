/** Finds the spans that are one call, and the calls that only add up the calls below them. */

import { callRowOf, isCall } from '../calls.ts';
import type { SpanType, SpanUsage } from '../trace.ts';
import { inputOf, outputOf, type SpanRole } from './span-share.ts';
import type { UsageTree } from './usage-tree.ts';

export type RoledSpan = SpanUsage & { readonly spanId: string; readonly startedAtMs: number };

/** The calls that are reached from a span downward, without passing another call. */
export type NearestCalls = {
  readonly count: number;
  /** What they count. */
  readonly input: number;
  readonly output: number;
  /** The price row of all of them; null: they differ, or there are none. */
  readonly row: number | null;
  /** Whether a tool or an agent stands above any of them. */
  readonly isApart: boolean;
};

export const NO_CALLS: NearestCalls = Object.freeze({ count: 0, input: 0, output: 0, row: null, isApart: false });

const NONE = -1;

/** Whether two spans that lie next to each other in the tree may be the same call. */
export function isSameUsage(one: SpanUsage, other: SpanUsage): boolean {
  return callRowOf(one) === callRowOf(other) && inputOf(one) === inputOf(other) && outputOf(one) === outputOf(other);
}

/** Whether a call only adds up the calls below it. */
export function addsUp(call: SpanUsage, below: NearestCalls): boolean {
  const [input, output] = [inputOf(call), outputOf(call)];
  return (
    below.count >= 2 &&
    !below.isApart &&
    below.row === callRowOf(call) &&
    below.input === input &&
    below.output === output &&
    input + output > 0
  );
}

/** The calls below a span, as they are seen from above it. */
export function seeThrough({ type }: RoledSpan, below: NearestCalls): NearestCalls {
  return below.count > 0 && isBarrier(type) ? { ...below, isApart: true } : below;
}

export function addNearest(a: NearestCalls, b: NearestCalls): NearestCalls {
  if (a.count === 0) return b;
  if (b.count === 0) return a;
  return {
    count: a.count + b.count,
    input: a.input + b.input,
    output: a.output + b.output,
    row: a.row === b.row ? a.row : null,
    isApart: a.isApart || b.isApart,
  };
}

/** No pair reaches over these: what is below them is work of its own. */
export function isBarrier(type: SpanType): boolean {
  return type === 'tool' || type === 'agent';
}

/** The index of the call that is the same one; NONE without. Each call is in at most one pair. */
export function findInner(
  spans: readonly RoledSpan[],
  { firstChild, nextSibling }: UsageTree,
  { index: outer, roles }: { readonly index: number; readonly roles: readonly SpanRole[] },
): number {
  const call = spans[outer];
  let found = NONE;
  const open = [outer];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    for (let at = firstChild[from] ?? NONE; at !== NONE; at = nextSibling[at] ?? NONE) {
      const span = spans[at];
      if (span === undefined || call === undefined) continue;
      if (!isCall(span)) {
        if (!isBarrier(span.type)) open.push(at);
      } else if (isFree(roles[at]) && isSameUsage(call, span) && isEarlier(span, spans[found])) {
        found = at;
      }
    }
  }
  return found;
}

function isFree(role: SpanRole | undefined): boolean {
  return role === 'call' || role === 'container';
}

/** By start, then id; any span is earlier than none. */
export function isEarlier(
  one: Pick<RoledSpan, 'startedAtMs' | 'spanId'>,
  other: Pick<RoledSpan, 'startedAtMs' | 'spanId'> | undefined,
): boolean {
  if (other === undefined || one.startedAtMs !== other.startedAtMs) {
    return other === undefined || one.startedAtMs < other.startedAtMs;
  }
  return Buffer.compare(Buffer.from(one.spanId), Buffer.from(other.spanId)) < 0;
}
