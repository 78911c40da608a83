/** What management changes in projects. */

import type { EntityManager } from '@mikro-orm/core';
import type { ProjectSettingsChange, StoredProjectSettings } from '../../domain/store.ts';
import { Project } from './organization.ts';

export type UpdateProjectSettings = { readonly projectId: string; readonly nowMs: number } & {
  readonly change: ProjectSettingsChange;
};

/** See ProjectStore.updateSettings. */
export async function updateProjectSettings(
  em: EntityManager,
  { projectId, change, nowMs }: UpdateProjectSettings,
): Promise<StoredProjectSettings | null> {
  const living = { id: projectId, archivedAt: null };
  return await em.transactional(async (tx) => {
    // The row is held from here on, so that what is read next is what this change made of it.
    if (Object.keys(change).length > 0) await tx.nativeUpdate(Project, living, { ...change, updatedAt: nowMs });
    const project = await tx.findOne(Project, living);
    if (project === null) return null;
    return {
      traceRetentionDays: project.traceRetentionDays ?? null,
      emitRequestEvents: project.emitRequestEvents,
    };
  });
}
