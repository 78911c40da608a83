/** An organization's own prices of models. */

import type { ManagementStore } from '../../domain/management/management.ts';
import { PriceOverrideRow } from '../entities/pricing.ts';
import { rowReads, type Units } from './units.ts';

export function createPriceOverrides({ read }: Units): Pick<ManagementStore, 'priceOverrides'> {
  const { all } = rowReads(read);
  return {
    priceOverrides: (organizationId) =>
      all(PriceOverrideRow, { organizationId }, { orderBy: { createdAtMs: 'desc', id: 'desc' } }),
  };
}
