/** The version of an organization: whoever changes what is decided upon moves it on first, and holds it to the end. */

import { type EntityManager, type RawQueryFragment, raw } from '@mikro-orm/core';
import { Organization } from '../tables/organization.ts';

/** See ManagementStore.version. */
export async function readVersion(em: EntityManager, organizationId: string): Promise<number> {
  const organization = await em.findOne(Organization, { id: organizationId });
  return organization?.accessVersion ?? 0;
}

/** False, and nothing is changed, when the version is another than expected. */
export async function moveOnFrom(tx: EntityManager, organizationId: string, expected: number): Promise<boolean> {
  const moved = await tx.nativeUpdate(
    Organization,
    { id: organizationId, accessVersion: expected },
    { accessVersion: expected + 1 },
  );
  return moved > 0;
}

/**
 * For changes that depend on nothing. The first thing in a transaction: transactions that all begin with the row of
 * the organization never hold what the other one waits for.
 */
export async function moveOn(tx: EntityManager, organizationId: string): Promise<void> {
  await tx.nativeUpdate(
    Organization,
    { id: organizationId },
    { accessVersion: raw<RawQueryFragment>('access_version + 1') },
  );
}
