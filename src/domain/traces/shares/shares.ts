/**
 * Shares: what each span adds to the totals of its trace, so that usage that several spans report counts once. The rule
 * goes from the leaves of the tree to its roots.
 */

import { callRowOf, isCall } from '../calls.ts';
import type { SpanUsage } from '../trace.ts';
import {
  addNearest,
  addsUp,
  findInner,
  type NearestCalls,
  NO_CALLS,
  type RoledSpan,
  seeThrough,
} from './call-roles.ts';
import {
  addCounted,
  type Counted,
  costShareOf,
  countedOf,
  NOTHING_COUNTED,
  type SpanRole,
  type TokenShare,
  tokenShareOf,
} from './span-share.ts';
import { CHAIN_SPANS_MAX, linkSpans, type UsageTree } from './usage-tree.ts';

export type SharedSpan = RoledSpan & { readonly parentId: string | null };

/** How the spans of a trace count, by their indexes. */
export type Shares = {
  readonly roles: readonly SpanRole[];
  /** The index of the other span of the same call; -1: none. */
  readonly others: Int32Array;
  readonly tokens: readonly TokenShare[];
  readonly costs: readonly (number | null)[];
};

const NONE = -1;

/** The spans with their shares in place of what they report. `spans` are all of a trace, each id once, in any order. */
export function withShares<Span extends SharedSpan>(spans: readonly Span[]): readonly Span[] {
  if (!mayDiffer(spans)) return spans;
  const { tokens, costs } = sharesOf(spans);
  return spans.map((span, index) => ({ ...span, ...tokens[index], costNanoUsd: costs[index] ?? null }));
}

/**
 * Whether any share may differ from what its span reports: another span must lie below one that reports something, or a
 * span very deep.
 */
function mayDiffer(spans: readonly SharedSpan[]): boolean {
  return spans.length > CHAIN_SPANS_MAX || hasParent(spans, reportsUsage);
}

/** Whether a span has a parent among these spans that passes the test. */
export function hasParent(spans: readonly SharedSpan[], isWanted: (span: SharedSpan) => boolean): boolean {
  const parentIds = new Set<string>();
  for (const { parentId } of spans) if (parentId !== null) parentIds.add(parentId);
  return parentIds.size > 0 && spans.some((span) => parentIds.has(span.spanId) && isWanted(span));
}

export function reportsUsage(span: SpanUsage): boolean {
  const cached = span.cacheReadInputTokens ?? span.cacheCreationInputTokens;
  return (span.promptTokens ?? span.completionTokens ?? span.reasoningTokens ?? cached ?? span.costNanoUsd) !== null;
}

export function sharesOf(spans: readonly SharedSpan[]): Shares {
  const tree = linkSpans(spans);
  if (tree.isDeep) return sharesOfDeep(spans);
  const { roles, others, tokens } = countTokens(spans, tree);
  return { roles, others, tokens, costs: countCosts(spans, tree, { roles, others, tokens }) };
}

/** In a tree with such chains nothing is added up: calls count what they report, and all else counts nothing. */
function sharesOfDeep(spans: readonly SharedSpan[]): Shares {
  const roles = spans.map((span): SpanRole => (isCall(span) ? 'call' : 'container'));
  const costOf = (span: SharedSpan) => (span.costNanoUsd === null ? null : 0);
  return {
    roles,
    others: new Int32Array(spans.length).fill(NONE),
    tokens: spans.map((span) => tokenShareOf(span, isCall(span) ? 'call' : 'outer', NOTHING_COUNTED)),
    costs: spans.map((span) => (isCall(span) || span.costSource === 'result' ? span.costNanoUsd : costOf(span))),
  };
}

function countTokens(spans: readonly SharedSpan[], tree: UsageTree): Omit<Shares, 'costs'> {
  const { order, parents } = tree;
  const roles: SpanRole[] = spans.map((span) => (isCall(span) ? 'call' : 'container'));
  const others = new Int32Array(spans.length).fill(NONE);
  const tokens: TokenShare[] = [];
  const below: (Counted | undefined)[] = [];
  const nearest: (NearestCalls | undefined)[] = [];
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const index = order[at] ?? NONE;
    const span = spans[index];
    if (span === undefined) continue;
    const counted = below[index] ?? NOTHING_COUNTED;
    const calls = nearest[index] ?? NO_CALLS;
    if (isCall(span) && calls.count > 0) {
      if (addsUp(span, calls)) roles[index] = 'container';
      else pair({ spans, tree, roles, others }, index);
    }
    const share = tokenShareOf(span, roles[index] ?? 'container', counted);
    tokens[index] = share;
    const parent = parents[index] ?? NONE;
    if (parent === NONE) continue;
    const all = countedOf(span, counted, { share, costNanoUsd: null });
    below[parent] = addCounted(below[parent] ?? NOTHING_COUNTED, all);
    nearest[parent] = addNearest(nearest[parent] ?? NO_CALLS, seenFromAbove(span, calls, all));
  }
  return { roles, others, tokens };
}

function seenFromAbove(span: SharedSpan, calls: NearestCalls, { input, output }: Counted): NearestCalls {
  return isCall(span) ? { count: 1, input, output, row: callRowOf(span), isApart: false } : seeThrough(span, calls);
}

type Pairing = {
  readonly spans: readonly SharedSpan[];
  readonly tree: UsageTree;
  readonly roles: SpanRole[];
  readonly others: Int32Array;
};

function pair({ spans, tree, roles, others }: Pairing, index: number): void {
  const inner = findInner(spans, tree, { index, roles });
  if (inner === NONE) return;
  roles[index] = 'outer';
  // A call that adds up others still counts nothing of its own.
  if (roles[inner] === 'call') roles[inner] = 'inner';
  others[index] = inner;
  others[inner] = index;
}

function countCosts(
  spans: readonly SharedSpan[],
  { order, parents }: UsageTree,
  { roles, others, tokens }: Omit<Shares, 'costs'>,
): (number | null)[] {
  const costs: (number | null)[] = spans.map(() => null);
  const below = new Float64Array(spans.length);
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const index = order[at] ?? NONE;
    const [span, share, role] = [spans[index], tokens[index], roles[index]];
    if (span === undefined || share === undefined || role === undefined) continue;
    const belowNanoUsd = below[index] ?? 0;
    const other = spans[others[index] ?? NONE] ?? null;
    const cost = costShareOf(span, { role, share, belowNanoUsd, other });
    costs[index] = cost;
    const parent = parents[index] ?? NONE;
    if (parent === NONE) continue;
    const counted = span.costSource === 'result' ? 0 : (cost ?? 0);
    below[parent] = (below[parent] ?? 0) + belowNanoUsd + counted;
  }
  return costs;
}
