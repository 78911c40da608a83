/** What every start asks of the database. */

import type { Lane, Statement } from './connection.ts';

export type InstallationReader = {
  readVerifier(): Promise<Buffer | null>;
  hasOrganization(): Promise<boolean>;
};

export function createInstallationReader(lane: Lane): InstallationReader {
  return {
    async readVerifier() {
      const [row] = await lane.ask<{ verifier: Buffer }>(VERIFIER, []);
      return row?.verifier ?? null;
    },
    async hasOrganization() {
      return (await lane.ask(ORGANIZATION, [])).length > 0;
    },
  };
}

const VERIFIER: Statement = { name: 'read-verifier', text: 'SELECT verifier FROM installation' };

const ORGANIZATION: Statement = { name: 'find-any-organization', text: 'SELECT 1 FROM organizations LIMIT 1' };
