import type { PriceOverride } from '../../domain/pricing/override.ts';
import { bigInteger, enumText, id, instant, table, text } from './kinds.ts';

/** An organization's own price of a model. Rates are pico-USD per token, at most one USD. */
export const PriceOverrideRow = table('PriceOverride', 'price_overrides', {
  organizationId: id().primary(),
  id: id().primary(),
  model: text(),
  match: enumText<PriceOverride['match']>(),
  inputPicoUsd: bigInteger(),
  outputPicoUsd: bigInteger(),
  cacheReadPicoUsd: bigInteger().strictNullable(),
  cacheWritePicoUsd: bigInteger().strictNullable(),
  effectiveFromMs: instant('effective_from').strictNullable(),
  createdAtMs: instant('created_at'),
});
