/** What every start asks of the database. */

import type { Database } from './connection.ts';
import type { ReadLane } from './read-lane.ts';

export type InstallationReader = {
  readVerifier(): Promise<Buffer | null>;
  hasOrganization(): Promise<boolean>;
};

export function prepareInstallationReader(db: Database, lane: ReadLane): InstallationReader {
  const verifier = db.prepare<[], Buffer>('SELECT verifier FROM installation').pluck();
  const organization = db.prepare('SELECT 1 FROM organizations LIMIT 1');
  return {
    readVerifier: () => lane(() => verifier.get() ?? null),
    hasOrganization: () => lane(() => organization.get() !== undefined),
  };
}
