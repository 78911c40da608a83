import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../src/domain/budgets/budget.ts';
import type { ReportedRequest } from '../../../src/domain/events/request-report.ts';
import type { Admission } from '../../../src/domain/gateway/admission.ts';
import type { LeaseAsk, LeaseKey } from '../../../src/domain/gateway/lease-store.ts';
import type { RateSliceAsk } from '../../../src/domain/gateway/rate-limits.ts';
import type { Store } from '../../../src/domain/store.ts';
import { AT_MS, change, found } from './management-samples.ts';
import { BARE_CONTENT, recordOf } from './reports.ts';
import { RECEIVED_AT_MS } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const LIMIT = 1000;
const PERIOD_MS = Date.parse('2026-01-01T00:00:00Z');
// Budgets count what comes after they were made.
const MADE_AT_MS = PERIOD_MS;

type Ledger = Awaited<ReturnType<typeof openLedger>>;

/** An organization with two budgets of its own. */
async function openLedger(store: Store) {
  const { organization, project, apiKey } = await found(store);
  const { number: organizationNumber } = (await store.keys.findApiKey(apiKey.id))?.organization ?? { number: 0 };
  const projectNumber = (await store.keys.findProject(project.id))?.number ?? 0;
  const budgets = ['budget_1', 'budget_2'].map((id) => sampleBudget(organization.id, { id }));
  await change(store, organization.id, { budgets });

  const keyOf = (of: Partial<LeaseKey> = {}): LeaseKey => ({
    organizationNumber,
    budgetId: 'budget_1',
    subject: '',
    periodStartedAtMs: PERIOD_MS,
    processId: 'process_1',
    fence: 1,
    ...of,
  });
  const request = { projectId: project.id, projectNumber, gatewayRequestId: 'gwreq_1' };
  return {
    organization,
    budgets,
    keyOf,
    askOf: (wantedNanoUsd: number, of: Partial<LeaseAsk> = {}): LeaseAsk => ({
      ...keyOf(),
      organizationId: organization.id,
      periodEndsAtMs: null,
      wantedNanoUsd,
      atLeastNanoUsd: wantedNanoUsd,
      onlyIfLeasedNanoUsd: null,
      ...of,
    }),
    admissionOf: (nanoUsd: number, of: Partial<Admission> = {}): Admission => ({
      kind: 'admission',
      organizationId: organization.id,
      organizationNumber,
      ...request,
      receivedAtMs: RECEIVED_AT_MS,
      content: BARE_CONTENT,
      processId: 'process_1',
      amounts: [{ budgetId: 'budget_1', subject: '', periodStartedAtMs: PERIOD_MS, nanoUsd, fence: 1 }],
      ...of,
    }),
    async report(status: ReportedRequest['status'], nanoUsd: number | null, of: Partial<ReportedRequest> = {}) {
      const cost = nanoUsd === null ? null : { nanoUsd, rateVersion: null };
      const records = [recordOf(status, { ...request, cost, ...of })];
      const own = { organizationId: organization.id, organizationNumber, receivedAtMs: RECEIVED_AT_MS };
      await store.requests.report({ kind: 'requests', ...own, records });
    },
    settle: () => store.requests.settle({ kind: 'settlement', admittedByMs: RECEIVED_AT_MS, countMax: 500 }),
    async amounts(budgetId = 'budget_1') {
      const [sums] = await store.budgets.sums(organizationNumber, [{ budgetId, periodStartedAtMs: PERIOD_MS }]);
      return { spent: Number(sums?.spentNanoUsd), leased: Number(sums?.leasedNanoUsd) };
    },
  };
}

function sampleBudget(organizationId: string, changes: Partial<Budget> = {}): Budget {
  return {
    organizationId,
    id: 'budget_1',
    name: 'Budget',
    scope: { kind: 'organization', id: organizationId },
    window: 'total',
    cycleAnchorAtMs: PERIOD_MS,
    resetAtMs: null,
    resetReason: null,
    limitNanoUsd: LIMIT,
    onBreach: 'block',
    providerId: null,
    reserve: 'expected',
    archivedAtMs: null,
    createdAtMs: MADE_AT_MS,
    updatedAtMs: MADE_AT_MS,
    ...changes,
  };
}

function withLedger(open: OpenSubject, body: (store: Store, ledger: Ledger) => Promise<void>) {
  return withStore(open, async (store) => body(store, await openLedger(store)));
}

export function leaseConformance(open: OpenSubject): void {
  describe('a grant of a lease', () => {
    it(
      'MUST never make spent and leased together larger than the limit, also while others ask',
      withLedger(open, async ({ leases }, { keyOf, askOf, report, amounts }) => {
        await report('success', 300);
        const asks = Array.from({ length: 40 }, (_, index) =>
          askOf(90, { ...keyOf({ processId: `process_${index % 3}`, fence: index }), atLeastNanoUsd: 20 }),
        );
        const grants = await Promise.all(asks.map(leases.grant));
        expect(grants.reduce((sum, grant) => sum + (grant?.grantedNanoUsd ?? 0), 0)).toBe(700);
        expect(await amounts()).toEqual({ spent: 300, leased: 700 });
        expect(await leases.grant(askOf(1))).toEqual({
          grantedNanoUsd: 0,
          heldNanoUsd: expect.any(Number),
          leftNanoUsd: 700,
          leasedNanoUsd: 700,
        });
      }),
    );

    it(
      'MUST grant all that was wanted, or all that is free if that is enough; else nothing',
      withLedger(open, async ({ leases }, { askOf, amounts }) => {
        expect(await leases.grant(askOf(600))).toMatchObject({ grantedNanoUsd: 600, heldNanoUsd: 600 });
        expect(await leases.grant(askOf(500, { atLeastNanoUsd: 401 }))).toMatchObject({ grantedNanoUsd: 0 });
        expect(await leases.grant(askOf(500, { atLeastNanoUsd: 400 }))).toMatchObject({
          grantedNanoUsd: 400,
          heldNanoUsd: 1000,
        });
        expect(await amounts()).toEqual({ spent: 0, leased: 1000 });
      }),
    );

    it(
      'is given only while the bucket has leased what the process expects, where it asks for that',
      withLedger(open, async ({ leases }, { keyOf, askOf }) => {
        expect(await leases.grant(askOf(10, { onlyIfLeasedNanoUsd: 1 }))).toMatchObject({ grantedNanoUsd: 0 });
        expect(await leases.grant(askOf(10, { onlyIfLeasedNanoUsd: 0 }))).toMatchObject({ grantedNanoUsd: 10 });
        const other = askOf(990, { ...keyOf({ processId: 'process_2' }), onlyIfLeasedNanoUsd: 0 });
        expect(await leases.grant(other)).toMatchObject({ grantedNanoUsd: 0 });
      }),
    );

    it(
      'says null for a budget that is archived or unknown',
      withLedger(open, async (store, { organization, budgets, askOf }) => {
        await change(store, organization.id, { budgets: budgets.map((each) => ({ ...each, archivedAtMs: AT_MS })) });
        expect(await store.leases.grant(askOf(1))).toBeNull();
        expect(await store.leases.grant(askOf(1, { budgetId: 'budget_9' }))).toBeNull();
      }),
    );

    it(
      'gives nothing of a budget whose limit was lowered below what is spent',
      withLedger(open, async (store, { organization, budgets, askOf, report, amounts }) => {
        await report('success', 900);
        await change(store, organization.id, { budgets: budgets.map((each) => ({ ...each, limitNanoUsd: 500 })) });
        expect(await store.leases.grant(askOf(1))).toMatchObject({ grantedNanoUsd: 0, leftNanoUsd: -400 });
        expect(await amounts()).toEqual({ spent: 900, leased: 0 });
      }),
    );
  });

  describe('leases', () => {
    it(
      'MUST be renewed by their process, which MUST be told exactly those that it still has',
      withLedger(open, async (store, { organization, budgets, keyOf, askOf }) => {
        await store.leases.grant(askOf(10));
        await store.leases.grant(askOf(10, keyOf({ fence: 2, budgetId: 'budget_2' })));
        await store.leases.grant(askOf(10, keyOf({ processId: 'process_2' })));
        const renewed = await store.leases.renew('process_1');
        expect(renewed.toSorted((one, other) => one.fence - other.fence)).toEqual([
          { ...keyOf(), isOverdrawn: false },
          { ...keyOf({ fence: 2, budgetId: 'budget_2' }), isOverdrawn: false },
        ]);
        await change(store, organization.id, { budgets: budgets.map((each) => ({ ...each, limitNanoUsd: 15 })) });
        const overdrawn = await store.leases.renew('process_1');
        expect(overdrawn.filter(({ isOverdrawn }) => isOverdrawn)).toEqual([{ ...keyOf(), isOverdrawn: true }]);
        expect(await store.leases.renew('process_3')).toEqual([]);
      }),
    );

    it(
      'MUST leave what they held free when they end, once',
      withLedger(open, async ({ leases }, { keyOf, askOf, amounts }) => {
        const other = keyOf({ processId: 'process_2' });
        await leases.grant(askOf(100));
        await leases.grant(askOf(50, other));
        await Promise.all([leases.giveBack([keyOf()]), leases.giveBack([other, keyOf()])]);
        await leases.giveBack([keyOf(), other]);
        expect(await amounts()).toEqual({ spent: 0, leased: 0 });
        expect(await leases.renew('process_1')).toEqual([]);
      }),
    );

    it(
      'MUST be taken back when they were not renewed, and what admitted requests have reserved MUST stay leased',
      withLedger(open, async ({ leases, requests }, { keyOf, askOf, admissionOf, report, amounts }) => {
        await leases.grant(askOf(100));
        await leases.grant(askOf(50, keyOf({ processId: 'process_2' })));
        expect(await requests.admit(admissionOf(30))).toBe('admitted');
        expect(await leases.takeBack(60_000)).toBe(0);
        expect(await leases.takeBack(-60_000)).toBe(2);
        expect(await amounts()).toEqual({ spent: 0, leased: 30 });
        expect(await leases.renew('process_1')).toEqual([]);
        await report('success', 20);
        expect(await amounts()).toEqual({ spent: 20, leased: 0 });
      }),
    );
  });

  admissionConformance(open);
  rateConformance(open);
}

function admissionConformance(open: OpenSubject): void {
  describe('an admission', () => {
    it(
      'MUST take its amounts out of the leases, and its outcome MUST replace what it has reserved by the cost',
      withLedger(open, async ({ leases, requests }, { keyOf, askOf, admissionOf, report, amounts }) => {
        await leases.grant(askOf(100));
        expect(await requests.admit(admissionOf(60))).toBe('admitted');
        expect(await amounts()).toEqual({ spent: 0, leased: 100 });
        await report('success', 25);
        expect(await amounts()).toEqual({ spent: 25, leased: 40 });
        await leases.giveBack([keyOf()]);
        expect(await amounts()).toEqual({ spent: 25, leased: 0 });
      }),
    );

    it(
      'MUST store nothing where a lease is not the own one any more or holds less',
      withLedger(open, async ({ leases, requests }, { keyOf, askOf, admissionOf, amounts }) => {
        await leases.grant(askOf(100));
        const second = { budgetId: 'budget_2', subject: '', periodStartedAtMs: PERIOD_MS, nanoUsd: 1, fence: 1 };
        const lost = [
          admissionOf(101),
          admissionOf(10, { processId: 'process_2' }),
          admissionOf(10, { amounts: [...admissionOf(10).amounts, second] }),
          admissionOf(10, { amounts: admissionOf(10).amounts.map((each) => ({ ...each, fence: 2 })) }),
        ];
        for (const admission of lost) expect(await requests.admit(admission)).toBe('lost');
        expect(await requests.oldestAdmittedAtMs()).toBeNull();
        await leases.giveBack([keyOf()]);
        expect(await requests.admit(admissionOf(10))).toBe('lost');
        expect(await amounts()).toEqual({ spent: 0, leased: 0 });
      }),
    );

    it(
      'takes no more than a lease holds when many arrive together',
      withLedger(open, async ({ leases, requests }, { askOf, admissionOf, amounts }) => {
        await leases.grant(askOf(100));
        const admissions = Array.from({ length: 30 }, (_, index) =>
          requests.admit(admissionOf(7, { gatewayRequestId: `gwreq_${index}` })),
        );
        const results = await Promise.all(admissions);
        expect(results.filter((result) => result === 'admitted')).toHaveLength(14);
        expect(await amounts()).toEqual({ spent: 0, leased: 100 });
      }),
    );

    it(
      'MUST change nothing when it is sent again',
      withLedger(open, async ({ leases, requests }, { keyOf, askOf, admissionOf, report, amounts }) => {
        await leases.grant(askOf(100));
        for (let attempt = 0; attempt < 3; attempt += 1) expect(await requests.admit(admissionOf(60))).toBe('admitted');
        await report('error', 5);
        expect(await requests.admit(admissionOf(60))).toBe('admitted');
        await leases.giveBack([keyOf()]);
        expect(await amounts()).toEqual({ spent: 5, leased: 0 });
      }),
    );

    it(
      'reserves another amount in each bucket, also where no lease limits it',
      withLedger(open, async ({ leases, requests }, { askOf, admissionOf, report, amounts }) => {
        await leases.grant(askOf(100));
        const own = { subject: '', periodStartedAtMs: PERIOD_MS };
        const reserving = [
          { ...own, budgetId: 'budget_1', nanoUsd: 60, fence: 1 },
          { ...own, budgetId: 'budget_2', nanoUsd: 9, fence: null },
        ];
        await requests.admit(admissionOf(0, { amounts: reserving }));
        expect(await amounts('budget_2')).toEqual({ spent: 0, leased: 9 });
        await report('success', 25);
        expect(await amounts()).toEqual({ spent: 25, leased: 40 });
        expect(await amounts('budget_2')).toEqual({ spent: 25, leased: 0 });
      }),
    );

    it(
      'whose process renews it MUST NOT be settled before the whole grace period is over',
      withLedger(open, async ({ leases, requests }, { keyOf, askOf, admissionOf, report, settle, amounts }) => {
        await leases.grant(askOf(100));
        const { projectId, projectNumber, organizationNumber, gatewayRequestId } = admissionOf(1);
        const others = { projectId, projectNumber, gatewayRequestId: 'gwreq_2' };
        await requests.admit(admissionOf(60));
        await requests.admit(admissionOf(10, others));
        const renewal = { kind: 'renewal', organizationNumber, receivedAtMs: RECEIVED_AT_MS + 1 } as const;
        const own = { projectId, projectNumber, gatewayRequestId };
        expect(await requests.renew({ ...renewal, requests: [own] })).toEqual([true]);
        expect(await settle()).toMatchObject({ count: 1 });
        expect(await amounts()).toEqual({ spent: 10, leased: 90 });
        await report('success', 5);
        expect(await requests.renew({ ...renewal, requests: [own, others] })).toEqual([false, false]);
        await leases.giveBack([keyOf()]);
        expect(await amounts()).toEqual({ spent: 15, leased: 0 });
      }),
    );

    it(
      'that is settled MUST count what it has reserved as spent, until an outcome replaces it',
      withLedger(open, async ({ leases, requests }, { askOf, admissionOf, report, settle, amounts }) => {
        await leases.grant(askOf(100));
        const [first] = admissionOf(60).amounts;
        if (first === undefined) throw new Error('it reserves in no bucket');
        const second = { ...first, budgetId: 'budget_2', nanoUsd: 9, fence: null };
        await requests.admit(admissionOf(60, { amounts: [first, second] }));
        expect(await settle()).toMatchObject({ count: 1 });
        expect(await amounts()).toEqual({ spent: 60, leased: 40 });
        expect(await amounts('budget_2')).toEqual({ spent: 9, leased: 0 });
        await report('success', 70);
        expect(await amounts()).toEqual({ spent: 70, leased: 40 });
        expect(await amounts('budget_2')).toEqual({ spent: 70, leased: 0 });
      }),
    );
  });
}

function rateConformance(open: OpenSubject): void {
  const WEEK_MS = 604_800_000;
  const askOf = (wanted: number, of: Partial<RateSliceAsk> = {}): RateSliceAsk => ({
    organizationNumber: 1,
    virtualKeyId: 'vk_1',
    dimension: 'rpd',
    limit: 100,
    windowMs: WEEK_MS,
    wanted,
    atLeast: wanted,
    ...of,
  });

  describe('a slice of a rate limit', () => {
    it(
      'MUST be all that was wanted, or all that is there if that is enough; else nothing',
      withStore(open, async ({ leases }) => {
        expect((await leases.takeSlice(askOf(60))).granted).toBe(60);
        const short = await leases.takeSlice(askOf(60));
        expect(short.granted).toBe(0);
        expect(Math.floor(short.available)).toBe(40);
        expect((await leases.takeSlice(askOf(60, { atLeast: 5 }))).granted).toBe(40);
        expect((await leases.takeSlice(askOf(1, { dimension: 'tpm' }))).granted).toBe(1);
        expect((await leases.takeSlice(askOf(100, { virtualKeyId: 'vk_2' }))).granted).toBe(100);
      }),
    );

    it(
      'MUST come out of a bucket that is full at its first use and fills by the clock of the database',
      withStore(open, async ({ leases }) => {
        const asks = Array.from({ length: 30 }, () => leases.takeSlice(askOf(7)));
        const granted = (await Promise.all(asks)).reduce((sum, slice) => sum + slice.granted, 0);
        expect(granted).toBe(98);
        const fast = { dimension: 'tpm', limit: 1_000_000, windowMs: 1000 } as const;
        expect((await leases.takeSlice(askOf(1_000_000, fast))).granted).toBe(1_000_000);
        await expect
          .poll(async () => (await leases.takeSlice(askOf(1000, fast))).granted, { timeout: 10_000 })
          .toBe(1000);
      }),
    );
  });
}
