/** What a trace tells of each of its spans beyond what was sent: time of its own, and its part in the length and the cost. */

import type { TraceSpan } from '../../../../gen/spandrel/v1/traces_pb.js';
import type { SpanNode } from '../span-tree.ts';

/** Each list has the order of the nodes. */
export type Measures = {
  /** Milliseconds during which none of its children ran. */
  readonly selfMs: Float64Array;
  /** 1 for spans that the end of the trace had to wait for. */
  readonly isCritical: Uint8Array;
  /** USD of the span; without a cost of its own, of the spans below it. */
  readonly cost: readonly (number | null)[];
  /** Tokens read and written, counted like the cost. */
  readonly tokens: readonly (number | null)[];
  /** The sums over the roots. */
  readonly totalCost: number;
  readonly totalTokens: number;
};

export function measureSpans(nodes: readonly SpanNode[]): Measures {
  const cost = sumUp(nodes, ({ span }) => span.metrics?.cost ?? null);
  const tokens = sumUp(nodes, ({ span }) => tokensOf(span.metrics));
  return {
    selfMs: selfTimes(nodes),
    isCritical: criticalPath(nodes),
    cost: cost.sums,
    tokens: tokens.sums,
    totalCost: cost.total,
    totalTokens: tokens.total,
  };
}

type TokenCounts = { readonly promptTokens?: bigint | undefined; readonly completionTokens?: bigint | undefined };

function tokensOf({ promptTokens, completionTokens }: TokenCounts = {}): number | null {
  if (promptTokens === undefined && completionTokens === undefined) return null;
  return Number((promptTokens ?? 0n) + (completionTokens ?? 0n));
}

/** A span with a value of its own stands for those below it, which often report the same usage again. */
function sumUp(nodes: readonly SpanNode[], own: (node: SpanNode) => number | null) {
  const sums = nodes.map(own);
  const below = new Float64Array(nodes.length);
  const hasBelow = new Uint8Array(nodes.length);
  let total = 0;
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    if (sums[at] === null && hasBelow[at]) sums[at] = below[at] ?? 0;
    const sum = sums[at];
    const parent = nodes[at]?.parent ?? -1;
    if (sum == null) continue;
    if (parent < 0) total += sum;
    else {
      below[parent] = (below[parent] ?? 0) + sum;
      hasBelow[parent] = 1;
    }
  }
  return { sums, total };
}

/** Children come in the order of their start, so one pass finds what they cover together. */
function selfTimes(nodes: readonly SpanNode[]): Float64Array {
  const selfMs = new Float64Array(nodes.length);
  const coveredUntil = new Float64Array(nodes.length);
  for (const { index, parent, startMs, endMs } of nodes) {
    selfMs[index] = endMs - startMs;
    const above = nodes[parent];
    if (!above) continue;
    const fromMs = Math.max(startMs, above.startMs, coveredUntil[parent] ?? 0);
    const untilMs = Math.min(endMs, above.endMs);
    if (untilMs <= fromMs) continue;
    selfMs[parent] = (selfMs[parent] ?? 0) - (untilMs - fromMs);
    coveredUntil[parent] = untilMs;
  }
  return selfMs;
}

/** The span with the most time of its own; null if there are fewer than two. */
export function slowestSpan(nodes: readonly SpanNode[]): TraceSpan | null {
  if (nodes.length < 2) return null;
  const selfMs = selfTimes(nodes);
  let most = 0;
  for (const { index } of nodes) if ((selfMs[index] ?? 0) > (selfMs[most] ?? 0)) most = index;
  return nodes[most]?.span ?? null;
}

/** From the end of each span back: the child that ended last, then the one that ended last before that one began. */
function criticalPath(nodes: readonly SpanNode[]): Uint8Array {
  const isCritical = new Uint8Array(nodes.length);
  const children = Map.groupBy(nodes, ({ parent }) => parent);
  const open: { readonly at: number; readonly endMs: number }[] = [{ at: -1, endMs: Number.POSITIVE_INFINITY }];
  for (let current = open.pop(); current; current = open.pop()) {
    let untilMs = current.endMs;
    const byEnd = (children.get(current.at) ?? []).toSorted((one, other) => other.endMs - one.endMs);
    for (const child of byEnd) {
      // What outlasts its parent keeps the parent waiting up to the parent's end.
      const endMs = Math.min(child.endMs, current.endMs);
      if (endMs > untilMs || child.startMs >= untilMs) continue;
      isCritical[child.index] = 1;
      open.push({ at: child.index, endMs });
      untilMs = child.startMs;
    }
  }
  return isCritical;
}
