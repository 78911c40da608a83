/** The prices that an organization sets itself, and which of them a model has. */

import { runAtOnce, type Steps } from '../steps.ts';
import { listNameForms } from './match.ts';
import type { CompilePatterns } from './patterns.ts';
import type { TokenRates } from './registry.ts';

/** A price of a model, in whole pico-USD per token; an absent cache rate is the input rate. It is never changed. */
export type PriceOverride = {
  readonly id: string;
  /** A name, or a pattern in the syntax of RE2 for whole names; upper and lower case are alike. */
  readonly model: string;
  readonly match: 'exact' | 'regex';
  readonly inputPicoUsd: number;
  readonly outputPicoUsd: number;
  readonly cacheReadPicoUsd: number | null;
  readonly cacheWritePicoUsd: number | null;
  /** Spans that started earlier do not have this price; null: all have it. */
  readonly effectiveFromMs: number | null;
  readonly createdAtMs: number;
};

export type StoredOverride = PriceOverride & { readonly organizationId: string };

/** The override of a name, and the spelling under which it was found. */
export type OverrideMatch = { readonly override: PriceOverride; readonly matchedForm: string };

export type OverrideSet = {
  /** The price in force for a model at an instant; null: the organization has set none. */
  find(model: string, atMs: number): OverrideMatch | null;
  /**
   * Looks a model up in small steps and remembers it, so that `find` answers at once. Null: every look is quick.
   */
  readonly learn: ((model: string) => Steps<void>) | null;
};

export const NO_OVERRIDES: OverrideSet = { find: () => null, learn: null };

// Names come from callers, so what is remembered of them is bounded in number; there are more than spans in a request.
const REMEMBERED_MAX = 16_384;
// A longer name, and more spellings than these, are nobody's: trying patterns on them would take long for nothing.
const PATTERN_NAME_CHARACTERS_MAX = 200;
const PATTERN_FORMS_MAX = 32;

/** Compiles what an organization has set. `compilePatterns` is asked only where there are patterns. */
export function compileOverrides(
  overrides: readonly PriceOverride[],
  compilePatterns: CompilePatterns | null,
): OverrideSet {
  if (overrides.length === 0) return NO_OVERRIDES;
  const newestFirst = overrides.toSorted(compareOverrides);
  const exact = Map.groupBy(
    newestFirst.filter(({ match }) => match === 'exact'),
    ({ model }) => model.toLowerCase(),
  );
  const patterns = newestFirst.filter(({ match }) => match === 'regex');
  if (patterns.length > 0 && compilePatterns === null) throw new Error('nothing was given to compile patterns with');
  const takers = patterns.length === 0 ? null : (compilePatterns?.(patterns.map(({ model }) => model)) ?? null);
  const remembered = new Map<string, readonly OverrideMatch[]>();

  function* learn(model: string): Steps<void> {
    if (remembered.has(model)) return;
    const forms = new Set([model.toLowerCase(), ...listNameForms(model).map(({ text }) => text)]);
    // Best first: a closer spelling of the name counts for more than the kind or the age of an override.
    const found: OverrideMatch[] = [];
    let triedCount = 0;
    for (const matchedForm of forms) {
      for (const override of exact.get(matchedForm) ?? []) found.push({ override, matchedForm });
      if (takers === null || triedCount >= PATTERN_FORMS_MAX) continue;
      if (matchedForm.length > PATTERN_NAME_CHARACTERS_MAX) continue;
      triedCount += 1;
      for (const place of takers(matchedForm)) {
        const override = patterns[place];
        if (override !== undefined) found.push({ override, matchedForm });
      }
      yield;
    }
    // Starting over is cheap and needs no bookkeeping on every hit.
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(model, found);
  }

  function candidatesOf(model: string): readonly OverrideMatch[] {
    const known = remembered.get(model);
    if (known !== undefined) return known;
    runAtOnce(learn(model));
    return remembered.get(model) ?? [];
  }

  return {
    find(model, atMs) {
      const inForce = ({ override: { effectiveFromMs } }: OverrideMatch) =>
        effectiveFromMs === null || effectiveFromMs <= atMs;
      return candidatesOf(model).find(inForce) ?? null;
    },
    learn: takers === null ? null : learn,
  };
}

function compareOverrides(left: PriceOverride, right: PriceOverride): number {
  if (left.createdAtMs !== right.createdAtMs) return right.createdAtMs - left.createdAtMs;
  // Two of the same millisecond must not change places between one span and the next.
  return left.id < right.id ? 1 : -1;
}

export function ratesOf({
  inputPicoUsd,
  outputPicoUsd,
  cacheReadPicoUsd,
  cacheWritePicoUsd,
}: PriceOverride): TokenRates {
  return {
    inputPicoUsd,
    outputPicoUsd,
    cacheReadPicoUsd: cacheReadPicoUsd ?? inputPicoUsd,
    cacheWritePicoUsd: cacheWritePicoUsd ?? inputPicoUsd,
  };
}
