/** Orders the spans of a trace for display: each below its parent. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';

export type SpanNode = {
  readonly span: TraceSpan;
  /** Its place among the nodes. */
  readonly index: number;
  /** The place of its parent; -1 for a root. */
  readonly parent: number;
  readonly depth: number;
  /** The number of spans below it, at any depth. */
  readonly descendants: number;
  readonly startMs: number;
  readonly endMs: number;
};

/** Deeper spans are not indented further. */
export const DEPTH_MAX = 24;

/**
 * Iterative, because a chain may be as long as the trace. A span whose parent is missing, or that is its own ancestor,
 * is a root.
 */
export function orderSpans(spans: readonly TraceSpan[]): readonly SpanNode[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  /** The roots are below null. */
  const children = Map.groupBy(spans, ({ spanId, parentId }) =>
    parentId === undefined || parentId === spanId || !ids.has(parentId) ? null : parentId,
  );
  const seen = new Set<string>();
  const nodes: (Omit<SpanNode, 'descendants'> & { descendants: number })[] = [];
  const walk = (root: TraceSpan) => {
    const open: { at: number; rest: TraceSpan[] }[] = [];
    const enter = (span: TraceSpan) => {
      if (seen.has(span.spanId)) return;
      seen.add(span.spanId);
      const { startedAt, finishedAt } = span.timestamps ?? {};
      const startMs = startedAt ? timestampMs(startedAt) : 0;
      const endMs = finishedAt ? timestampMs(finishedAt) : startMs;
      const index = nodes.length;
      const parent = open.at(-1)?.at ?? -1;
      nodes.push({ span, index, parent, depth: open.length, descendants: 0, startMs, endMs });
      open.push({ at: index, rest: (children.get(span.spanId) ?? []).toReversed() });
    };
    enter(root);
    for (let current = open.at(-1); current; current = open.at(-1)) {
      const next = current.rest.pop();
      if (next) {
        enter(next);
        continue;
      }
      const node = nodes[current.at];
      if (node) node.descendants = nodes.length - 1 - current.at;
      open.pop();
    }
  };
  for (const root of children.get(null) ?? []) walk(root);
  for (const span of spans) walk(span);
  return nodes;
}

/** The span with the highest cost of its own; null if none has a cost. */
export function costliestSpan(spans: readonly TraceSpan[]): TraceSpan | null {
  let most: TraceSpan | null = null;
  for (const span of spans) {
    const cost = span.metrics?.cost ?? 0;
    if (cost > (most?.metrics?.cost ?? 0)) most = span;
  }
  return most;
}
