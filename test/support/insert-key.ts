import type { ApiKeyRecord } from '../../src/domain/management/management.ts';
import { NEW_KEY } from '../../src/domain/organization/new-organization.ts';
import type { Store } from '../../src/domain/store.ts';

export type NewKey = Omit<ApiKeyRecord, keyof typeof NEW_KEY | 'updatedAtMs'>;

/** Stores an API key as a change of its organization, whatever else changes meanwhile. */
export async function insertKey({ management }: Pick<Store, 'management'>, key: NewKey): Promise<void> {
  const { organizationId } = key;
  const apiKeys = [{ ...key, ...NEW_KEY, updatedAtMs: key.createdAtMs }];
  for (let outcome = 'stale'; outcome !== 'stored'; ) {
    const expectedVersion = await management.version(organizationId);
    outcome = await management.commit({ organizationId, expectedVersion, apiKeys, audit: [] });
    if (outcome === 'key_taken') throw new Error('a project key is taken');
  }
}
