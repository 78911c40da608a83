/** An organization's own prices of models. */

import type { ManagementStore } from '../../domain/management/management.ts';
import { PriceOverrideRow } from '../entities/pricing.ts';
import { plain, type Units } from './units.ts';

export function createPriceOverrides({ read }: Units): Pick<ManagementStore, 'priceOverrides'> {
  return {
    priceOverrides: (organizationId) =>
      read(async (em) => {
        const newestFirst = { createdAtMs: 'desc', id: 'desc' } as const;
        const rows = await em.find(PriceOverrideRow, { organizationId }, { orderBy: newestFirst });
        return rows.map((row) => plain(row));
      }),
  };
}
