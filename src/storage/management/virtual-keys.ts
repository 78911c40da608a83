/**
 * Virtual keys as management sees them, and the model providers that they use. Authentication has a shorter read of keys
 * of its own.
 */

import type { ManagementStore } from '../../domain/management/management.ts';
import { ModelProviderRow } from '../entities/model-providers.ts';
import { VirtualKeyRow } from '../entities/virtual-keys.ts';
import { plain, type Units } from './units.ts';

type Verbs = 'virtualKey' | 'virtualKeys' | 'countVirtualKeys' | 'virtualKeyProjects';

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;
const OLDEST_FIRST = { createdAtMs: 'asc', id: 'asc' } as const;

export function createVirtualKeys({ read }: Units): Pick<ManagementStore, Verbs> {
  return {
    virtualKey: (organizationId, id) =>
      read(async (em) => {
        const found = await em.findOne(VirtualKeyRow, { organizationId, id });
        return found && plain(found);
      }),
    virtualKeys: (organizationId, { projectIds, externalId, after, limit }) =>
      read(async (em) => {
        const asked = {
          organizationId,
          ...(projectIds !== 'all' && { traceProjectId: { $in: [...projectIds] } }),
          ...(externalId !== null && { externalId }),
          ...(after !== null && {
            createdAtMs: { $lte: after.createdAtMs },
            $or: [{ createdAtMs: { $lt: after.createdAtMs } }, { id: { $lt: after.id } }],
          }),
        };
        const rows = await em.find(VirtualKeyRow, asked, { orderBy: NEWEST_FIRST, limit });
        return rows.map((row) => plain(row));
      }),
    countVirtualKeys: (organizationId) => read((em) => em.count(VirtualKeyRow, { organizationId })),
    virtualKeyProjects: (organizationId, ids) =>
      read(async (em) => {
        const fields = ['id', 'traceProjectId'] as const;
        const found = await em.find(VirtualKeyRow, { organizationId, id: { $in: [...ids] } }, { fields });
        return found.map(({ id, traceProjectId }) => ({ id, traceProjectId }));
      }),
  };
}

export function createModelProviders({ read }: Units): Pick<ManagementStore, 'modelProvider' | 'modelProviders'> {
  return {
    modelProvider: (organizationId, id) =>
      read(async (em) => {
        const found = await em.findOne(ModelProviderRow, { organizationId, id });
        return found && plain(found);
      }),
    modelProviders: (organizationId) =>
      read(async (em) => {
        const rows = await em.find(ModelProviderRow, { organizationId }, { orderBy: OLDEST_FIRST });
        return rows.map((row) => plain(row));
      }),
  };
}
