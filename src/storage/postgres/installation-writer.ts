/** Stores whole organizations. */

import * as changes from '../../../gen/storage/postgres/organization.ts';
import type { InstallationStore } from '../../domain/store.ts';
import { installationStep, organizationSteps, type Step } from '../organization/new-organization.ts';
import type { Lane } from './connection.ts';
import { isAlreadyThere } from './failures.ts';
import { inTransaction } from './transaction.ts';

export type InstallationWriter = Pick<InstallationStore, 'bootstrap' | 'addOrganization'>;

export function createInstallationWriter(lane: Lane): InstallationWriter {
  const run = (steps: readonly Step[]) =>
    inTransaction(lane, async ({ post }) => {
      for (const { cells, ...statement } of steps) post(statement, cells);
    });

  return {
    async bootstrap(plan) {
      try {
        await run([installationStep(changes, plan), ...organizationSteps(changes, plan, 'bootstrap')]);
        return true;
      } catch (error) {
        // Another process has done it, or was in the middle of it.
        if (isAlreadyThere(error)) return false;
        throw error;
      }
    },
    addOrganization: (plan) => run(organizationSteps(changes, plan, 'cli')),
  };
}
