import { expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { sampleBudget } from './conformance/budgets.ts';
import { AT_MS, change, found } from './conformance/management-samples.ts';
import { recordOf, reportOf } from './conformance/reports.ts';
import { quietLog } from './quiet-log.ts';

const PROCESSES = 3;
const REPORTS = 60;

it('what several processes count at once adds up, and each level is told once', async () => {
  const database = await createPostgresTestDatabase();
  const { url } = database;
  const stores = await Promise.all(
    Array.from({ length: PROCESSES }, () => openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog })),
  );
  const [first] = stores;
  if (first === undefined) throw new Error('a store is opened');
  const { organization, project } = await found(first);
  const projectNumber = (await first.keys.findProject(project.id))?.number ?? 0;
  const budgets = ['vk_0', 'vk_1'].map((id) =>
    sampleBudget(organization.id, { scope: { kind: 'virtual_key', id }, limitNanoUsd: 1_000_000 }),
  );
  const whole = sampleBudget(organization.id, { limitNanoUsd: 1_000_000 });
  await change(first, organization.id, { budgets: [...budgets, whole] });
  const costs = Array.from({ length: REPORTS }, (_, index) => 40_000 + index);
  const reports = costs.map((nanoUsd, index) => ({
    ...reportOf(
      (['error', 'success'] as const).map((status, part) =>
        recordOf(status, {
          ...{ projectId: project.id, projectNumber, gatewayRequestId: `gw-${index}-${part}` },
          content: { virtualKeyId: `vk_${(index + part) % 2}` },
          cost: { nanoUsd, rateVersion: null },
        }),
      ),
    ),
    organizationId: organization.id,
  }));
  // Every report is sent by two processes.
  await Promise.all(
    reports.flatMap((report, index) =>
      [0, 1].map((copy) => stores[(index + copy) % PROCESSES]?.requests.report(report)),
    ),
  );
  const periods = [...budgets, whole].map(({ id }) => ({ budgetId: id, periodStartedAtMs: 0 }));
  const sums = await first.budgets.sums(1, periods);
  const total = BigInt(costs.reduce((sum, cost) => sum + cost, 0));
  expect(sums.map(({ spentNanoUsd }) => spentNanoUsd)).toEqual([total, total, 2n * total]);
  const rows = await query(url, 'SELECT id FROM governance_events');
  expect(rows).toHaveLength(2 * periods.length);
  // A change is seen by the next report on every process.
  await change(first, organization.id, { budgets: [{ ...whole, archivedAtMs: AT_MS }] });
  for (const [index, store] of stores.entries()) {
    const record = recordOf('success', {
      ...{ projectId: project.id, projectNumber, gatewayRequestId: `late-${index}` },
      cost: { nanoUsd: 1, rateVersion: null },
    });
    await store.requests.report({ ...reportOf([record]), organizationId: organization.id });
  }
  expect((await first.budgets.sums(1, periods))[2]?.spentNanoUsd).toBe(2n * total);
  for (const store of stores) await store.close();
  await database.remove();
});
