import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyRecord, ManagementChange } from '../../src/domain/management/management.ts';
import type { Bootstrap } from '../../src/domain/management/management-port.ts';
import { commitOptimistically } from '../../src/domain/management/optimistic-commit.ts';
import { createPriceResolver, type PriceResolver } from '../../src/domain/pricing/prices.ts';
import { runWithoutPauses, type Steps } from '../../src/domain/steps.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { insertKey } from '../support/insert-key.ts';
import { query } from '../support/postgres-databases.ts';
import { ask, pricing } from '../support/pricing.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { sampleBudget } from './conformance/budgets.ts';
import {
  AT_MS,
  change,
  found,
  sampleApiKey,
  sampleAudit,
  sampleGrant,
  sampleMember,
  sampleProject,
  sampleTeam,
} from './conformance/management-samples.ts';
import { sampleOverride } from './conformance/price-overrides.ts';
import { sampleKey } from './conformance/samples.ts';
import { sampleSession } from './conformance/sessions.ts';
import { sampleVirtualKey } from './conformance/virtual-keys.ts';
import { quietLog } from './quiet-log.ts';

const OTHERS = 'organization_others';
const ROUNDS = 15;
const priceDeps = { pricing, runCooperatively: async <T>(steps: Steps<T>) => runWithoutPauses(steps) };

let database: TestDatabase;
/** Stores of two processes. */
let stores: readonly [Store, Store];
let plan: Bootstrap;

beforeEach(async () => {
  database = await createPostgresTestDatabase();
  const open = () => openStore({ url: database.url, queueMaxBytes: 1024 * 1024, log: quietLog });
  stores = [await open(), await open()];
  plan = await found(stores[0]);
  await query(
    database.url,
    `INSERT INTO organizations (id, name, slug, created_at, updated_at) VALUES ('${OTHERS}', 'Others', 'others', 0, 0)`,
  );
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await database.remove();
});

function bare(organizationId: string, expectedVersion: number): ManagementChange {
  return { organizationId, expectedVersion, audit: [] };
}

/** Edits some keys and a project, in either order. */
async function edit({ management }: Store, organizationId: string, backwards: boolean): Promise<void> {
  await commitOptimistically(management, organizationId, {
    attempt: async () => {
      const listing = { personalOf: 'all', includeRevoked: true, after: null, limit: 100 } as const;
      const keys = await management.apiKeys(organizationId, listing);
      const projects = await management.projects(organizationId);
      const apiKeys = (backwards ? keys.toReversed() : keys).map((key): ApiKeyRecord => {
        return { ...key, bindings: [...key.bindings, sampleGrant(organizationId, ['traces:view'])] };
      });
      const audit = [sampleAudit(organizationId)];
      return { result: null, change: { apiKeys, projects: backwards ? projects.toReversed() : projects, audit } };
    },
  });
}

describe('management by two processes', () => {
  it('shows the next request of each the prices that the other has set', async () => {
    const [one, two] = stores;
    const { organization, project } = plan;
    const books = stores.map((store) => createPriceResolver({ ...priceDeps, store: store.management }));
    const [pricesOfOne, pricesOfTwo] = books;
    if (pricesOfOne === undefined || pricesOfTwo === undefined) throw new Error('two processes were asked for');
    const costOf = async (store: Store, book: PriceResolver) => {
      const found = await store.keys.findProjectByKeyHash(project.keyHash, AT_MS);
      const prices = await book.of({ id: organization.id, priceVersion: found?.priceVersion ?? 0 }, () => []);
      return prices.price(ask({ model: 'in-house', tokens: { prompt: 1 } })).costNanoUsd;
    };
    for (let round = 1; round <= ROUNDS; round += 1) {
      const override = { model: 'in-house', match: 'exact', inputPicoUsd: round * 1000, createdAtMs: round } as const;
      const priceOverrides = [sampleOverride(organization.id, override)];
      await change(round % 2 === 0 ? one : two, organization.id, { priceOverrides });
      expect(await costOf(one, pricesOfOne)).toBe(round);
      expect(await costOf(two, pricesOfTwo)).toBe(round);
    }
  });

  it('shows the next request of each what the other has made of a virtual key', async () => {
    const [one, two] = stores;
    const key = sampleVirtualKey({ organizationId: plan.organization.id, traceProjectId: plan.project.id });
    for (let round = 1; round <= ROUNDS; round += 1) {
      const [changing, asking] = round % 2 === 0 ? [one, two] : [two, one];
      const status = round % 3 === 0 ? 'disabled' : 'active';
      const secretHash = randomBytes(32);
      const changed = { ...key, status, secretHash, revision: round } as const;
      await change(changing, plan.organization.id, { virtualKeys: [changed] });
      for (const store of [asking, changing]) {
        expect((await store.keys.findVirtualKey(secretHash, AT_MS))?.key).toMatchObject({ status, revision: round });
      }
    }
    await change(one, plan.organization.id, { virtualKeys: [{ ...key, status: 'revoked', revokedAtMs: AT_MS }] });
    expect((await two.keys.findVirtualKey(key.secretHash, AT_MS))?.key.status).toBe('revoked');
  });

  it('refuses a session in the next request of each as soon as the other has ended it', async () => {
    const [one, two] = stores;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const [changing, asking] = round % 2 === 0 ? [one, two] : [two, one];
      const session = sampleSession(plan.organization.id, { apiKeyId: 'key' });
      await change(changing, plan.organization.id, { sessions: [session] });
      for (const store of [asking, changing]) {
        expect((await store.keys.findSession(session.secretHash, AT_MS))?.id).toBe(session.id);
      }
      await change(changing, plan.organization.id, { endedSessions: [{ apiKeyId: 'key' }] });
      for (const store of [asking, changing])
        expect(await store.keys.findSession(session.secretHash, AT_MS)).toBeNull();
    }
  });

  it('serves the next request of each with the budgets that the other has made', async () => {
    const [one, two] = stores;
    const { organization } = plan;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const budget = sampleBudget(organization.id, { limitNanoUsd: round });
      await change(round % 2 === 0 ? one : two, organization.id, { budgets: [budget] });
      for (const store of stores) {
        const { budgets } = await store.keys.findGatewaySetup(organization.id);
        expect(budgets.find(budget.id)?.limitNanoUsd).toBe(round);
      }
    }
  });

  it('loses no decision while other changes are stored', async () => {
    const [one, two] = stores;
    const { organization, project, apiKey, team } = plan;
    const key = sampleApiKey(organization.id);
    const second = sampleProject({ organizationId: organization.id, id: team.id });
    await change(one, organization.id, { apiKeys: [key], projects: [second] });
    const uses = [
      { kind: 'api_key', id: key.id, atMs: 0 },
      { kind: 'project_key', id: second.id, atMs: 0 },
      { kind: 'project_key', id: project.id, atMs: 0 },
      { kind: 'api_key', id: apiKey.id, atMs: 0 },
    ] as const;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const atMs = AT_MS + round;
      await Promise.all([
        edit(one, organization.id, false),
        edit(two, organization.id, true),
        one.projects.updateSettings(
          second.id,
          { traceRetentionDays: round },
          sampleAudit(organization.id, { createdAtMs: atMs }),
        ),
        two.projects.updateSettings(
          project.id,
          { traceRetentionDays: round },
          sampleAudit(organization.id, { createdAtMs: atMs }),
        ),
        one.management.recordUse(uses.map((use) => ({ ...use, atMs }))),
        two.management.recordUse(uses.map((use) => ({ ...use, atMs })).toReversed()),
        insertKey(two, sampleKey(plan)),
        two.management.recordRefusal(sampleAudit(organization.id, { outcome: 'refused' })),
      ]);
      expect(await two.keys.findProject(second.id)).toMatchObject({ traceRetentionDays: round });
    }
    const edited = await two.management.apiKey(organization.id, key.id);
    expect(edited?.bindings).toHaveLength(1 + 2 * ROUNDS);
    expect(edited?.lastUsedAtMs).toBe(AT_MS + ROUNDS);
    expect((await one.management.project(organization.id, second.id))?.keyLastUsedAtMs).toBe(AT_MS + ROUNDS);
  });

  it('gives a project key to one of two organizations that want it at once', async () => {
    const [one, two] = stores;
    const otherTeam = sampleTeam(OTHERS);
    await change(one, OTHERS, { teams: [otherTeam] });
    for (let round = 0; round < ROUNDS; round += 1) {
      const keyHash = randomBytes(32);
      const own = sampleProject({ organizationId: plan.organization.id, id: plan.team.id }, { keyHash });
      const others = sampleProject(otherTeam, { keyHash });
      const commit = async ({ management }: Store, rival: typeof own) => {
        const version = await management.version(rival.organizationId);
        return await management.commit({ ...bare(rival.organizationId, version), projects: [rival] });
      };
      const outcomes = await Promise.all([commit(one, own), commit(two, others)]);
      expect(outcomes.toSorted()).toEqual(['key_taken', 'stored']);
    }
  });

  it('gives no project key to another organization while its project turns it into the one before', async () => {
    const [one, two] = stores;
    const otherTeam = sampleTeam(OTHERS);
    await change(one, OTHERS, { teams: [otherTeam] });
    for (let round = 0; round < ROUNDS; round += 1) {
      const own = sampleProject({ organizationId: plan.organization.id, id: plan.team.id });
      await change(one, plan.organization.id, { projects: [own] });
      const overlap = { previousKeyHash: own.keyHash, previousKeyUntilMs: AT_MS + 60_000, previousKeyImported: false };
      const rotated = { ...own, ...overlap, keyHash: randomBytes(32) };
      const rival = sampleProject(otherTeam, { keyHash: own.keyHash });
      const version = await two.management.version(OTHERS);
      const [, outcome] = await Promise.all([
        change(one, plan.organization.id, { projects: [rotated] }),
        two.management.commit({ ...bare(OTHERS, version), projects: [rival] }),
      ]);
      expect(outcome).toBe('key_taken');
    }
  });

  it('stores one of two concurrent changes, and rules see it', async () => {
    const [one, two] = stores;
    const { id } = plan.organization;
    for (let round = 0; round < ROUNDS; round += 1) {
      const version = await two.management.version(id);
      const rivals = stores.map((store) => ({ store, member: sampleMember(id), key: sampleApiKey(id) }));
      const outcomes = await Promise.all(
        rivals.map(({ store, member, key }) =>
          store.management.commit({ ...bare(id, version), members: [member], apiKeys: [key] }),
        ),
      );
      expect(outcomes.toSorted()).toEqual(['stale', 'stored']);
      for (const { key } of rivals) {
        const [seenByOne, seenByTwo] = await Promise.all([one.keys.findApiKey(key.id), two.keys.findApiKey(key.id)]);
        expect(seenByOne).toEqual(seenByTwo);
      }
    }
    expect(await one.management.members(id)).toHaveLength(ROUNDS + 1);
  });

  it('claims an idempotency key once', async () => {
    const at = { nowMs: AT_MS, staleBeforeMs: AT_MS - 20_000, expiredBeforeMs: AT_MS - 86_400_000 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = {
        organizationId: plan.organization.id,
        keyId: plan.apiKey.id,
        operation: 'team.create',
        value: `round ${round}`,
      };
      const outcomes = await Promise.all(
        [...stores, ...stores].map((store) => store.management.claim(name, randomBytes(32), at)),
      );
      expect(outcomes.toSorted()).toEqual(['claimed', 'running', 'running', 'running']);
    }
  });
});
