/** The usage of one span or request, and the parts of it that have prices of their own. */

import type { ServiceTier } from './rates.ts';

/** Whole tokens, 0..10^12, null when not reported. Reasoning is part of completion. */
export type TokenCounts = {
  prompt: number | null;
  completion: number | null;
  reasoning: number | null;
  cacheRead: number | null;
  cacheCreation: number | null;
};

/** What few senders report besides; null when not reported. */
export type UsageDetails = {
  /** Part of prompt. */
  readonly inputAudio: number | null;
  /** Part of completion. */
  readonly outputAudio: number | null;
  /** Part of cacheCreation. */
  readonly cacheWrite5m: number | null;
  /** Part of cacheCreation. */
  readonly cacheWrite1h: number | null;
  readonly total: number | null;
  readonly requests: number | null;
  readonly serviceTier: ServiceTier | null;
};

export type Usage = {
  readonly tokens: TokenCounts;
  readonly details: UsageDetails | null;
  /** Whether prompt includes the cached tokens, as the sender says. */
  readonly cachedTokensInPrompt: boolean | null;
};

/** Tokens, and requests, by the rate that they cost. */
export type BilledParts = {
  readonly input: number;
  readonly audioInput: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly audioOutput: number;
  readonly request: number;
};

export function hasTokenCount({ prompt, completion, reasoning, cacheRead, cacheCreation }: TokenCounts): boolean {
  return (prompt ?? completion ?? reasoning ?? cacheRead ?? cacheCreation) !== null;
}

/** `cacheApart`: the maker of the model reports cached tokens beside the prompt, where the sender does not say. */
export function splitUsage({ tokens, details, cachedTokensInPrompt }: Usage, cacheApart: boolean): BilledParts {
  const prompt = tokens.prompt ?? 0;
  const completion = tokens.completion ?? 0;
  const cacheRead = tokens.cacheRead ?? 0;
  const written = tokens.cacheCreation ?? writtenOf(details);
  const cached = cacheRead + written;
  // A prompt smaller than its cached part cannot include it, even if reported so.
  const isIncluded = cached <= prompt && (cachedTokensInPrompt ?? !cacheApart);
  const uncached = isIncluded ? prompt - cached : prompt;
  const output = outputOf(tokens, details);
  const audioInput = Math.min(details?.inputAudio ?? 0, uncached);
  const audioOutput = Math.min(details?.outputAudio ?? 0, completion);
  const cacheWrite1h = Math.min(details?.cacheWrite1h ?? 0, written);
  return {
    input: uncached - audioInput,
    audioInput,
    cacheRead,
    cacheWrite: written - cacheWrite1h,
    cacheWrite1h,
    output: output - audioOutput,
    audioOutput,
    request: details?.requests ?? 0,
  };
}

export function totalInputOf(parts: BilledParts): number {
  return parts.input + parts.audioInput + parts.cacheRead + parts.cacheWrite + parts.cacheWrite1h;
}

/** With the tokens of reasoning. */
export function totalOutputOf(parts: BilledParts): number {
  return parts.output + parts.audioOutput;
}

function writtenOf(details: UsageDetails | null): number {
  return details === null ? 0 : (details.cacheWrite5m ?? 0) + (details.cacheWrite1h ?? 0);
}

function outputOf(tokens: TokenCounts, details: UsageDetails | null): number {
  const completion = tokens.completion ?? 0;
  const reasoning = tokens.reasoning ?? 0;
  // Some senders count reasoning apart: then it exceeds the completion, or the total is the sum of all three.
  const isApart = reasoning > completion || details?.total === (tokens.prompt ?? 0) + completion + reasoning;
  return isApart ? completion + reasoning : completion;
}
