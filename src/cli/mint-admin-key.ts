/** Mints a key for an administrator directly in the database, for when all administrators' keys are lost. */

import { recoverAdministrator } from '../domain/organization/recovery.ts';
import { withDatabase } from './database.ts';
import type { CommandIo } from './io.ts';

export type RecoveryOptions = {
  readonly email: string;
  /** Null: the only organization that has an administrator with this e-mail. */
  readonly organizationId: string | null;
};

/** Resolves with the token. Rejects with one line for the operator. */
export function mintAdminKey(io: CommandIo, { email, organizationId }: RecoveryOptions): Promise<string> {
  return withDatabase(io, async ({ store, rootKeys, keyPrefixes, random }) => {
    const [keyPrefix = 'sk-lw-'] = keyPrefixes;
    const deps = { store: store.management, rootKeys, keyPrefix, random };
    const found = await recoverAdministrator(deps, { email, organizationId }, Date.now());
    if (found.kind === 'minted') return found.token;
    if (found.kind === 'none') throw new Error(`no active member with the role ADMIN has the e-mail ${email}`);
    const ids = found.organizationIds.join(', ');
    throw new Error(`${email} is an administrator of several organizations; name one with --organization: ${ids}`);
  });
}
