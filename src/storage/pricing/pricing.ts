/** Changes of the price overrides of organizations. */

import type { ManagementChange } from '../../domain/management/management.ts';
import type { Transaction } from '../queries.ts';

export async function storeOverrides(
  tx: Transaction,
  { organizationId, priceOverrides = [], removedPriceOverrides = [] }: Omit<ManagementChange, 'expectedVersion'>,
): Promise<void> {
  const { pricing } = tx.queries;
  if (priceOverrides.length + removedPriceOverrides.length === 0) return;
  for (const { id } of removedPriceOverrides) await tx.change(pricing.removeOverride, { organizationId, id });
  for (const override of priceOverrides) await tx.change(pricing.insertOverride, override);
  await tx.change(pricing.bumpPriceVersion, { id: organizationId });
}
