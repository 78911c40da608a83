/** The model providers of an organization. */

import type { ManagementStore } from '../../domain/management/management.ts';
import { ModelProviderRow } from '../entities/model-providers.ts';
import { plain, type Units } from './units.ts';

export function createModelProviders({ read }: Units): Pick<ManagementStore, 'modelProvider' | 'modelProviders'> {
  return {
    modelProvider: (organizationId, id) =>
      read(async (em) => {
        const found = await em.findOne(ModelProviderRow, { organizationId, id });
        return found && plain(found);
      }),
    modelProviders: (organizationId) =>
      read(async (em) => {
        const oldestFirst = { createdAtMs: 'asc', id: 'asc' } as const;
        const rows = await em.find(ModelProviderRow, { organizationId }, { orderBy: oldestFirst });
        return rows.map((row) => plain(row));
      }),
  };
}
