/** Creates another organization directly in the database, because no API key reaches beyond its own organization. */

import { addOrganization } from '../domain/organization/bootstrap.ts';
import { withDatabase } from './database.ts';
import { exportLines } from './first-keys.ts';
import type { CommandIo } from './io.ts';
import type { OrganizationCommand } from './organization-arguments.ts';

/** Resolves with what to print. Rejects with one line for the operator. */
export function createOrganization(io: CommandIo, { options }: OrganizationCommand): Promise<string> {
  return withDatabase(io, async ({ store, ...deps }) => {
    const made = await addOrganization({ ...deps, store: store.installation }, options, Date.now());
    if (made === null)
      throw new Error('the database is empty: start the server once, which creates the first organization');
    return exportLines(made, null);
  });
}
