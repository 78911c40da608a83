/** Virtual keys as management sees them. Authentication has a shorter read of its own. */

import type { ManagementStore } from '../../domain/management/management.ts';
import { VirtualKeyRow } from '../entities/virtual-keys.ts';
import { plain, type Units } from './units.ts';

type Verbs = 'virtualKey' | 'virtualKeys' | 'countVirtualKeys' | 'virtualKeyIds';

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;

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
    virtualKeyIds: (organizationId, ids) =>
      read(async (em) => {
        const found = await em.find(VirtualKeyRow, { organizationId, id: { $in: [...ids] } }, { fields: ['id'] });
        return found.map(({ id }) => id);
      }),
  };
}
