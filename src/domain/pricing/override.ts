/** The prices that an organization sets, and how they match model names. */

import { runWithoutPauses, type Steps } from '../steps.ts';
import { listNameForms } from './name-forms.ts';
import type { CompilePatterns } from './patterns.ts';
import { completeRates, type TokenRates } from './rates.ts';

/** A price of a model, in whole pico-USD per token; a null cache rate means the input rate. Immutable. */
export type PriceOverride = {
  readonly id: string;
  /** A name, or an RE2 pattern for whole names; both ignore case. */
  readonly model: string;
  readonly match: 'exact' | 'regex';
  readonly inputPicoUsd: number;
  readonly outputPicoUsd: number;
  readonly cacheReadPicoUsd: number | null;
  readonly cacheWritePicoUsd: number | null;
  /** Spans that started earlier do not get this price; null: all do. */
  readonly effectiveFromMs: number | null;
  readonly createdAtMs: number;
};

export type StoredOverride = PriceOverride & { readonly organizationId: string };

/** The override of a name, and the spelling that matched. */
type OverrideMatch = { readonly override: PriceOverride; readonly matchedForm: string };

export type OverrideSet = {
  /** The override in force for a model at an instant; null: there is none. */
  find(model: string, atMs: number): OverrideMatch | null;
  /** Looks a model up in small steps and caches it for `find`. Null: without patterns every lookup is fast. */
  readonly cacheMatches: ((model: string) => Steps<void>) | null;
};

export const NO_OVERRIDES: OverrideSet = { find: () => null, cacheMatches: null };

// Names come from callers, so the cache is bounded. It holds more names than a request has spans.
const REMEMBERED_MAX = 16_384;
// The longest name of a model that spans may have. Only made-up names have more spellings.
const PATTERN_NAME_CHARACTERS_MAX = 512;
const PATTERN_FORMS_MAX = 32;

/** Compiles the overrides of an organization. `compilePatterns` may be null without patterns. */
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
  const matchPatterns = patterns.length === 0 ? null : (compilePatterns?.(patterns.map(({ model }) => model)) ?? null);
  const remembered = new Map<string, readonly OverrideMatch[]>();

  function* cacheMatches(model: string): Steps<void> {
    if (remembered.has(model)) return;
    const forms = new Set([model.toLowerCase(), ...listNameForms(model).map(({ text }) => text)]);
    // Best first: a closer spelling of the name outranks the kind and the age of an override.
    const found: OverrideMatch[] = [];
    let triedCount = 0;
    for (const matchedForm of forms) {
      for (const override of exact.get(matchedForm) ?? []) found.push({ override, matchedForm });
      if (matchPatterns === null || triedCount >= PATTERN_FORMS_MAX) continue;
      if (matchedForm.length > PATTERN_NAME_CHARACTERS_MAX) continue;
      triedCount += 1;
      for (const index of matchPatterns(matchedForm)) {
        const override = patterns[index];
        if (override !== undefined) found.push({ override, matchedForm });
      }
      yield;
    }
    // Clearing the cache is cheap; hits need no bookkeeping.
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(model, found);
  }

  function candidatesOf(model: string): readonly OverrideMatch[] {
    const cached = remembered.get(model);
    if (cached !== undefined) return cached;
    runWithoutPauses(cacheMatches(model));
    return remembered.get(model) ?? [];
  }

  return {
    find(model, atMs) {
      const inForce = ({ override: { effectiveFromMs } }: OverrideMatch) =>
        effectiveFromMs === null || effectiveFromMs <= atMs;
      return candidatesOf(model).find(inForce) ?? null;
    },
    cacheMatches: matchPatterns === null ? null : cacheMatches,
  };
}

function compareOverrides(left: PriceOverride, right: PriceOverride): number {
  if (left.createdAtMs !== right.createdAtMs) return right.createdAtMs - left.createdAtMs;
  // Overrides of the same millisecond need a stable order.
  return left.id < right.id ? 1 : -1;
}

export function ratesOf(override: PriceOverride): TokenRates {
  const { inputPicoUsd, outputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd } = override;
  return completeRates({
    ...{ inputPicoUsd, outputPicoUsd },
    ...(cacheReadPicoUsd !== null && { cacheReadPicoUsd }),
    ...(cacheWritePicoUsd !== null && { cacheWritePicoUsd }),
  });
}
