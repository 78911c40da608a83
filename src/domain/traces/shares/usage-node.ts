/**
 * What a large trace keeps of each span beside its row, so that a further span changes the shares of its ancestors only:
 * what the span reports, and sums over its children. A span that is not stored yet has a node as well once it is the
 * parent of a stored one.
 */

import { callRowOf, isCall } from '../calls.ts';
import { type SpanSummary, type SpanUsage, SUMMED, type SummedName } from '../trace.ts';
import { addsUp, isBarrier, isEarlier, type NearestCalls } from './call-roles.ts';
import {
  type Counted,
  costShareOf,
  countedOf,
  inputOf,
  NOTHING_COUNTED,
  outputOf,
  type SpanRole,
  tokenShareOf,
} from './span-share.ts';

/** What shares need of a stored span. */
export type NodeSpan = SpanUsage & Pick<SpanSummary, 'spanId' | 'parentId' | 'startedAtMs'>;

/** A call that may be the same one as a call above it. */
type FreeCall = {
  readonly spanId: string;
  readonly startedAtMs: number;
  readonly row: number;
  readonly input: number;
  readonly output: number;
  /** Whether its cost is what counts for the pair. */
  readonly isExplicit: boolean;
};

/** Sums over the nearest calls below a span; they can be subtracted. */
type Calls = {
  readonly count: number;
  readonly input: number;
  readonly output: number;
  /** How many are behind a tool or an agent. */
  readonly apart: number;
  /** How many calls each row of the price list has; null once there were too many rows. */
  readonly rows: Readonly<Record<string, number>> | null;
};

export type UsageNode = {
  /** Null: the span is not stored yet. */
  readonly own: NodeSpan | null;
  readonly below: Counted;
  readonly calls: Calls;
  /** By start, at most FREE_MAX; null once there were more. */
  readonly free: readonly FreeCall[] | null;
  /** Spans in the longest chain below. */
  readonly height: number;
};

export type ShareNumbers = { readonly [Name in SummedName]: number | null };

/** What a stored span passes on to its parent, and its share. */
export type Emission = Omit<UsageNode, 'own'> & { readonly share: ShareNumbers };

const ROWS_MAX = 4;
const FREE_MAX = 8;
const NO_CALLS: Calls = { count: 0, input: 0, output: 0, apart: 0, rows: {} };

export const EMPTY_NODE: UsageNode = { own: null, below: NOTHING_COUNTED, calls: NO_CALLS, free: [], height: 0 };

/** Only what shares need. */
export function nodeSpanOf(span: NodeSpan): NodeSpan {
  const { spanId, parentId, type, model, startedAtMs, costSource, callRow, totalInput, totalOutput, shareRates } = span;
  const { promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens } = span;
  return {
    ...{ spanId, parentId, type, model, startedAtMs, costSource, callRow, totalInput, totalOutput, shareRates },
    ...{ promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens },
    costNanoUsd: span.costNanoUsd,
  };
}

/** Null: the node does not know enough, so that shares need all spans. */
export function emit(own: NodeSpan, node: UsageNode): Emission | null {
  const role = roleOf(own, node);
  if (role === null) return null;
  const share = tokenShareOf(own, role, node.below);
  const costNanoUsd = costShareOf(own, { role, share, belowNanoUsd: node.below.costNanoUsd, other: null });
  const below = countedOf(own, node.below, { share, costNanoUsd });
  const base = { share: { ...share, costNanoUsd }, below, height: node.height + 1 };
  if (!isCall(own)) {
    const { calls, free } = node;
    return isBarrier(own.type)
      ? { ...base, calls: { ...calls, apart: calls.count }, free: [] }
      : { ...base, calls, free };
  }
  const row = callRowOf(own);
  const { input, output } = below;
  return {
    ...base,
    calls: { count: 1, input, output, apart: 0, rows: { [row]: 1 } },
    free: role === 'outer' ? [] : [freeCallOf(own, role)],
  };
}

function freeCallOf(own: NodeSpan, role: SpanRole): FreeCall {
  const { spanId, startedAtMs, costSource } = own;
  const isExplicit = costSource === 'explicit' && role === 'call';
  return { spanId, startedAtMs, row: callRowOf(own), input: inputOf(own), output: outputOf(own), isExplicit };
}

function roleOf(own: NodeSpan, { calls, free }: UsageNode): SpanRole | null {
  if (!isCall(own)) return 'container';
  if (calls.count === 0) return 'call';
  if (addsUp(own, nearestOf(calls))) return 'container';
  const row = callRowOf(own);
  // By now the calls below may all be of this row.
  if (calls.rows === null && addsUp(own, { ...nearestOf(calls), row })) return null;
  const [input, output] = [inputOf(own), outputOf(own)];
  const inner = free?.find((call) => call.row === row && call.input === input && call.output === output);
  if (inner === undefined) return free === null ? null : 'call';
  // The cost of the outer span would be the share of the inner one, which is not an ancestor.
  return own.costSource === 'explicit' && !inner.isExplicit ? null : 'outer';
}

function nearestOf({ count, input, output, apart, rows }: Calls): NearestCalls {
  const [row, ...others] = Object.keys(rows ?? {});
  return { count, input, output, isApart: apart > 0, row: row === undefined || others.length > 0 ? null : Number(row) };
}

/** The node of a parent when what a child passes on changes. */
export function replaceChild(node: UsageNode, before: Emission | null, after: Emission): UsageNode {
  const free = before === null ? node.free : withoutFree(node.free, before.free);
  return {
    own: node.own,
    below: addScaled(before === null ? node.below : addScaled(node.below, before.below, -1), after.below, 1),
    calls: addCalls(before === null ? node.calls : addCalls(node.calls, before.calls, -1), after.calls, 1),
    free: withFree(free, after.free),
    height: Math.max(node.height, after.height),
  };
}

function addScaled(a: Counted, b: Counted, times: 1 | -1): Counted {
  return {
    input: a.input + times * b.input,
    output: a.output + times * b.output,
    cacheRead: a.cacheRead + times * b.cacheRead,
    cacheWrite: a.cacheWrite + times * b.cacheWrite,
    reasoning: a.reasoning + times * b.reasoning,
    costNanoUsd: a.costNanoUsd + times * b.costNanoUsd,
  };
}

function addCalls(a: Calls, b: Calls, times: 1 | -1): Calls {
  return {
    count: a.count + times * b.count,
    input: a.input + times * b.input,
    output: a.output + times * b.output,
    apart: a.apart + times * b.apart,
    rows: a.rows === null || b.rows === null ? null : addRows(a.rows, b.rows, times),
  };
}

function addRows(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
  times: 1 | -1,
): Calls['rows'] {
  const rows = { ...a };
  for (const [row, count] of Object.entries(b)) {
    const sum = (rows[row] ?? 0) + times * count;
    if (sum === 0) delete rows[row];
    else rows[row] = sum;
  }
  return Object.keys(rows).length > ROWS_MAX ? null : rows;
}

type Free = UsageNode['free'];

function withoutFree(free: Free, removed: Free): Free {
  if (free === null || removed === null) return null;
  return free.filter(({ spanId }) => !removed.some((each) => each.spanId === spanId));
}

function withFree(free: Free, added: Free): Free {
  if (free === null || added === null) return null;
  if (added.length === 0) return free;
  const all = [...free, ...added].sort((one, other) => (isEarlier(one, other) ? -1 : 1));
  return all.length > FREE_MAX ? null : all;
}

/** Whether totals change with a share. */
export function isOtherShare(one: ShareNumbers, other: ShareNumbers): boolean {
  return SUMMED.some((name) => one[name] !== other[name]);
}
