/** Changes the shares of a large trace after an append: of its spans and of their ancestors, and of no other span. */

import type { Replaced, SpanSummary } from '../trace.ts';
import {
  EMPTY_NODE,
  type Emission,
  emit,
  isOtherShare,
  nodeSpanOf,
  replaceChild,
  type ShareNumbers,
  type UsageNode,
} from './usage-node.ts';
import { CHAIN_SPANS_MAX } from './usage-tree.ts';

/** The nodes of a trace, packed. */
export type UsageNodes = {
  find(spanId: string): string | undefined;
  store(spanId: string, packed: string): void;
};

type Changes = { readonly added: readonly SpanSummary[]; readonly replaced: readonly Replaced[] };

export type GrownShares = {
  /** The spans of the append, with their shares in place of what they report. */
  readonly added: readonly SpanSummary[];
  readonly replaced: readonly Replaced[];
  /** The shares of other spans that changed. */
  readonly reshared: readonly { readonly old: ShareNumbers; readonly next: ShareNumbers }[];
};

/**
 * Null, and stores nothing, when the nodes do not suffice: for spans with another parent, cycles, very long chains, and
 * calls above many others.
 */
export function growShares(nodes: UsageNodes, changes: Changes): GrownShares | null {
  const working = createWorking(nodes);
  for (const { old, next } of changes.replaced) {
    if (old.parentId !== next.parentId || !working.set(next)) return null;
  }
  for (const span of changes.added) if (!working.set(span)) return null;
  if (!working.checkChains([...changes.added, ...changes.replaced.map(({ next }) => next)])) return null;
  const shares = working.passUp();
  if (shares === null) return null;
  working.keep();
  const sent = new Set<string>();
  const withShare = (span: SpanSummary, at: 'old' | 'next'): SpanSummary => {
    sent.add(span.spanId);
    return { ...span, ...shares.get(span.spanId)?.[at] };
  };
  const added = changes.added.map((span) => withShare(span, 'next'));
  const replaced = changes.replaced.map(({ old, next }) => ({
    old: withShare(old, 'old'),
    next: withShare(next, 'next'),
  }));
  const reshared = [...shares].flatMap(([spanId, { old, next }]) =>
    sent.has(spanId) || old === null || !isOtherShare(old, next) ? [] : [{ old, next }],
  );
  return { added, replaced, reshared };
}

type Working = { node: UsageNode; isChanged: boolean };
type SharesOfSpan = { readonly old: ShareNumbers | null; readonly next: ShareNumbers };

function createWorking(nodes: UsageNodes) {
  const known = new Map<string, Working>();
  // What the changed spans passed on before; null: nothing, because they were not stored.
  const before = new Map<string, Emission | null>();
  const depths = new Map<string, number>();

  function load(spanId: string): Working {
    let working = known.get(spanId);
    if (working === undefined) {
      const packed = nodes.find(spanId);
      working = { node: packed === undefined ? EMPTY_NODE : (JSON.parse(packed) as UsageNode), isChanged: false };
      known.set(spanId, working);
    }
    return working;
  }

  /** Notes what a span passes on before it changes. False: unknown. */
  function touch(spanId: string, { node }: Working): boolean {
    if (before.has(spanId)) return true;
    const emission = node.own === null ? null : emit(node.own, node);
    if (emission === null && node.own !== null) return false;
    before.set(spanId, emission);
    return true;
  }

  function change(working: Working, node: UsageNode): void {
    working.node = node;
    working.isChanged = true;
  }

  function depthOf(spanId: string): number {
    const chain: string[] = [];
    let at: string | null = spanId;
    while (at !== null && !depths.has(at)) {
      const { own }: UsageNode = load(at).node;
      if (own === null) {
        depths.set(at, 0);
        break;
      }
      chain.push(at);
      at = own.parentId;
    }
    let depth = at === null ? 0 : (depths.get(at) ?? 0);
    for (const id of chain.reverse()) {
      depth += 1;
      depths.set(id, depth);
    }
    return depth;
  }

  return {
    set(span: SpanSummary): boolean {
      const working = load(span.spanId);
      if (!touch(span.spanId, working)) return false;
      change(working, { ...working.node, own: nodeSpanOf(span) });
      return true;
    },

    /** False for a cycle, and for a chain that is too long to be added up. */
    checkChains(spans: readonly SpanSummary[]): boolean {
      return spans.every(({ spanId }) => {
        let length = load(spanId).node.height;
        for (let at: string | null = spanId; at !== null; length += 1) {
          const { own }: UsageNode = load(at).node;
          if (own === null) break;
          if (length >= CHAIN_SPANS_MAX) return false;
          at = own.parentId;
        }
        return true;
      });
    },

    /** From the deepest spans upward, so that each is visited once. */
    passUp(): ReadonlyMap<string, SharesOfSpan> | null {
      const shares = new Map<string, SharesOfSpan>();
      const levels: Set<string>[] = [];
      const enter = (spanId: string) => {
        const depth = depthOf(spanId);
        levels[depth] = (levels[depth] ?? new Set()).add(spanId);
      };
      for (const spanId of before.keys()) enter(spanId);
      for (let depth = levels.length - 1; depth > 0; depth -= 1) {
        for (const spanId of levels[depth] ?? []) {
          const { node } = load(spanId);
          if (node.own === null) continue;
          const old = before.get(spanId) ?? null;
          const next = emit(node.own, node);
          if (next === null) return null;
          shares.set(spanId, { old: old?.share ?? null, next: next.share });
          const { parentId } = node.own;
          if (parentId === null || isSameEmission(old, next)) continue;
          const parent = load(parentId);
          if (!touch(parentId, parent)) return null;
          change(parent, replaceChild(parent.node, old, next));
          enter(parentId);
        }
      }
      // A chain may have grown longer than any span of the append shows.
      for (const { node } of known.values()) if (node.height >= CHAIN_SPANS_MAX && node.own !== null) return null;
      return shares;
    },

    keep(): void {
      for (const [spanId, { node, isChanged }] of known) if (isChanged) nodes.store(spanId, JSON.stringify(node));
    },
  };
}

function isSameEmission(one: Emission | null, other: Emission): boolean {
  return one !== null && JSON.stringify(one) === JSON.stringify(other);
}

/** The nodes of a trace that had none; null as in growShares. */
export function beginNodes(spans: readonly SpanSummary[]): ReadonlyMap<string, string> | null {
  const packed = new Map<string, string>();
  const nodes = { find: (spanId: string) => packed.get(spanId), store: packed.set.bind(packed) };
  return growShares(nodes, { added: spans, replaced: [] }) === null ? null : packed;
}
