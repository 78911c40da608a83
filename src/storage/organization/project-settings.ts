/** The settings of projects. */

import type { ProjectStore } from '../../domain/store.ts';
import type { Managing } from '../management.ts';

/** See ProjectStore.updateSettings. */
export function createUpdateSettings({
  questions: { organization },
  transact,
}: Managing): ProjectStore['updateSettings'] {
  return (id, change, updatedAtMs) =>
    transact(async (tx) => {
      const isChange = Object.keys(change).length > 0;
      // First of all, as in every change: from here on nobody else changes them.
      if (isChange) await tx.change(organization.moveOnWithProject, { projectId: id });
      const [known] = await tx.ask(organization.findSettings, { id });
      if (known === undefined || !isChange) return known ?? null;
      const settings = { ...known, ...change };
      await tx.change(organization.updateSettings, { id, ...settings, updatedAtMs });
      return settings;
    });
}
