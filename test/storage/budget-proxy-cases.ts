/** What budgets hold against, with a simulated proxy on real stores. */

import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { drawSeed, isFullTier, seeded } from '../support/scenario.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { quietLog } from './quiet-log.ts';
import {
  burst,
  createProxy,
  FREE_MODEL,
  foundTenant,
  type SimulatedProxy,
  sumsOf,
  type Tenant,
  worstCostOf,
  worstEstimateOf,
} from './simulated-proxy.ts';

// In the thread of the test SQLite opens sooner.
const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog, writer: 'here' } as const;
const USD = 1_000_000_000;
const KILLS = isFullTier ? 100 : 8;

/** `countStores`: as many as can open the database at once. */
export function budgetProxyCases(create: () => Promise<TestDatabase>, countStores: 1 | 2): void {
  type Opened = {
    readonly database: TestDatabase;
    readonly stores: Store[];
    readonly store: Store;
    readonly tenant: Tenant;
  };

  function withBudgets(limits: readonly Partial<Budget>[], body: (opened: Opened) => Promise<void>) {
    return async () => {
      const database = await create();
      const stores: Store[] = [];
      for (let index = 0; index < countStores; index += 1)
        stores.push(await openStore({ url: database.url, ...options }));
      const [store] = stores;
      if (store === undefined) throw new Error('no store is open');
      try {
        await body({ database, stores, store, tenant: await foundTenant(store, limits) });
      } finally {
        await Promise.all(stores.map((each) => each.close()));
        await database.remove();
      }
    };
  }

  /** Two processes, each on its own store where the database has several. */
  const startTwo = ({ stores, store, tenant }: Opened): readonly [SimulatedProxy, SimulatedProxy] => [
    createProxy(store, tenant, 'process_1'),
    createProxy(stores[1] ?? store, tenant, 'process_2'),
  ];

  describe('budgets that hold', () => {
    it(
      'a concurrent burst of 200 clients on two processes never spends more than a budget that reserves the worst',
      withBudgets(
        [{ limitNanoUsd: USD }, { limitNanoUsd: 40 * USD, reserve: 'expected', onBreach: 'warn' }],
        async (opened) => {
          const { store, tenant } = opened;
          const proxies = startTwo(opened);
          const ended = await burst(proxies, { costOf: (random) => Math.ceil(worstCostOf() * (0.5 + random() / 2)) });
          const { spent, leased } = await sumsOf(store, tenant);
          expect(spent).toBeLessThanOrEqual(USD);
          // Nothing is left that one more request could use.
          expect(spent).toBeGreaterThan(USD * 0.9);
          expect(leased).toBe(0);
          expect(spent).toBe(ended.costNanoUsd);
          expect(await sumsOf(store, tenant, 'budget_2')).toEqual({ spent: ended.costNanoUsd, leased: 0 });
          expect([...ended.refusals].filter((code) => !/^budget_(exceeded|reserved)$/.test(code))).toEqual([]);
          expect(ended.failed).toBe(0);
        },
      ),
      120_000,
    );

    it(
      'with `expected` such a burst exceeds the budget by no more than the excess of the requests in flight',
      withBudgets([{ limitNanoUsd: USD / 10, reserve: 'expected' }], async (opened) => {
        const proxies = startTwo(opened);
        const ended = await burst(proxies, { costOf: (random) => Math.ceil(worstCostOf() * random()) });
        const { spent, leased } = await sumsOf(opened.store, opened.tenant);
        expect(spent).toBe(ended.costNanoUsd);
        expect(spent).toBeLessThanOrEqual(USD / 10 + ended.lastExcessNanoUsd);
        expect(leased).toBe(0);
        expect(ended.failed).toBe(0);
      }),
      120_000,
    );

    it(
      'an unknown price lets no request pass',
      withBudgets([{}], async (opened) => {
        const [proxy] = startTwo(opened);
        expect(await proxy.admit({ id: 'gwreq_1', model: 'a-model-of-nobody' })).toMatchObject({
          refusal: { code: 'budget_exceeded', httpStatus: 402, reason: 'price_unknown' },
        });
      }),
    );

    it(
      'a store that is down lets no request pass, once the lease is empty',
      withBudgets([{}], async (opened) => {
        const [proxy] = startTwo(opened);
        expect(await proxy.admit({ id: 'gwreq_1' })).toMatchObject({ kind: 'admitted' });
        await Promise.all(opened.stores.map((each) => each.close()));
        // From memory it would pass, but its admission cannot be stored.
        expect(await proxy.admit({ id: 'gwreq_2' })).toEqual({ kind: 'failed' });
        expect(await proxy.admit({ id: 'gwreq_3' })).toMatchObject({
          refusal: { code: 'unavailable', httpStatus: 503, retryAfterSeconds: 1 },
        });
      }),
    );

    it(
      'a large max_tokens does not block a key that spent nothing',
      withBudgets([{ limitNanoUsd: USD / 100, reserve: 'expected' }], async (opened) => {
        const [proxy] = startTwo(opened);
        const size = { outputTokensMax: 10_000_000 };
        expect(worstCostOf(size)).toBeGreaterThan(USD);
        expect(await proxy.admit({ id: 'gwreq_1', size })).toMatchObject({ kind: 'admitted' });
        // Even a model whose answers are long: then the request gets all that is left.
        await proxy.complete('gwreq_1', 100);
        expect(await proxy.admit({ id: 'gwreq_2', size, medianOutputTokens: 1_000_000 })).toMatchObject({
          kind: 'admitted',
          estimates: [USD / 100 - 100],
        });
      }),
    );

    it(
      'counts are not lost at a restart',
      withBudgets([{ limitNanoUsd: USD / 100 }], async (opened) => {
        const [proxy] = startTwo(opened);
        expect(await proxy.admit({ id: 'gwreq_1' })).toMatchObject({ kind: 'admitted' });
        await proxy.complete('gwreq_1', USD / 100);
        await Promise.all(opened.stores.map((each) => each.close()));
        const reopened = await openStore({ url: opened.database.url, ...options });
        try {
          const restarted = createProxy(reopened, opened.tenant, 'process_3');
          expect(await restarted.admit({ id: 'gwreq_2' })).toMatchObject({
            refusal: { code: 'budget_exceeded', reason: 'spent' },
          });
        } finally {
          await reopened.close();
        }
      }),
    );

    it(
      'a new end user does not skip the check',
      withBudgets([{ limitNanoUsd: worstEstimateOf() + 10, ...OF_END_USERS }], async (opened) => {
        const [proxy] = startTwo(opened);
        const size = { outputTokensMax: 2000 };
        expect(await proxy.admit({ id: 'gwreq_1', endUserId: 'new', size })).toMatchObject({
          refusal: { code: 'budget_exceeded', reason: 'estimate_exceeds_budget' },
        });
        expect(await proxy.admit({ id: 'gwreq_2', endUserId: 'new' })).toMatchObject({ kind: 'admitted' });
        expect(await proxy.admit({ id: 'gwreq_3', endUserId: 'new' })).toMatchObject({
          refusal: { code: 'budget_reserved', httpStatus: 429 },
        });
        expect(await proxy.admit({ id: 'gwreq_4', endUserId: 'another' })).toMatchObject({ kind: 'admitted' });
      }),
    );

    it(
      'a zero-cost model is not blocked by a budget that is spent',
      withBudgets([{ limitNanoUsd: USD / 100 }], async (opened) => {
        const [proxy] = startTwo(opened);
        await proxy.admit({ id: 'gwreq_1' });
        await proxy.complete('gwreq_1', USD / 100);
        expect(await proxy.admit({ id: 'gwreq_2' })).toMatchObject({ refusal: { code: 'budget_exceeded' } });
        expect(await proxy.admit({ id: 'gwreq_3', model: FREE_MODEL })).toMatchObject({ kind: 'admitted' });
        await proxy.complete('gwreq_3', 0);
        expect(await sumsOf(opened.store, opened.tenant)).toMatchObject({ spent: USD / 100 });
      }),
    );

    it.each(STEPS)('a process that is killed after %s leaves what its request counts, and no lease', async (last) => {
      await withBudgets([{ limitNanoUsd: USD / 100 }], async ({ store, tenant }) => {
        const [cost, corrected] = [1000, 3000];
        const killed = createProxy(store, tenant, 'process_1');
        const request = { id: 'gwreq_1' };
        const steps: Readonly<Record<Step, () => Promise<unknown>>> = {
          'a grant': async () => killed.holder.conclude(await killed.reserve(request), 'unknown'),
          'a reservation': () => killed.reserve(request),
          'an admission': () => killed.admit(request),
          'an outcome': () => killed.complete('gwreq_1', cost, 'error'),
          'a correction': () => killed.complete('gwreq_1', corrected),
          'giving back': () => killed.holder.close(),
        };
        for (const step of STEPS) {
          await steps[step]();
          const { spent, leased } = await sumsOf(store, tenant);
          expect(spent + leased).toBeLessThanOrEqual(USD / 100);
          if (step === last) break;
        }
        await store.leases.takeBack(-60_000);
        await store.requests.settle({ kind: 'settlement', admittedByMs: Date.now() + 1, countMax: 10 });
        const counted = { 'an admission': worstEstimateOf(), 'an outcome': cost, 'a correction': corrected };
        const spent = { ...counted, 'giving back': corrected, 'a grant': 0, 'a reservation': 0 }[last];
        expect(await sumsOf(store, tenant)).toEqual({ spent, leased: 0 });
        // The outcome of the request may still come, by another process.
        if (last === 'an admission') await createProxy(store, tenant, 'process_2').complete('gwreq_1', cost);
        expect((await sumsOf(store, tenant)).spent).toBe(last === 'an admission' ? cost : spent);
      })();
    });

    it(
      `after ${KILLS} kills each admitted request has one outcome or is settled, and no lease is left`,
      withBudgets([{ limitNanoUsd: USD }, { limitNanoUsd: 50 * USD, reserve: 'expected' }], async (opened) => {
        const { store, tenant } = opened;
        const seed = drawSeed();
        const random = seeded(seed);
        const spent = [0, 0];
        let last = 0;
        for (let kill = 0; kill < KILLS; kill += 1) {
          const proxy = createProxy(store, tenant, `process_${kill}`);
          await Promise.all(
            Array.from({ length: 20 }, async () => {
              last += 1;
              const id = `gwreq_${last}`;
              const sent = await proxy.admit({ id });
              if (sent.kind !== 'admitted') return;
              const cost = Math.ceil(worstCostOf() * random());
              // The process is killed before some outcomes, and some are stored twice.
              const isKilled = random() < 0.4;
              if (!isKilled) await proxy.complete(id, cost);
              if (!isKilled && random() < 0.2) await proxy.complete(id, cost + 1);
              for (const [index, estimate] of sent.estimates.entries()) {
                spent[index] = (spent[index] ?? 0) + (isKilled ? estimate : cost);
              }
            }),
          );
        }
        await store.leases.takeBack(-60_000);
        const settlement = { kind: 'settlement', admittedByMs: Date.now() + 1, countMax: 5000 } as const;
        await store.requests.settle(settlement);
        expect((await store.requests.settle(settlement)).count, `seed ${seed}`).toBe(0);
        expect(await sumsOf(store, tenant), `seed ${seed}`).toEqual({ spent: spent[0], leased: 0 });
        expect(await sumsOf(store, tenant, 'budget_2'), `seed ${seed}`).toEqual({ spent: spent[1], leased: 0 });
      }),
      120_000,
    );
  });
}

const STEPS = ['a grant', 'a reservation', 'an admission', 'an outcome', 'a correction', 'giving back'] as const;
type Step = (typeof STEPS)[number];

const OF_END_USERS: Partial<Budget> = { scope: { kind: 'attributed_user', id: 'vk_1', of: 'virtual_key' } };
