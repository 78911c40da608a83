import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ManagementChange } from '../../../src/domain/management/management.ts';
import type { ModelProviderRecord } from '../../../src/domain/model-providers/model-provider.ts';
import { DEFAULT_CONFIG, type VirtualKeyRecord } from '../../../src/domain/virtual-keys/virtual-key.ts';
import { sampleBudget } from './budgets.ts';
import { AT_MS, change, found, foundAnother } from './management-samples.ts';
import { governance, governanceOf } from './reports.ts';
import { ORGANIZATION, PROJECT, randomHex } from './samples.ts';
import { type OpenManagement, type OpenSubject, withStore } from './subject.ts';

function sampleProvider(organizationId: string, changes: Partial<ModelProviderRecord> = {}): ModelProviderRecord {
  const id = `modelprovider_${randomHex(8)}`;
  return {
    organizationId,
    id,
    name: `Größe ${id}`,
    kind: 'azure_openai',
    baseUrl: 'https://example.com/v1',
    apiVersion: '2024-10-21',
    extraHeaders: { 'X-A': "it's" },
    models: ['gpt-5*'],
    aliases: { fast: 'gpt-5-mini' },
    timeoutMs: 120_000,
    projectIds: ['project_1'],
    streamUsage: true,
    enabled: false,
    apiKey: randomBytes(40),
    keyHint: 'wxyz',
    createdAtMs: AT_MS,
    updatedAtMs: AT_MS + 1,
    ...changes,
  };
}

export function sampleVirtualKey(
  owner: Pick<VirtualKeyRecord, 'organizationId' | 'traceProjectId'>,
  changes: Partial<VirtualKeyRecord> = {},
): VirtualKeyRecord {
  return {
    ...owner,
    id: `vk_${randomHex(8)}`,
    name: 'Größe',
    description: null,
    status: 'active',
    displayPrefix: 'vk-lw-ABCD',
    secretHash: randomBytes(32),
    previousSecretHash: null,
    previousSecretUntilMs: null,
    principalUserId: null,
    externalId: null,
    metadataJson: '{"n":1.10}',
    labels: ['a', "b's"],
    config: { ...DEFAULT_CONFIG, providers: ['modelprovider_1'], rateLimits: { rpm: 1, tpm: null, rpd: 2 } },
    revision: 1,
    lastUsedAtMs: null,
    expiresAtMs: null,
    revokedAtMs: null,
    createdAtMs: AT_MS,
    updatedAtMs: AT_MS,
    ...changes,
  };
}

const EVERYTHING = { afterSeq: 0, limit: 100 };
const ANYTHING = { projectIds: 'all', externalId: null, after: null, limit: 100 } as const;

export function virtualKeyConformance(open: OpenManagement): void {
  providerConformance(open);
  describe('virtual keys', () => {
    it(
      'are read back whole, only by their organization, and replaced by id',
      withStore(open, async (store, subject) => {
        const { organization, project } = await found(store);
        const others = await foundAnother(subject);
        const key = sampleVirtualKey(
          { organizationId: organization.id, traceProjectId: project.id },
          { description: 'd', principalUserId: 'user_1', externalId: 'e', expiresAtMs: AT_MS + 9 },
        );
        await change(store, organization.id, { virtualKeys: [key] });
        expect(await store.management.virtualKey(organization.id, key.id)).toEqual(key);
        expect(await store.management.virtualKey(others, key.id)).toBeNull();
        const changed = { ...key, name: 'other', status: 'revoked', revokedAtMs: 5, revision: 2, labels: [] } as const;
        await change(store, organization.id, { virtualKeys: [changed] });
        expect(await store.management.virtualKey(organization.id, key.id)).toEqual(changed);
        expect(await store.management.countVirtualKeys(organization.id)).toBe(1);
        expect(await store.management.countVirtualKeys(others)).toBe(0);
        const asked = [key.id, 'vk_unknown'];
        const named = [{ id: key.id, traceProjectId: project.id }];
        expect(await store.management.virtualKeyProjects(organization.id, asked)).toEqual(named);
        expect(await store.management.virtualKeyProjects(others, asked)).toEqual([]);
      }),
    );

    it(
      'are listed newest first, page by page, of some projects, and by their external id',
      withStore(open, async (store) => {
        const { organization, project } = await found(store);
        const ofProject = { organizationId: organization.id, traceProjectId: project.id };
        const keys = [
          sampleVirtualKey(ofProject, { id: 'vk_c', createdAtMs: AT_MS + 2, externalId: 'e' }),
          sampleVirtualKey({ ...ofProject, traceProjectId: 'project_2' }, { id: 'vk_b', createdAtMs: AT_MS + 1 }),
          sampleVirtualKey(ofProject, { id: 'vk_a', createdAtMs: AT_MS + 1, status: 'revoked', revokedAtMs: AT_MS }),
          sampleVirtualKey(ofProject, { id: 'vk_z', createdAtMs: AT_MS }),
        ];
        await change(store, organization.id, { virtualKeys: keys.toReversed() });
        const list = async (question: object) => {
          const listed = await store.management.virtualKeys(organization.id, { ...ANYTHING, ...question });
          return listed.map(({ id }) => id);
        };
        expect(await list({})).toEqual(['vk_c', 'vk_b', 'vk_a', 'vk_z']);
        expect(await list({ limit: 2 })).toEqual(['vk_c', 'vk_b']);
        expect(await list({ after: { createdAtMs: AT_MS + 1, id: 'vk_b' } })).toEqual(['vk_a', 'vk_z']);
        expect(await list({ projectIds: ['project_2', 'project_3'] })).toEqual(['vk_b']);
        expect(await list({ projectIds: [] })).toEqual([]);
        expect(await list({ externalId: 'e' })).toEqual(['vk_c']);
      }),
    );

    it(
      'MUST be found by the hash of their secret, or of the secret before while its overlap lasts',
      withStore(open, async (store) => {
        const { organization, project } = await found(store);
        const previousSecretHash = randomBytes(32);
        const key = sampleVirtualKey(
          { organizationId: organization.id, traceProjectId: project.id },
          { previousSecretHash, previousSecretUntilMs: AT_MS + 1_000, expiresAtMs: 1, status: 'disabled' },
        );
        const find = (hash: Buffer, nowMs = AT_MS) => store.keys.findVirtualKey(hash, nowMs);
        expect(await find(key.secretHash)).toBeNull();
        await change(store, organization.id, { virtualKeys: [key] });
        const { secretHash: _, previousSecretHash: _before, ...shown } = key;
        expect(await find(key.secretHash)).toMatchObject({
          key: shown,
          organization: { id: organization.id },
          project: { id: project.id },
        });
        expect((await find(previousSecretHash, AT_MS + 999))?.key).toEqual(shown);
        expect(await find(previousSecretHash, AT_MS + 1_000)).toBeNull();
        expect(await find(randomBytes(32))).toBeNull();
        const revoked = { ...key, status: 'revoked', previousSecretHash: null, previousSecretUntilMs: null } as const;
        await change(store, organization.id, { virtualKeys: [revoked] });
        expect((await find(key.secretHash))?.key.status).toBe('revoked');
        expect(await find(previousSecretHash)).toBeNull();
      }),
    );

    it(
      'MUST tell whether the member that they are for is active, with the secret before, too',
      withStore(open, async (store) => {
        const { organization, project, member } = await found(store);
        const ofProject = { organizationId: organization.id, traceProjectId: project.id };
        const previous = { previousSecretHash: randomBytes(32), previousSecretUntilMs: AT_MS + 1_000 };
        const key = sampleVirtualKey(ofProject, { principalUserId: member.userId, ...previous });
        const unowned = sampleVirtualKey(ofProject, { id: 'vk_of_nobody' });
        await change(store, organization.id, { virtualKeys: [key, unowned] });
        const isActive = async ({ secretHash }: { readonly secretHash: Buffer }) =>
          (await store.keys.findVirtualKey(secretHash, AT_MS))?.principalActive;
        expect([await isActive(key), await isActive(unowned)]).toEqual([true, true]);
        const record = await store.management.member(organization.id, member.userId);
        if (record === null) throw new Error('the member is gone');
        await change(store, organization.id, { members: [{ ...record, disabledAtMs: AT_MS }] });
        expect(await isActive(key)).toBe(false);
        expect(await isActive({ secretHash: previous.previousSecretHash })).toBe(false);
        await change(store, organization.id, { members: [record] });
        expect(await isActive(key)).toBe(true);
        await change(store, organization.id, { removedMembers: [{ userId: member.userId }] });
        expect([await isActive(key), await isActive(unowned)]).toEqual([false, true]);
      }),
    );

    it(
      'MUST be served with the model providers and budgets as they were when the request began, or later',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const setup = async () => {
          const { providers, budgets } = await store.keys.findGatewaySetup(organization.id);
          return { providers: providers.map(({ id }) => id), limit: budgets.find('budget_1')?.limitNanoUsd };
        };
        expect(await setup()).toEqual({ providers: [], limit: undefined });
        const provider = sampleProvider(organization.id, { id: 'modelprovider_1', enabled: true });
        const budget = sampleBudget(organization.id, { id: 'budget_1', limitNanoUsd: 5 });
        await change(store, organization.id, { modelProviders: [provider], budgets: [budget] });
        expect(await setup()).toEqual({ providers: [provider.id], limit: 5 });
        await change(store, organization.id, { budgets: [{ ...budget, limitNanoUsd: 4 }] });
        expect(await setup()).toEqual({ providers: [provider.id], limit: 4 });
        await change(store, organization.id, { modelProviders: [{ ...provider, enabled: false }] });
        expect(await setup()).toEqual({ providers: [], limit: 4 });
        await change(store, organization.id, { budgets: [{ ...budget, archivedAtMs: AT_MS }] });
        expect(await setup()).toEqual({ providers: [], limit: undefined });
      }),
    );

    it(
      'MUST NOT be found once their project is archived',
      withStore(open, async (store) => {
        const { organization, project } = await found(store);
        const key = sampleVirtualKey({ organizationId: organization.id, traceProjectId: project.id });
        await change(store, organization.id, { virtualKeys: [key] });
        expect(await store.keys.findVirtualKey(key.secretHash, AT_MS)).not.toBeNull();
        const record = await store.management.project(organization.id, project.id);
        if (record === null) throw new Error('the project is gone');
        await change(store, organization.id, { projects: [{ ...record, archivedAtMs: AT_MS }] });
        expect(await store.keys.findVirtualKey(key.secretHash, AT_MS)).toBeNull();
      }),
    );

    it(
      'keep the instant of their last use, which a change does not set back',
      withStore(open, async (store) => {
        const { organization, project } = await found(store);
        const key = sampleVirtualKey({ organizationId: organization.id, traceProjectId: project.id });
        await change(store, organization.id, { virtualKeys: [key] });
        await store.management.recordUse([{ kind: 'virtual_key', id: key.id, atMs: AT_MS + 5 }]);
        await store.management.recordUse([{ kind: 'virtual_key', id: key.id, atMs: AT_MS + 3 }]);
        await change(store, organization.id, { virtualKeys: [{ ...key, name: 'renamed' }] });
        const stored = await store.management.virtualKey(organization.id, key.id);
        expect(stored).toMatchObject({ name: 'renamed', lastUsedAtMs: AT_MS + 5 });
      }),
    );
  });
}

function providerConformance(open: OpenManagement): void {
  describe('model providers', () => {
    it(
      'are read back whole, oldest first, only by their organization, and replaced by id',
      withStore(open, async (store, subject) => {
        const { organization } = await found(store);
        const others = await foundAnother(subject);
        const bare = { apiVersion: null, models: null, projectIds: null, apiKey: null, keyHint: null };
        const providers = [
          sampleProvider(organization.id, { id: 'modelprovider_b' }),
          sampleProvider(organization.id, { id: 'modelprovider_a', createdAtMs: AT_MS + 1, ...bare }),
        ];
        await change(store, organization.id, { modelProviders: providers.toReversed() });
        await change(store, others, { modelProviders: [sampleProvider(others, { id: 'modelprovider_a' })] });
        expect(await store.management.modelProviders(organization.id)).toEqual(providers);
        expect(await store.management.modelProvider(organization.id, 'modelprovider_a')).toEqual(providers[1]);
        expect(await store.management.modelProvider(others, 'modelprovider_b')).toBeNull();
        const changed = sampleProvider(organization.id, { id: 'modelprovider_a', name: 'other', enabled: true });
        await change(store, organization.id, { modelProviders: [changed] });
        expect(await store.management.modelProvider(organization.id, 'modelprovider_a')).toEqual(changed);
        await change(store, organization.id, { removedModelProviders: [{ id: 'modelprovider_a' }] });
        expect(await store.management.modelProvider(organization.id, 'modelprovider_a')).toBeNull();
        expect(await store.management.modelProviders(others)).toHaveLength(1);
      }),
    );
  });
}

/** What needs the log beside management. */
export function changeEventConformance(open: OpenSubject): void {
  describe('a change of management with events', () => {
    it(
      'MUST append its events to the log of the organization, in the same order as all other events',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        await store.requests.reportGovernance(governanceOf([governance('before')]));
        await change(store, organization.id, { events: [governance('one'), governance('two')] });
        await change(store, organization.id, {});
        await store.requests.reportGovernance(governanceOf([governance('after'), governance('one')]));
        await change(store, organization.id, { events: [governance('last')] });
        const again = ['one', 'two', 'last'].map((id) => governance(id));
        expect(await store.requests.reportGovernance(governanceOf(again))).toEqual(again.map(() => 'duplicate'));
        const page = await store.deliveries.events(ORGANIZATION.number, EVERYTHING);
        expect(page.map(({ id, seq }) => [id, seq])).toEqual([
          ['before', 1],
          ['one', 2],
          ['two', 3],
          ['after', 4],
          ['last', 5],
        ]);
        for (const { id, type, createdAtMs, envelope } of page) {
          const created = new Date(createdAtMs).toISOString();
          expect(JSON.parse(envelope)).toEqual({ id, type, created, schema_version: '1', data: { event_id: id } });
        }
      }),
    );

    it(
      'stores neither the change nor its events when it is stale',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const key = sampleVirtualKey({ organizationId: organization.id, traceProjectId: PROJECT.id });
        const stale: ManagementChange = {
          organizationId: organization.id,
          expectedVersion: 7,
          virtualKeys: [key],
          events: [governance('stale')],
          audit: [],
        };
        expect(await store.management.commit(stale)).toBe('stale');
        expect(await store.management.virtualKey(organization.id, key.id)).toBeNull();
        expect(await store.requests.reportGovernance(governanceOf([governance('stale')]))).toEqual(['emitted']);
      }),
    );

    it(
      'appends them beside appends of others, with no position twice and none left out',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const ids = Array.from({ length: 12 }, (_, index) => `event-${index}`);
        for (let start = 0; start < ids.length; start += 2) {
          const [one = '', other = ''] = ids.slice(start, start + 2);
          await Promise.all([
            change(store, organization.id, { events: [governance(one)] }),
            store.requests.reportGovernance(governanceOf([governance(other)])),
          ]);
        }
        const page = await store.deliveries.events(ORGANIZATION.number, EVERYTHING);
        expect(page.map(({ seq }) => seq)).toEqual(ids.map((_, index) => index + 1));
        expect(new Set(page.map(({ id }) => id))).toEqual(new Set(ids));
      }),
    );
  });
}
