/** Named states of the list of traces. */

import type { SavedView, SavedViewStore, SavedViewsMax } from '../../domain/traces/views/saved-view.ts';
import { AuditEntry } from '../entities/audit.ts';
import { SavedViewRow } from '../entities/traces.ts';
import type { EntityManager } from '../mapper.ts';
import { lockProject } from './slugs.ts';
import { rowReads, type Units } from './units.ts';

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;
const ONE_PROJECTS = { visibility: 'PROJECT' } as const;
const ONE_PERSONS = { visibility: 'PERSONAL' } as const;

export function createSavedViewStore({ read, transact }: Units): SavedViewStore {
  const { one, all } = rowReads(read);
  return {
    list(projectId, { userId, after, limit }) {
      const seen = userId === null ? ONE_PROJECTS : { $or: [ONE_PROJECTS, { ...ONE_PERSONS, createdBy: userId }] };
      if (after === null) return all(SavedViewRow, { projectId, ...seen }, { orderBy: NEWEST_FIRST, limit });
      const { createdAtMs, id } = after;
      const behind = { $or: [{ createdAtMs: { $lt: createdAtMs } }, { createdAtMs, id: { $lt: id } }] };
      return all(SavedViewRow, { $and: [{ projectId }, seen, behind] }, { orderBy: NEWEST_FIRST, limit });
    },
    find: (projectId, id) => one(SavedViewRow, { projectId, id }),
    insert: (view, max, audited) =>
      transact(async ({ em }) => {
        if (!(await hasRoom(em, view, max))) return 'limit_reached';
        em.create(SavedViewRow, view);
        em.create(AuditEntry, audited);
        return 'stored';
      }),
    replace: ({ projectId, id, ...view }, { updatedAtMs, max }, audited) =>
      transact(async ({ em }) => {
        const stored = await em.findOne(SavedViewRow, { projectId, id, updatedAtMs });
        if (stored === null) return 'stale';
        const isMoved = stored.visibility !== view.visibility;
        if (isMoved && !(await hasRoom(em, { projectId, ...view }, max))) return 'limit_reached';
        if ((await em.nativeUpdate(SavedViewRow, { projectId, id, updatedAtMs }, view)) === 0) return 'stale';
        em.create(AuditEntry, audited);
        return 'stored';
      }),
    remove: (projectId, id, audited) =>
      transact(async ({ em }) => {
        if ((await em.nativeDelete(SavedViewRow, { projectId, id })) === 0) return false;
        em.create(AuditEntry, audited);
        return true;
      }),
  };
}

/** Locks the project, so that no other transaction counts its views meanwhile. */
async function hasRoom(
  em: EntityManager,
  { projectId, visibility, createdBy }: Pick<SavedView, 'projectId' | 'visibility' | 'createdBy'>,
  max: SavedViewsMax,
): Promise<boolean> {
  await lockProject(em, projectId);
  if (visibility === 'PROJECT') return (await em.count(SavedViewRow, { projectId, visibility })) < max.ofProject;
  return (await em.count(SavedViewRow, { projectId, visibility, createdBy })) < max.ofPerson;
}
