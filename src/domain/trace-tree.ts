/** The spans of a trace drawn as a tree of text lines. */

import type { SpanSummary } from './trace.ts';

/** Lines of one tree; the rest is only counted. */
export const TREE_LINES_MAX = 1000;

export type TreeLine = {
  readonly summary: SpanSummary;
  /** The drawing and the text. */
  readonly text: string;
  /** The drawing that continues below the line, before anything that is told about the span. */
  readonly below: string;
};

export type TraceTree = { readonly lines: readonly TreeLine[]; readonly untold: number };

/** A root line, then one line per span. Spans come by start, then id. */
export function asciiTree(summaries: readonly SpanSummary[]): string {
  const { lines, untold } = layOutTree(summaries);
  return joinTree(
    lines.map((line) => line.text),
    untold,
  );
}

/** Lines of a tree under its root, and how many more there would be. */
export function joinTree(lines: readonly string[], untold: number): string {
  return ['.', ...lines, ...(untold > 0 ? [`… ${untold} more`] : [])].join('\n');
}

/** Any graph is drawn: spans in a cycle and spans whose parent is not stored stand at root level. */
export function layOutTree(summaries: readonly SpanSummary[]): TraceTree {
  const lines: TreeLine[] = [];
  // A stack of its own: traces may be deeper than the call stack.
  const pending: { node: Node; indent: string }[] = [];
  const root = linkNodes(summaries);
  if (root !== null) pending.push({ node: root, indent: '' });
  while (lines.length < TREE_LINES_MAX) {
    const next = pending.pop();
    if (next === undefined) break;
    const { node, indent } = next;
    const { summary, nextSibling, firstChild } = node;
    const below = indent + (nextSibling === null ? '    ' : '│   ');
    const branch = nextSibling === null ? '└── ' : '├── ';
    lines.push({
      summary,
      text: indent + branch + describe(summary),
      below: below + (firstChild === null ? '    ' : '│   '),
    });
    if (nextSibling !== null) pending.push({ node: nextSibling, indent });
    if (firstChild !== null) pending.push({ node: firstChild, indent: below });
  }
  return { lines, untold: summaries.length - lines.length };
}

function describe({ type, name, model }: SpanSummary): string {
  const text = `${type}: ${name ?? type}${model === null ? '' : ` (${model})`}`;
  // One line per span, whatever its name holds.
  return text.replace(/[\r\n\u2028\u2029]+/g, ' ');
}

type Node = {
  readonly summary: SpanSummary;
  parent: Node | null;
  firstChild: Node | null;
  nextSibling: Node | null;
  /** The walk that came by first; 0: none yet. */
  walk: number;
};

/** Links every span below its parent, in the given order, and answers the first of the root level. */
function linkNodes(summaries: readonly SpanSummary[]): Node | null {
  const nodes = summaries.map((summary): Node => {
    return { summary, parent: null, firstChild: null, nextSibling: null, walk: 0 };
  });
  const nodeById = new Map(nodes.map((node) => [node.summary.spanId, node]));
  for (const node of nodes) {
    const { parentId } = node.summary;
    node.parent = parentId === null ? null : (nodeById.get(parentId) ?? null);
  }
  for (const node of findCycleNodes(nodes)) node.parent = null;
  let firstRoot: Node | null = null;
  for (const node of nodes.reverse()) {
    const { parent } = node;
    if (parent === null) {
      node.nextSibling = firstRoot;
      firstRoot = node;
    } else {
      node.nextSibling = parent.firstChild;
      parent.firstChild = node;
    }
  }
  return firstRoot;
}

function findCycleNodes(nodes: readonly Node[]): readonly Node[] {
  const found: Node[] = [];
  for (let walk = 1; walk <= nodes.length; walk += 1) {
    let node = nodes[walk - 1] ?? null;
    while (node !== null && node.walk === 0) {
      node.walk = walk;
      node = node.parent;
    }
    // Meeting one's own trail closes a cycle; meeting an earlier one's does not.
    if (node === null || node.walk !== walk) continue;
    const start = node;
    do {
      found.push(node);
      node = node.parent ?? start;
    } while (node !== start);
  }
  return found;
}
