/** Validates drafts of price overrides. */

import type { Reason } from '../fault.ts';
import { lengthReason, refuseProblems } from '../reasons.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { scaleDecimal } from './money.ts';
import type { PriceOverride } from './override.ts';
import { loadPatternEngine } from './patterns.ts';

export type OverrideDraft = Pick<PriceOverride, 'model' | 'match' | 'effectiveFromMs'> & {
  readonly rates: {
    readonly inputCostPerToken: number;
    readonly outputCostPerToken: number;
    readonly cacheReadCostPerToken: number | null;
    readonly cacheWriteCostPerToken: number | null;
  };
};

type OverrideContent = Omit<PriceOverride, 'id' | 'createdAtMs'>;

const MODEL_CHARACTERS_MAX = 512;
const RATE_MAX_USD = 1;
const RATE_DECIMALS_MAX = 12;
/** Enough for every double. */
const ALL_DECIMALS = 400;

/** Validates each field alone. */
export function overrideProblems({ model, rates }: OverrideDraft): readonly Reason[] {
  const problems: Reason[] = [];
  if (model === '' || hasMoreCharactersThan(model, MODEL_CHARACTERS_MAX)) {
    problems.push(lengthReason('model', `1 to ${MODEL_CHARACTERS_MAX} characters`));
  } else if (model.includes('\0')) {
    problems.push({ field: 'model', type: 'invalid_format', message: 'model must not hold U+0000' });
  }
  for (const [field, rate] of Object.entries(rates)) problems.push(...rateProblems(field, rate));
  return problems;
}

function rateProblems(field: string, rate: number | null): readonly Reason[] {
  if (rate === null) return [];
  if (!(rate >= 0)) return [{ field, type: 'too_small', message: `${field} must be 0 or more` }];
  if (rate > RATE_MAX_USD) return [{ field, type: 'too_big', message: `${field} must be at most 1 USD per token` }];
  const digits = String(rate);
  const isShort =
    scaleDecimal(digits, RATE_DECIMALS_MAX) * 10n ** BigInt(ALL_DECIMALS - RATE_DECIMALS_MAX) ===
    scaleDecimal(digits, ALL_DECIMALS);
  if (isShort) return [];
  const expected = `at most ${RATE_DECIMALS_MAX} decimals`;
  return [{ field, type: 'invalid_format', message: `${field} must have ${expected}`, expected }];
}

/** Expects valid fields. Throws validation_error for a bad pattern. `size` of the compiled pattern; 0 for names. */
export async function checkOverride(
  draft: OverrideDraft,
): Promise<{ readonly content: OverrideContent; readonly size: number }> {
  const { model, match, effectiveFromMs, rates } = draft;
  const size = match === 'regex' ? (await loadPatternEngine()).measure(model) : 0;
  if (typeof size === 'string') {
    refuseProblems([{ field: 'model', type: 'invalid_format', message: `model must be a regex of RE2: ${size}` }]);
    throw new Error('a pattern that cannot be read was let through');
  }
  const content: OverrideContent = {
    model,
    match,
    inputPicoUsd: toPico(rates.inputCostPerToken),
    outputPicoUsd: toPico(rates.outputCostPerToken),
    cacheReadPicoUsd: rates.cacheReadCostPerToken === null ? null : toPico(rates.cacheReadCostPerToken),
    cacheWritePicoUsd: rates.cacheWriteCostPerToken === null ? null : toPico(rates.cacheWriteCostPerToken),
    effectiveFromMs,
  };
  return { content, size };
}

function toPico(usd: number): number {
  return Number(scaleDecimal(String(usd), RATE_DECIMALS_MAX));
}
