import { describe, expect, it } from 'vitest';
import { insertKey } from '../../support/insert-key.ts';
import { RECEIVED_AT_MS, randomHex, sampleKey, samplePlan } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const NOW_MS = RECEIVED_AT_MS;

export function keyStoreConformance(open: OpenManagement): void {
  describe('keys', () => {
    it(
      'MUST reflect all writes acknowledged before the call',
      withStore(open, async ({ installation, keys, management }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const grants = ['traces:view', 'project:view'].map((permission, index) => ({
          id: `rolebinding_${index}`,
          role: 'CUSTOM' as const,
          scopeType: 'PROJECT' as const,
          scopeId: plan.project.id,
          permissions: [permission, "it's ? odd"],
        }));
        for (let round = 0; round < 20; round += 1) {
          const key = sampleKey(plan, { expiresAtMs: NOW_MS + round, bindings: grants });
          await insertKey({ management }, key);
          const found = await keys.findApiKey(key.id);
          expect(found).toMatchObject({
            id: key.id,
            keyType: 'personal',
            userId: plan.member.userId,
            secretHash: key.secretHash,
            expiresAtMs: NOW_MS + round,
          });
          // Bindings keep the given order.
          expect(found?.bindings).toEqual(grants.map(({ id: _, ...binding }) => binding));
        }
      }),
    );

    it(
      'returns a service key without an owner as active',
      withStore(open, async ({ installation, keys, management }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const key = sampleKey(plan, { keyType: 'service', userId: null });
        await insertKey({ management }, key);
        expect(await keys.findApiKey(key.id)).toMatchObject({ userId: null, ownerActive: true, ownerBindings: [] });
      }),
    );

    it(
      'stores a key with all its grants or not at all',
      withStore(open, async ({ installation, keys, management }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const key = sampleKey(plan);
        await insertKey({ management }, key);
        const other = samplePlan();
        await installation.addOrganization(other);
        const twin = sampleKey(other, { id: key.id, bindings: [] });
        await expect(insertKey({ management }, twin)).rejects.toThrow();
        expect(await keys.findApiKey(key.id)).toMatchObject({ secretHash: key.secretHash });
        expect((await keys.findApiKey(key.id))?.bindings).toHaveLength(1);
      }),
    );

    it(
      'MUST return revoked and expired keys too; null only for an unknown id',
      withStore(open, async ({ installation, keys, management }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const key = sampleKey(plan, { expiresAtMs: 1 });
        await insertKey({ management }, key);
        await execute(`UPDATE api_keys SET revoked_at = 5 WHERE id = '${key.id}'`);
        expect(await keys.findApiKey(key.id)).toMatchObject({ expiresAtMs: 1, revokedAtMs: 5 });
        expect(await keys.findApiKey(randomHex(16))).toBeNull();
      }),
    );

    it(
      'returns the secret of before a rotation',
      withStore(open, async ({ installation, keys }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        await execute(
          `UPDATE api_keys SET previous_secret_hash = secret_hash, previous_secret_until = ${NOW_MS + 60_000}`,
        );
        expect(await keys.findApiKey(plan.apiKey.id)).toMatchObject({
          previousSecretHash: plan.apiKey.secretHash,
          previousSecretUntilMs: NOW_MS + 60_000,
        });
      }),
    );

    it(
      'returns the owner as inactive once disabled or removed',
      withStore(open, async ({ installation, keys }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        await execute('UPDATE members SET disabled_at = 5');
        expect(await keys.findApiKey(plan.apiKey.id)).toMatchObject({ ownerActive: false });
        await execute('UPDATE members SET disabled_at = NULL');
        expect(await keys.findApiKey(plan.apiKey.id)).toMatchObject({ ownerActive: true });
        await execute('DELETE FROM members');
        expect(await keys.findApiKey(plan.apiKey.id)).toMatchObject({ ownerActive: false, ownerBindings: [] });
      }),
    );

    it(
      'bindings to archived projects MUST be absent, and those to unknown scopes',
      withStore(open, async ({ installation, keys, management }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const scopes = [
          ['ORGANIZATION', plan.organization.id],
          ['ORGANIZATION', 'organization_of_others'],
          ['TEAM', plan.team.id],
          ['TEAM', 'team_unknown'],
          ['PROJECT', plan.project.id],
          ['PROJECT', 'project_unknown'],
        ] as const;
        const bindings = scopes.map(([scopeType, scopeId], index) => ({
          id: `rolebinding_${index}`,
          role: 'MEMBER' as const,
          scopeType,
          scopeId,
          permissions: [],
        }));
        const key = sampleKey(plan, { bindings });
        await insertKey({ management }, key);
        const scopesOf = async () => (await keys.findApiKey(key.id))?.bindings.map((binding) => binding.scopeId);
        expect(await scopesOf()).toEqual([plan.organization.id, plan.team.id, plan.project.id]);
        await execute('UPDATE projects SET archived_at = 5');
        expect(await scopesOf()).toEqual([plan.organization.id, plan.team.id]);
      }),
    );

    it(
      'a damaged permission list grants nothing and spares the other grants',
      withStore(open, async ({ installation, keys, management }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const key = sampleKey(plan);
        await insertKey({ management }, key);
        for (const damaged of ['{"length":1}', '["traces:view"', 'null', '', '[1]']) {
          await execute(`UPDATE api_key_bindings SET permissions = '${damaged}' WHERE api_key_id = '${key.id}'`);
          expect((await keys.findApiKey(key.id))?.bindings).toMatchObject([{ permissions: [] }]);
        }
      }),
    );
  });
}

export function projectConformance(open: OpenManagement): void {
  describe('projects', () => {
    it(
      'finds a project by the key of before only within its overlap',
      withStore(open, async ({ installation, keys }, { execute, bytes }) => {
        const plan = samplePlan();
        const { keyHash } = plan.project;
        await installation.bootstrap(plan);
        const newHash = randomHex(64);
        await execute(
          `UPDATE projects SET previous_key_hash = key_hash, previous_key_until = ${NOW_MS + 60_000}, key_hash = ${bytes(newHash)}`,
        );
        const find = async (hash: Buffer, nowMs: number) => (await keys.findProjectByKeyHash(hash, nowMs))?.id ?? null;
        expect(await find(Buffer.from(newHash, 'hex'), NOW_MS)).toBe(plan.project.id);
        expect(await find(keyHash, NOW_MS + 59_999)).toBe(plan.project.id);
        expect(await find(keyHash, NOW_MS + 60_000)).toBeNull();
        expect(await find(Buffer.alloc(32), NOW_MS)).toBeNull();
      }),
    );

    it(
      'MUST NOT return archived projects',
      withStore(open, async ({ installation, keys }, { execute, bytes }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        expect(await keys.findProject(plan.project.id)).toMatchObject({ slug: plan.project.slug });
        expect(await keys.findProject(plan.project.slug)).toBeNull();
        await execute(
          `UPDATE projects SET archived_at = 5, previous_key_hash = ${bytes('00')}, previous_key_until = ${NOW_MS + 1}`,
        );
        expect(await keys.findProject(plan.project.id)).toBeNull();
        expect(await keys.findProjectByKeyHash(plan.project.keyHash, NOW_MS)).toBeNull();
        expect(await keys.findProjectByKeyHash(Buffer.from([0]), NOW_MS)).toBeNull();
      }),
    );

    it(
      'returns that request events are switched off',
      withStore(open, async ({ installation, keys }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        await execute('UPDATE projects SET emit_request_events = FALSE');
        expect(await keys.findProject(plan.project.id)).toMatchObject({ emitRequestEvents: false });
      }),
    );

    it(
      'knows whether any credential without a valid checksum exists',
      withStore(open, async ({ installation, keys, management }) => {
        const plan = samplePlan();
        expect(await keys.hasImportedCredentials()).toBe(false);
        await installation.bootstrap(plan);
        expect(await keys.hasImportedCredentials()).toBe(false);
        await insertKey({ management }, sampleKey(plan, { imported: true }));
        expect(await keys.hasImportedCredentials()).toBe(true);
      }),
    );

    it(
      'an imposed project key without a valid checksum counts as imported',
      withStore(open, async ({ installation, keys }) => {
        const plan = samplePlan();
        await installation.bootstrap({ ...plan, project: { ...plan.project, keyImported: true } });
        expect(await keys.hasImportedCredentials()).toBe(true);
      }),
    );
  });
}
