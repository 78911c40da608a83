import { describe, expect, it } from 'vitest';
import type { StoredOverride } from '../../../src/domain/pricing/override.ts';
import { AT_MS, change, found, foundAnother } from './management-samples.ts';
import { randomHex } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

export function sampleOverride(organizationId: string, changes: Partial<StoredOverride> = {}): StoredOverride {
  return {
    organizationId,
    id: `override_${randomHex(8)}`,
    model: "Größe's \\d+",
    match: 'regex',
    inputPicoUsd: 1_000_000_000_000,
    outputPicoUsd: 1,
    cacheReadPicoUsd: 0,
    cacheWritePicoUsd: null,
    effectiveFromMs: null,
    createdAtMs: AT_MS,
    ...changes,
  };
}

export function priceOverrideConformance(open: OpenManagement): void {
  describe('the price overrides of an organization', () => {
    it(
      'are read back whole, newest first, only by their organization',
      withStore(open, async (store, subject) => {
        const { organization } = await found(store);
        const others = await foundAnother(subject);
        const overrides = [
          sampleOverride(organization.id, { createdAtMs: AT_MS + 2, effectiveFromMs: AT_MS }),
          sampleOverride(organization.id, { id: 'override_b', createdAtMs: AT_MS + 1 }),
          sampleOverride(organization.id, { id: 'override_a', createdAtMs: AT_MS + 1, match: 'exact' }),
        ];
        await change(store, organization.id, { priceOverrides: overrides.toReversed() });
        await change(store, others, { priceOverrides: [sampleOverride(others, { id: 'override_a' })] });
        expect(await store.management.priceOverrides(organization.id)).toEqual(overrides);
        const removedPriceOverrides = [{ id: 'override_a' }];
        await change(store, organization.id, { removedPriceOverrides });
        expect(await store.management.priceOverrides(organization.id)).toEqual(overrides.slice(0, 2));
        expect(await store.management.priceOverrides(others)).toHaveLength(1);
      }),
    );

    it(
      'move the version on that authentication returns, and nothing else does',
      withStore(open, async (store) => {
        const { organization, project, apiKey } = await found(store);
        const versions = async () => {
          const byId = await store.keys.findProject(project.id);
          const byKey = await store.keys.findProjectByKeyHash(project.keyHash, AT_MS);
          const key = await store.keys.findApiKey(apiKey.id);
          return [byId?.priceVersion, byKey?.priceVersion, key?.organization.priceVersion];
        };
        expect(await versions()).toEqual([0, 0, 0]);
        await change(store, organization.id, {});
        expect(await versions()).toEqual([0, 0, 0]);
        await change(store, organization.id, {
          priceOverrides: [sampleOverride(organization.id, { id: 'override_1' })],
        });
        expect(await versions()).toEqual([1, 1, 1]);
        await change(store, organization.id, { removedPriceOverrides: [{ id: 'override_1' }] });
        expect(await versions()).toEqual([2, 2, 2]);
        const record = await store.management.organization(organization.id);
        if (record === null) throw new Error('the organization is gone');
        await change(store, organization.id, { organization: { ...record, name: 'Renamed' } });
        expect(await versions()).toEqual([2, 2, 2]);
      }),
    );
  });
}
