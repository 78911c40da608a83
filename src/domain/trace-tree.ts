/** The spans of a trace drawn as a tree of text lines. */

import { createBoundedLines } from './bounded-lines.ts';
import type { Steps } from './steps.ts';
import type { SpanSummary } from './trace.ts';

/** Lines of one tree; the rest is only counted. */
export const TREE_LINES_MAX = 1000;
/** Spans deeper than this are drawn at this depth: what stands before a line must not grow with the trace. */
export const INDENT_LEVELS_MAX = 32;
const TREE_MAX_BYTES = 256 * 1024;
const NODES_PER_STEP = 5000;

/** What the shape of a tree needs of a span. */
export type SpanLink = Pick<SpanSummary, 'spanId' | 'parentId'>;
/** What a line tells of a span. */
export type SpanTitle = Pick<SpanSummary, 'spanId' | 'type' | 'name' | 'model'>;

export type TreeLine = {
  readonly spanId: string;
  readonly drawing: string;
  /** The drawing that continues below the line, before anything that is told about the span. */
  readonly below: string;
};

export type TreeLayout = { readonly lines: readonly TreeLine[]; readonly spanCount: number };

/** Any graph is drawn: spans in a cycle and spans whose parent is not stored stand at root level. Spans come by start, then id. */
export function* layOutTree(links: readonly SpanLink[]): Steps<TreeLayout> {
  const lines: TreeLine[] = [];
  // A stack of its own: traces may be deeper than the call stack.
  const pending: { node: Node; indent: string; level: number }[] = [];
  const root = yield* linkNodes(links);
  if (root !== null) pending.push({ node: root, indent: '', level: 0 });
  while (lines.length < TREE_LINES_MAX) {
    const next = pending.pop();
    if (next === undefined) break;
    const { node, indent, level } = next;
    const { link, nextSibling, firstChild } = node;
    const below = level < INDENT_LEVELS_MAX ? indent + (nextSibling === null ? '    ' : '│   ') : indent;
    lines.push({
      spanId: link.spanId,
      drawing: indent + (nextSibling === null ? '└── ' : '├── '),
      below: below + (firstChild === null ? '    ' : '│   '),
    });
    if (nextSibling !== null) pending.push({ node: nextSibling, indent, level });
    if (firstChild !== null) pending.push({ node: firstChild, indent: below, level: level + 1 });
  }
  return { lines, spanCount: links.length };
}

/** A root line, then one line per span, as far as there is room. */
export function drawTree({ lines, spanCount }: TreeLayout, titles: ReadonlyMap<string, SpanTitle>): string {
  const text = createBoundedLines(TREE_MAX_BYTES);
  text.add('.');
  let told = 0;
  for (const { spanId, drawing } of lines) {
    const title = titles.get(spanId);
    if (title !== undefined && !text.add(drawing + describe(title))) break;
    told += 1;
  }
  if (told < spanCount) text.close(untoldLine(spanCount - told));
  return text.text();
}

export function untoldLine(count: number): string {
  return `… ${count} more`;
}

export function describe({ type, name, model }: SpanTitle): string {
  const text = `${type}: ${name ?? type}${model === null ? '' : ` (${model})`}`;
  // One line per span, whatever its name holds.
  return text.replace(/[\r\n\u2028\u2029]+/g, ' ');
}

type Node = {
  readonly link: SpanLink;
  parent: Node | null;
  firstChild: Node | null;
  nextSibling: Node | null;
  /** The walk that came by first; 0: none yet. */
  walk: number;
};

/** Links every span below its parent, in the given order, and answers the first of the root level. */
function* linkNodes(links: readonly SpanLink[]): Steps<Node | null> {
  const nodes: Node[] = [];
  const nodeById = new Map<string, Node>();
  for (const link of links) {
    const node: Node = { link, parent: null, firstChild: null, nextSibling: null, walk: 0 };
    nodes.push(node);
    nodeById.set(link.spanId, node);
    if (nodes.length % NODES_PER_STEP === 0) yield;
  }
  for (const [index, node] of nodes.entries()) {
    const { parentId } = node.link;
    node.parent = parentId === null ? null : (nodeById.get(parentId) ?? null);
    if (index % NODES_PER_STEP === 0) yield;
  }
  yield* cutCycles(nodes);
  let firstRoot: Node | null = null;
  for (const [index, node] of nodes.reverse().entries()) {
    const { parent } = node;
    if (parent === null) {
      node.nextSibling = firstRoot;
      firstRoot = node;
    } else {
      node.nextSibling = parent.firstChild;
      parent.firstChild = node;
    }
    if (index % NODES_PER_STEP === 0) yield;
  }
  return firstRoot;
}

/** Whoever is in a cycle gets no parent. */
function* cutCycles(nodes: readonly Node[]): Steps<void> {
  const found: Node[] = [];
  for (let walk = 1; walk <= nodes.length; walk += 1) {
    if (walk % NODES_PER_STEP === 0) yield;
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
  for (const node of found) node.parent = null;
}
