/** The rows of the tree: which spans are shown, and which rows stand for several. */

import type { SpanType } from '../../../../gen/spandrel/v1/traces_pb.js';
import type { SpanNode } from '../span-tree.ts';

export type TreeRow = {
  readonly node: SpanNode;
  /** Identical siblings that begin with this one; null without others. */
  readonly run: { readonly nodes: readonly SpanNode[]; readonly isOpen: boolean } | null;
};

/** Fewer repeats are easier to read one by one. */
const REPEATS_MIN = 4;

export type Folding = {
  /** Ids of spans whose children are hidden. */
  readonly folded: ReadonlySet<string>;
  /** Ids of first spans of runs that are shown one by one. */
  readonly opened: ReadonlySet<string>;
};

export const UNFOLDED: Folding = { folded: new Set(), opened: new Set() };

/** The length of the run that begins at each node; 0 where none begins. */
export function findRuns(nodes: readonly SpanNode[]): Int32Array {
  const runs = new Int32Array(nodes.length);
  for (let first = 0; first < nodes.length; ) {
    let next = first + 1;
    while (next < nodes.length && areAlike(nodes[first], nodes[next])) next += 1;
    if (next - first >= REPEATS_MIN) runs[first] = next - first;
    first = next;
  }
  return runs;
}

/** Spans with others below them differ in these. Neighbours of one parent without children stand beside each other. */
function areAlike(one: SpanNode | undefined, other: SpanNode | undefined): boolean {
  if (!one || !other || one.descendants > 0 || other.descendants > 0 || one.parent !== other.parent) return false;
  const [{ name, type, model }, next] = [one.span, other.span];
  return one.parent >= 0 && name === next.name && type === next.type && model === next.model;
}

export function foldedRows(
  nodes: readonly SpanNode[],
  runs: Int32Array,
  { folded, opened }: Folding,
): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at];
    if (!node) break;
    const length = runs[at] ?? 0;
    const isOpen = length > 0 && opened.has(node.span.spanId);
    rows.push({ node, run: length > 0 ? { nodes: nodes.slice(at, at + length), isOpen } : null });
    if (folded.has(node.span.spanId)) at += node.descendants;
    else if (length > 0 && !isOpen) at += length - 1;
  }
  return rows;
}

export type Finding = { readonly text: string; readonly types: ReadonlySet<SpanType> | null };

/** The spans that match, by their place; null if everything does. */
export function findSpans(nodes: readonly SpanNode[], { text, types }: Finding): ReadonlySet<number> | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === '' && types === null) return null;
  const found = new Set<number>();
  for (const { index, span } of nodes) {
    if (types !== null && !types.has(span.type)) continue;
    const { name, model, vendor, spanId, error } = span;
    const isFound = [name, model, vendor, spanId, error?.message].some((each) => each?.toLowerCase().includes(wanted));
    if (wanted === '' || isFound) found.add(index);
  }
  return found;
}

/** The spans that match, each below its ancestors. */
export function foundRows(nodes: readonly SpanNode[], found: ReadonlySet<number>): readonly TreeRow[] {
  const shown = new Uint8Array(nodes.length);
  for (const index of found) {
    for (let at = index; at >= 0 && !shown[at]; at = nodes[at]?.parent ?? -1) shown[at] = 1;
  }
  return nodes.flatMap((node) => (shown[node.index] ? [{ node, run: null }] : []));
}

/** Unfolds what hides a span; the same object where nothing does. */
export function revealing(nodes: readonly SpanNode[], runs: Int32Array, folding: Folding, spanId: string): Folding {
  const node = nodes.find(({ span }) => span.spanId === spanId);
  if (!node) return folding;
  let { folded, opened } = folding;
  for (let at = node.parent; at >= 0; at = nodes[at]?.parent ?? -1) {
    const id = nodes[at]?.span.spanId;
    if (id === undefined || !folded.has(id)) continue;
    folded = new Set([...folded].filter((each) => each !== id));
  }
  let first = node.index;
  while (first > 0 && !runs[first] && nodes[first - 1]?.parent === node.parent) first -= 1;
  const length = runs[first] ?? 0;
  const head = nodes[first]?.span.spanId;
  if (head !== undefined && first < node.index && first + length > node.index && !opened.has(head)) {
    opened = new Set([...opened, head]);
  }
  return folded === folding.folded && opened === folding.opened ? folding : { folded, opened };
}
