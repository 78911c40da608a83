/** What management changes in projects. */

import type { EntityManager } from '@mikro-orm/core';
import type { ProjectSettingsChange, StoredProjectSettings } from '../../domain/store.ts';
import { Project } from '../tables/organization.ts';
import { moveOn } from './version.ts';

export type UpdateProjectSettings = { readonly projectId: string; readonly nowMs: number } & {
  readonly change: ProjectSettingsChange;
};

/** See ProjectStore.updateSettings. */
export async function updateProjectSettings(
  em: EntityManager,
  { projectId, change, nowMs }: UpdateProjectSettings,
): Promise<StoredProjectSettings | null> {
  const living = { id: projectId, archivedAtMs: null };
  return await em.transactional(async (tx) => {
    const known = await tx.findOne(Project, living);
    if (known === null) return null;
    if (Object.keys(change).length > 0) {
      await moveOn(tx, known.organizationId);
      await tx.nativeUpdate(Project, living, { ...change, updatedAtMs: nowMs });
    }
    // Others may have changed something before it was our turn.
    const project = await tx.findOne(Project, living, { refresh: true });
    if (project === null) return null;
    const { traceRetentionDays, emitRequestEvents } = project;
    return { traceRetentionDays, emitRequestEvents };
  });
}
