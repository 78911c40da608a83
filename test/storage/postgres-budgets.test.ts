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

async function openAll() {
  const database = await createPostgresTestDatabase();
  const { url } = database;
  const options = { url, queueMaxBytes: 1024 * 1024, log: quietLog };
  const first = await openStore(options);
  const others = await Promise.all(Array.from({ length: PROCESSES - 1 }, () => openStore(options)));
  const stores = [first, ...others];
  const { organization, project } = await found(first);
  const projectNumber = (await first.keys.findProject(project.id))?.number ?? 0;
  return {
    ...{ url, first, stores, organization },
    /** Of successful requests, each with its virtual key and cost. */
    reportOf: (records: readonly (readonly [id: string, virtualKeyId: string, nanoUsd: number])[]) => ({
      ...reportOf(
        records.map(([gatewayRequestId, virtualKeyId, nanoUsd]) =>
          recordOf('success', {
            ...{ projectId: project.id, projectNumber, gatewayRequestId, content: { virtualKeyId } },
            cost: { nanoUsd, rateVersion: null },
          }),
        ),
      ),
      organizationId: organization.id,
    }),
    async close() {
      for (const store of stores) await store.close();
      await database.remove();
    },
  };
}

it('what several processes count at once adds up, and a change is seen by the next report on each', async () => {
  const { first, stores, organization, close, ...all } = await openAll();
  const budgets = ['vk_0', 'vk_1'].map((id) => sampleBudget(organization.id, { scope: { kind: 'virtual_key', id } }));
  const whole = sampleBudget(organization.id);
  await change(first, organization.id, { budgets: [...budgets, whole] });
  const costs = Array.from({ length: REPORTS }, (_, index) => 40_000 + index);
  const reports = costs.map((cost, index) =>
    all.reportOf([0, 1].map((part) => [`gw-${index}-${part}`, `vk_${(index + part) % 2}`, cost] as const)),
  );
  // Every report is sent by two processes.
  await Promise.all(
    reports.flatMap((report, index) =>
      [0, 1].map((copy) => stores[(index + copy) % PROCESSES]?.requests.report(report)),
    ),
  );
  const periods = [...budgets, whole].map(({ id }) => ({ budgetId: id, periodStartedAtMs: 0 }));
  const read = async () => (await first.budgets.sums(1, periods)).map(({ spentNanoUsd }) => spentNanoUsd);
  const total = BigInt(costs.reduce((sum, cost) => sum + cost, 0));
  expect(await read()).toEqual([total, total, 2n * total]);
  await change(first, organization.id, { budgets: [{ ...whole, archivedAtMs: AT_MS }] });
  for (const [index, store] of stores.entries())
    await store.requests.report(all.reportOf([[`late-${index}`, 'vk_0', 1]]));
  expect(await read()).toEqual([total + BigInt(PROCESSES), total, 2n * total]);
  await close();
});

it('a level that several processes reach together is told once, also by the first requests of a period', async () => {
  const { url, first, stores, organization, close, ...all } = await openAll();
  const keys = Array.from({ length: 30 }, (_, index) => `vk_${index}`);
  const budgets = keys.map((id) =>
    sampleBudget(organization.id, { scope: { kind: 'virtual_key', id }, limitNanoUsd: 1000 }),
  );
  await change(first, organization.id, { budgets });
  for (const key of keys) {
    await Promise.all(
      stores.map((store, index) => store.requests.report(all.reportOf([[`${key}-${index}`, key, 400]]))),
    );
  }
  const rows = await query(url, 'SELECT id FROM governance_events');
  const levels = ['breached', 'threshold_crossed'];
  const wanted = budgets.flatMap(({ id, scope }) => levels.map((level) => `${id}:${scope.id}:${level}:0`));
  expect(rows.map(({ id }) => id).toSorted()).toEqual(wanted.toSorted());
  await close();
});
