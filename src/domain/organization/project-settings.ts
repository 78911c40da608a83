/** The settings of a project about its data. */

import type { RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { type Actor, auditRecord } from '../management/audit.ts';
import { type ProjectCall, requireStillMay } from '../management/fresh-caller.ts';
import type { ManagementStore } from '../management/management.ts';
import type { ProjectSettingsChange, ProjectStore, StoredProjectSettings } from '../management/management-port.ts';
import { FOR_EVER, traceTermDays } from '../retention-terms.ts';

export type ProjectSettings = {
  /** Days after which a trace expires, counted from when it was received; null: never. */
  readonly traceRetentionDays: number | null;
  /** Whether collected llm spans create requests and their events. */
  readonly emitRequestEvents: boolean;
};

type ProjectSettingsDeps = {
  readonly store: Pick<ProjectStore, 'updateSettings'>;
  readonly management: ManagementStore;
  readonly random: RandomBytes;
  /** Default retention of traces; null: for ever. */
  readonly traceDefaultDays: number | null;
};

type Call = ProjectCall & { readonly actor: Actor };

export type ProjectSettingsService = ReturnType<typeof createProjectSettings>;

export function createProjectSettings({ store, management, random, traceDefaultDays }: ProjectSettingsDeps) {
  const toSettings = (stored: StoredProjectSettings): ProjectSettings => ({
    traceRetentionDays: traceTermDays(stored.traceRetentionDays, traceDefaultDays),
    emitRequestEvents: stored.emitRequestEvents,
  });
  return {
    get: toSettings,
    /** Changes the named settings and returns all of them. Throws unknown_project when the project was archived meanwhile. */
    async update(call: Call, change: Partial<ProjectSettings>): Promise<ProjectSettings> {
      const { project, actor, nowMs } = call;
      await requireStillMay(management, call, 'project:manage');
      const audited = auditRecord(actor, { action: 'project.update', targetId: project.id }, { nowMs, random });
      const stored = await store.updateSettings(project.id, toStored(change), audited);
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
