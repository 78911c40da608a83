/** Stores whole organizations. */

import type pg from 'pg';
import * as changes from '../../../gen/storage/postgres/organization.ts';
import type { InstallationStore } from '../../domain/store.ts';
import { installationStep, organizationSteps, type Step } from '../organization/new-organization.ts';
import type { Lane } from './connection.ts';
import { isAlreadyThere, isGivenUp, isStorageFailure, storageFault } from './failures.ts';

export type InstallationWriter = Pick<InstallationStore, 'bootstrap' | 'addOrganization'>;

export function createInstallationWriter(lane: Lane): InstallationWriter {
  async function run(steps: readonly Step[]): Promise<void> {
    try {
      await lane.hold((client) => runOn(client, steps));
    } catch (error) {
      throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
    }
  }

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

async function runOn(client: pg.PoolClient, steps: readonly Step[]): Promise<void> {
  await client.query('BEGIN');
  try {
    for (const { name, text, cells } of steps) await client.query({ name, text, values: [...cells] });
    await client.query('COMMIT');
  } catch (error) {
    // A connection that cannot even do this is thrown away with its transaction.
    if (!isStorageFailure(error)) await client.query('ROLLBACK');
    throw error;
  }
}
