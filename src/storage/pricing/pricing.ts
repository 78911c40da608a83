/** Price overrides of organizations, and the spans that a change of prices affects. */

import type { ManagementChange, ManagementStore } from '../../domain/management/management.ts';
import type { RepricingStore } from '../../domain/pricing/repricing.ts';
import type { QueryRunner, Transaction } from '../queries.ts';

export function createOverrideReader({
  queries: { pricing },
  runQuery,
}: QueryRunner): Pick<ManagementStore, 'priceOverrides'> {
  return { priceOverrides: (organizationId) => runQuery(pricing.listOverrides, { organizationId }) };
}

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

export function createRepricingReader({
  queries: { pricing },
  runQuery,
}: QueryRunner): Pick<RepricingStore, 'projects' | 'spans'> {
  return {
    projects: () => runQuery(pricing.listRepricedProjects, {}),
    spans: (page) => runQuery(pricing.listPricedSpans, page),
  };
}
