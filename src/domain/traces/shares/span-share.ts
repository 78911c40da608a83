/** What one span adds to the totals of its trace, given what is counted below it. */

import { priceTokens } from '../../pricing/share-rates.ts';
import type { SpanUsage } from '../trace.ts';

/**
 * How a span counts. `container`: no call, or a call that only repeats the calls below it. `outer` and `inner`: the two
 * spans of one call.
 */
export type SpanRole = 'container' | 'call' | 'outer' | 'inner';

/** What the children of a span count together, with everything below them. */
export type Counted = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  readonly costNanoUsd: number;
};

export const NOTHING_COUNTED: Counted = Object.freeze({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  costNanoUsd: 0,
});

/** The tokens of a share, as a sender would report them; null where the span reports none. */
export type TokenShare = Pick<
  SpanUsage,
  'promptTokens' | 'completionTokens' | 'reasoningTokens' | 'cacheReadInputTokens' | 'cacheCreationInputTokens'
>;

/** Total input tokens, with those of caches: a prompt cannot include more than it has. */
export function inputOf({
  totalInput,
  promptTokens,
  cacheReadInputTokens,
  cacheCreationInputTokens,
}: SpanUsage): number {
  const prompt = promptTokens ?? 0;
  const cached = (cacheReadInputTokens ?? 0) + (cacheCreationInputTokens ?? 0);
  return totalInput ?? (cached > prompt ? prompt + cached : prompt);
}

/** Total output tokens, with those of reasoning. */
export function outputOf({ totalOutput, completionTokens, reasoningTokens }: SpanUsage): number {
  const completion = completionTokens ?? 0;
  const reasoning = reasoningTokens ?? 0;
  return totalOutput ?? (reasoning > completion ? completion + reasoning : completion);
}

export function tokenShareOf(span: SpanUsage, role: SpanRole, below: Counted): TokenShare {
  if (role === 'call' || role === 'inner') return ownTokens(span);
  if (role === 'outer') return shareOfParts(span, NO_PARTS);
  const input = Math.max(0, inputOf(span) - below.input);
  const output = Math.max(0, outputOf(span) - below.output);
  const cacheRead = limit((span.cacheReadInputTokens ?? 0) - below.cacheRead, input);
  const cacheWrite = limit((span.cacheCreationInputTokens ?? 0) - below.cacheWrite, input - cacheRead);
  const reasoning = limit((span.reasoningTokens ?? 0) - below.reasoning, output);
  return shareOfParts(span, { input, output, cacheRead, cacheWrite, reasoning });
}

function limit(value: number, max: number): number {
  return Math.max(0, Math.min(value, max));
}

function ownTokens(span: SpanUsage): TokenShare {
  const { promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens } = span;
  return { promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens };
}

type Parts = Omit<Counted, 'costNanoUsd'>;
const NO_PARTS: Parts = NOTHING_COUNTED;

/** In the convention of the span: its prompt tokens may exclude cached ones, and its completion those of reasoning. */
function shareOfParts(span: SpanUsage, { input, output, cacheRead, cacheWrite, reasoning }: Parts): TokenShare {
  const prompt = excludesCache(span) ? input - cacheRead - cacheWrite : input;
  const completion = excludesReasoning(span) ? output - reasoning : output;
  return {
    promptTokens: span.promptTokens === null ? null : prompt,
    completionTokens: span.completionTokens === null ? null : completion,
    reasoningTokens: span.reasoningTokens === null ? null : reasoning,
    cacheReadInputTokens: span.cacheReadInputTokens === null ? null : cacheRead,
    cacheCreationInputTokens: span.cacheCreationInputTokens === null ? null : cacheWrite,
  };
}

function excludesCache(span: SpanUsage): boolean {
  return inputOf(span) !== (span.promptTokens ?? 0);
}

function excludesReasoning(span: SpanUsage): boolean {
  return outputOf(span) !== (span.completionTokens ?? 0);
}

/** What of a span's tokens is in its total input and output. */
function partsOf(span: SpanUsage, share: TokenShare): Parts {
  const cacheRead = share.cacheReadInputTokens ?? 0;
  const cacheWrite = share.cacheCreationInputTokens ?? 0;
  const reasoning = share.reasoningTokens ?? 0;
  return {
    input: (share.promptTokens ?? 0) + (excludesCache(span) ? cacheRead + cacheWrite : 0),
    output: (share.completionTokens ?? 0) + (excludesReasoning(span) ? reasoning : 0),
    cacheRead,
    cacheWrite,
    reasoning,
  };
}

type Costing = {
  readonly role: SpanRole;
  readonly share: TokenShare;
  /** The counted cost of the children. */
  readonly belowNanoUsd: number;
  /** The other span of the pair. */
  readonly other: SpanUsage | null;
};

/** The cost share; null: unknown, or nothing to price. */
export function costShareOf(span: SpanUsage, { role, share, belowNanoUsd, other }: Costing): number | null {
  const cost = span.costNanoUsd;
  if (isBeside(span)) return cost;
  switch (role) {
    case 'call':
      return cost;
    case 'inner':
      return isExplicit(span) || other === null || !isExplicit(other) ? cost : other.costNanoUsd;
    case 'outer':
      return cost === null ? null : 0;
    case 'container': {
      // Of two spans of one call, either may know the cost.
      const sent = isExplicit(span) || other === null || !isExplicit(other) ? span : other;
      if (isExplicit(sent)) return Math.max(0, (sent.costNanoUsd ?? 0) - belowNanoUsd);
      return cost === null ? null : priceOfShare(span, share);
    }
  }
}

/** What the span and everything below it count; of its own cost only what is compared. */
export function countedOf(
  span: SpanUsage,
  below: Counted,
  { share, costNanoUsd }: { readonly share: TokenShare; readonly costNanoUsd: number | null },
): Counted {
  const counted = partsOf(span, share);
  return {
    input: below.input + counted.input,
    output: below.output + counted.output,
    cacheRead: below.cacheRead + counted.cacheRead,
    cacheWrite: below.cacheWrite + counted.cacheWrite,
    reasoning: below.reasoning + counted.reasoning,
    costNanoUsd: below.costNanoUsd + (isBeside(span) ? 0 : (costNanoUsd ?? 0)),
  };
}

export function addCounted(a: Counted, b: Counted): Counted {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
    costNanoUsd: a.costNanoUsd + b.costNanoUsd,
  };
}

function isExplicit({ costSource }: SpanUsage): boolean {
  return costSource === 'explicit';
}

/** The cost of a guardrail's result is not part of the calls around it. */
function isBeside({ costSource }: SpanUsage): boolean {
  return costSource === 'result';
}

/** Of a part of its tokens nobody knows how many were audio, or written for an hour. */
const NO_RARE_PARTS = { audioInput: 0, audioOutput: 0, cacheWrite1h: 0, request: 0 };

function priceOfShare(span: SpanUsage, share: TokenShare): number | null {
  const { input, output, cacheRead, cacheWrite } = partsOf(span, share);
  if (input === inputOf(span) && output === outputOf(span)) return span.costNanoUsd;
  if (input === 0 && output === 0) return 0;
  if (span.shareRates === null) return null;
  return priceTokens(span.shareRates, {
    ...NO_RARE_PARTS,
    input: input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output,
  });
}
