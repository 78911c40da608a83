/** The tree of the spans of a trace, by their indexes. */

type Link = { readonly spanId: string; readonly parentId: string | null };

/** Stored spans in one chain of a tree that is still added up. */
export const CHAIN_SPANS_MAX = 512;

export type UsageTree = {
  /** The index of the stored parent; -1: the span is a root. */
  readonly parents: Int32Array;
  /** Every parent before its children. */
  readonly order: Int32Array;
  /** First child and next sibling; -1: none. */
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
  /** Whether a chain has more than CHAIN_SPANS_MAX spans. */
  readonly isDeep: boolean;
};

const NONE = -1;

/** A span whose parent is not stored is a root, and so is every span of a cycle. */
export function linkSpans(spans: readonly Link[]): UsageTree {
  const indexes = new Map(spans.map(({ spanId }, index) => [spanId, index]));
  const parents = Int32Array.from(spans, ({ parentId }) =>
    parentId === null ? NONE : (indexes.get(parentId) ?? NONE),
  );
  cutCycles(parents);
  const firstChild = new Int32Array(spans.length).fill(NONE);
  const nextSibling = new Int32Array(spans.length).fill(NONE);
  const order = new Int32Array(spans.length);
  const depths = new Int32Array(spans.length);
  let end = 0;
  for (const [index, parent] of parents.entries()) {
    if (parent === NONE) {
      order[end++] = index;
      depths[index] = 1;
    } else {
      nextSibling[index] = firstChild[parent] ?? NONE;
      firstChild[parent] = index;
    }
  }
  let isDeep = false;
  for (let at = 0; at < end; at += 1) {
    const index = order[at] ?? NONE;
    const depth = depths[index] ?? 0;
    if (depth > CHAIN_SPANS_MAX) isDeep = true;
    for (let child = firstChild[index] ?? NONE; child !== NONE; child = nextSibling[child] ?? NONE) {
      order[end++] = child;
      depths[child] = depth + 1;
    }
  }
  return { parents, order, firstChild, nextSibling, isDeep };
}

/** Gives the spans of cycles no parent. */
function cutCycles(parents: Int32Array): void {
  // The first walk upward that visited each span.
  const walks = new Int32Array(parents.length);
  const found: number[] = [];
  for (let start = 0; start < parents.length; start += 1) {
    const walk = start + 1;
    let index = start;
    while (index !== NONE && walks[index] === 0) {
      walks[index] = walk;
      index = parents[index] ?? NONE;
    }
    // A span of this walk closes a cycle; a span of an earlier one does not.
    if (index === NONE || walks[index] !== walk) continue;
    const first = index;
    do {
      found.push(index);
      index = parents[index] ?? NONE;
    } while (index !== first);
  }
  for (const index of found) parents[index] = NONE;
}
