/** The prices that organizations set themselves. */

import type { ManagementChange, ManagementStore } from '../../domain/management.ts';
import type { Asking, Changing } from '../questions.ts';

export function createOverrideReader({ questions: { pricing }, ask }: Asking): Pick<ManagementStore, 'priceOverrides'> {
  return { priceOverrides: (organizationId) => ask(pricing.listOverrides, { organizationId }) };
}

export async function storeOverrides(
  tx: Changing,
  { organizationId, priceOverrides = [], removedPriceOverrides = [] }: Omit<ManagementChange, 'expectedVersion'>,
): Promise<void> {
  const { pricing } = tx.questions;
  if (priceOverrides.length + removedPriceOverrides.length === 0) return;
  for (const { id } of removedPriceOverrides) await tx.change(pricing.removeOverride, { organizationId, id });
  for (const override of priceOverrides) await tx.change(pricing.insertOverride, override);
  await tx.change(pricing.movePricesOn, { id: organizationId });
}
