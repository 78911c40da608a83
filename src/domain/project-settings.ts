/** What a project may choose about its own data. */

import type { Project } from './caller.ts';
import { Fault } from './fault.ts';
import type { ProjectSettingsChange, ProjectStore, StoredProjectSettings } from './store.ts';
import { FOR_EVER, traceTermDays } from './trace-retention.ts';

export type ProjectSettings = {
  /** Days after which a trace is gone, counted from when it came in; null: never. */
  readonly traceRetentionDays: number | null;
  /** Whether collected llm spans become requests with their events. */
  readonly emitRequestEvents: boolean;
};

export type ProjectSettingsService = {
  get(project: Project): ProjectSettings;
  /** Changes what is named and answers all. Throws unknown_project when the project is archived meanwhile. */
  update(project: Project, change: Partial<ProjectSettings>, nowMs: number): Promise<ProjectSettings>;
};

export type ProjectSettingsDeps = {
  readonly store: ProjectStore;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export function createProjectSettings({ store, traceDefaultDays }: ProjectSettingsDeps): ProjectSettingsService {
  const toSettings = (stored: StoredProjectSettings): ProjectSettings => ({
    traceRetentionDays: traceTermDays(stored.traceRetentionDays, traceDefaultDays),
    emitRequestEvents: stored.emitRequestEvents,
  });
  return {
    get: toSettings,
    async update(project, change, nowMs) {
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
