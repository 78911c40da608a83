/** The spans of a trace drawn as a tree of text lines. */

import type { Steps } from '../steps.ts';
import type { SpanSummary } from './trace.ts';

/** Lines of a tree; others are only counted. */
const TREE_LINES_MAX = 1000;
/** Spans deeper than this are drawn at this depth, so that indents do not grow with the trace. */
const INDENT_LEVELS_MAX = 32;
const TREE_MAX_BYTES = 256 * 1024;
const NODES_PER_STEP = 5000;

/** Fields of a span that shape the tree. */
export type SpanLink = Pick<SpanSummary, 'spanId' | 'parentId'>;
/** Fields of a span in a line. */
type SpanTitle = Pick<SpanSummary, 'spanId' | 'type' | 'name' | 'model'>;

export type TreeLine = {
  readonly spanId: string;
  readonly drawing: string;
  /** The indent of the lines below this one that describe the span. */
  readonly below: string;
};

export type TreeLayout = { readonly lines: readonly TreeLine[]; readonly spanCount: number };

/** Draws any graph: spans in a cycle and spans without a stored parent are roots. `links` come by start, then id. */
export function* layOutTree(links: readonly SpanLink[]): Steps<TreeLayout> {
  const lines: TreeLine[] = [];
  // An explicit stack: traces may be deeper than the call stack.
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

/** A root line, then a line per span, up to TREE_MAX_BYTES. */
export function drawTree({ lines, spanCount }: TreeLayout, titles: ReadonlyMap<string, SpanTitle>): string {
  const text = createBoundedLines(TREE_MAX_BYTES);
  text.add('.');
  let shown = 0;
  for (const { spanId, drawing } of lines) {
    const title = titles.get(spanId);
    if (title !== undefined && !text.add(drawing + describe(title))) break;
    shown += 1;
  }
  if (shown < spanCount) text.close(omittedLine(spanCount - shown));
  return text.text();
}

export function omittedLine(count: number): string {
  return `… ${count} more`;
}

export function describe({ type, name, model }: SpanTitle): string {
  const text = `${type}: ${name ?? type}${model === null ? '' : ` (${model})`}`;
  // One line per span, for any name.
  return text.replace(/[\r\n\u2028\u2029]+/g, ' ');
}

type Node = {
  readonly link: SpanLink;
  parent: Node | null;
  firstChild: Node | null;
  nextSibling: Node | null;
  /** The first walk that visited it; 0: none. */
  walk: number;
};

/** Links every span below its parent, in the given order, and returns the first root. */
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

/** Gives spans in a cycle no parent. */
function* cutCycles(nodes: readonly Node[]): Steps<void> {
  const found: Node[] = [];
  for (let walk = 1; walk <= nodes.length; walk += 1) {
    if (walk % NODES_PER_STEP === 0) yield;
    let node = nodes[walk - 1] ?? null;
    while (node !== null && node.walk === 0) {
      node.walk = walk;
      node = node.parent;
    }
    // A node of this walk closes a cycle; a node of an earlier one does not.
    if (node === null || node.walk !== walk) continue;
    const start = node;
    do {
      found.push(node);
      node = node.parent ?? start;
    } while (node !== start);
  }
  for (const node of found) node.parent = null;
}

export function createBoundedLines(maxBytes: number) {
  const lines: string[] = [];
  let leftBytes = maxBytes;
  return {
    /** False when the line does not fit; then no later line is added. */
    add(line: string): boolean {
      const bytes = Buffer.byteLength(line) + 1;
      if (bytes > leftBytes) {
        leftBytes = 0;
        return false;
      }
      leftBytes -= bytes;
      lines.push(line);
      return true;
    },
    /** Adds the last line, even beyond the limit. */
    close: (line: string): void => void lines.push(line),
    text: (): string => lines.join('\n'),
  };
}
