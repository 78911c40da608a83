/** The settings of a project about its data. */

import type { Project } from '../caller.ts';
import { Fault } from '../fault.ts';
import type { ProjectSettingsChange, ProjectStore, StoredProjectSettings } from '../management/management-port.ts';
import { FOR_EVER, traceTermDays } from '../retention-terms.ts';

export type ProjectSettings = {
  /** Days after which a trace expires, counted from when it was received; null: never. */
  readonly traceRetentionDays: number | null;
  /** Whether collected llm spans create requests and their events. */
  readonly emitRequestEvents: boolean;
};

type ProjectSettingsDeps = {
  readonly store: ProjectStore;
  /** Default retention of traces; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export type ProjectSettingsService = ReturnType<typeof createProjectSettings>;

export function createProjectSettings({ store, traceDefaultDays }: ProjectSettingsDeps) {
  const toSettings = (stored: StoredProjectSettings): ProjectSettings => ({
    traceRetentionDays: traceTermDays(stored.traceRetentionDays, traceDefaultDays),
    emitRequestEvents: stored.emitRequestEvents,
  });
  return {
    get: toSettings,
    /** Changes the named settings and returns all of them. Throws unknown_project when the project was archived meanwhile. */
    async update(project: Project, change: Partial<ProjectSettings>, nowMs: number): Promise<ProjectSettings> {
      const stored = await store.updateSettings(project.id, toStored(change), nowMs);
      if (stored === null) throw new Fault('unknown_project', 'The project is archived.');
      return toSettings(stored);
    },
  };
}

function toStored({ traceRetentionDays, emitRequestEvents }: Partial<ProjectSettings>): ProjectSettingsChange {
  return {
    ...(traceRetentionDays === undefined ? {} : { traceRetentionDays: traceRetentionDays ?? FOR_EVER }),
    ...(emitRequestEvents === undefined ? {} : { emitRequestEvents }),
  };
}
