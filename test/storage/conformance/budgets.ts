import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../src/domain/budgets/budget.ts';
import type { RequestContent } from '../../../src/domain/events/request-content.ts';
import type { ReportedRequest } from '../../../src/domain/events/request-report.ts';
import type { Store } from '../../../src/domain/store.ts';
import { runsOf } from '../../support/scenario.ts';
import { AT_MS, change, found, foundAnother } from './management-samples.ts';
import { recordOf, reportOf } from './reports.ts';
import { randomHex, sampleAppend, sampleRequest, sampleSpan } from './samples.ts';
import { type OpenManagement, type OpenSubject, type Subject, withStore } from './subject.ts';

export function sampleBudget(organizationId: string, changes: Partial<Budget> = {}): Budget {
  return {
    organizationId,
    id: `budget_${randomHex(8)}`,
    name: "A budget's",
    scope: { kind: 'organization', id: organizationId },
    window: 'total',
    limitNanoUsd: 1_000_000_000,
    onBreach: 'block',
    providerId: null,
    reserve: 'expected',
    cycleAnchorAtMs: 0,
    resetAtMs: null,
    resetReason: null,
    archivedAtMs: null,
    createdAtMs: AT_MS,
    updatedAtMs: AT_MS,
    ...changes,
  };
}

export function budgetRecordConformance(open: OpenManagement): void {
  describe('the budgets of an organization', () => {
    it(
      'are read back whole, newest first, by scope and page, only by their organization',
      withStore(open, async (store, subject) => {
        const { organization } = await found(store);
        const others = await foundAnother(subject);
        const budgets = [
          sampleBudget(organization.id, { createdAtMs: AT_MS + 2, providerId: 'p', window: 'month', reserve: 'worst' }),
          sampleBudget(organization.id, {
            id: 'budget_b',
            scope: { kind: 'attributed_user', id: 'vk', of: 'virtual_key' },
          }),
          sampleBudget(organization.id, { id: 'budget_a', archivedAtMs: AT_MS, resetAtMs: 5, resetReason: '' }),
        ];
        await change(store, organization.id, { budgets: budgets.toReversed() });
        await change(store, others, { budgets: [sampleBudget(others, { id: 'budget_a' })] });
        const all = { after: null, limit: 10, scopeKind: null, scopeId: null, includeArchived: true };
        const list = (listing: object) => store.management.budgets(organization.id, { ...all, ...listing });
        expect(await list({})).toEqual(budgets);
        expect(await list({ includeArchived: false })).toEqual(budgets.slice(0, 2));
        expect(await list({ limit: 1, after: budgets[0] })).toEqual(budgets.slice(1, 2));
        expect(await list({ after: budgets[1] })).toEqual(budgets.slice(2));
        expect(await list({ scopeKind: 'attributed_user', scopeId: 'vk' })).toEqual(budgets.slice(1, 2));
        expect(await list({ scopeId: 'other' })).toEqual([]);
        expect(await store.management.budget(organization.id, 'budget_a')).toEqual(budgets[2]);
        expect(await store.management.budget(others, 'budget_b')).toBeNull();
        expect(await store.management.budgetIds(organization.id, ['budget_a', 'budget_unknown'])).toEqual(['budget_a']);
        expect(await store.management.budgetIds(others, ['budget_b'])).toEqual([]);
        expect(await store.management.countBudgets(organization.id)).toBe(2);
        const { version, budgets: active } = await store.management.activeBudgets(organization.id);
        expect(version).toBe(1);
        expect(active.map(({ id }) => id).toSorted()).toEqual([budgets[0]?.id, 'budget_b'].toSorted());
      }),
    );

    it(
      'change their version, and nothing else does',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const version = async () => (await store.management.activeBudgets(organization.id)).version;
        const budget = sampleBudget(organization.id);
        await change(store, organization.id, {});
        expect(await version()).toBe(0);
        await change(store, organization.id, { budgets: [budget] });
        await change(store, organization.id, { budgets: [{ ...budget, limitNanoUsd: 5, name: 'Other' }] });
        expect(await version()).toBe(2);
        expect(await store.management.budget(organization.id, budget.id)).toMatchObject({
          limitNanoUsd: 5,
          name: 'Other',
        });
        expect(await store.management.countBudgets(organization.id)).toBe(1);
      }),
    );
  });
}

type Owner = { readonly organizationId: string; readonly projectId: string; readonly projectNumber: number };
type Sent = Partial<RequestContent> & { readonly nanoUsd?: number };

/** An organization whose requests count, and what is read of its budgets. */
async function begin(store: Store, { read }: Subject) {
  const { organization, project, team } = await found(store);
  const projectNumber = (await store.keys.findProject(project.id))?.number ?? 0;
  const owner: Owner = { organizationId: organization.id, projectId: project.id, projectNumber };
  const record = (status: ReportedRequest['status'], id: string, { nanoUsd, ...content }: Sent) =>
    recordOf(status, {
      ...{ projectId: project.id, projectNumber, gatewayRequestId: id, content },
      cost: nanoUsd === undefined ? null : { nanoUsd, rateVersion: null },
    });
  return {
    owner,
    plan: { organization, project, team },
    record,
    send: (records: readonly ReportedRequest[], receivedAtMs = AT_MS) =>
      store.requests.report({ ...reportOf(records, receivedAtMs), organizationId: organization.id }),
    report: (status: ReportedRequest['status'], id: string, sent: Sent) =>
      store.requests.report({ ...reportOf([record(status, id, sent)]), organizationId: organization.id }),
    span: (id: string, costNanoUsd: number) =>
      store.traces.append(
        sampleAppend({
          ...owner,
          traceId: id,
          spans: [sampleSpan({ spanId: 'span', costNanoUsd, paramsJson: `{"gateway_request_id":"${id}"}` })],
          requests: [sampleRequest({ gatewayRequestId: id })],
        }),
      ),
    put: (...budgets: readonly Budget[]) => change(store, organization.id, { budgets }),
    async spent({ id }: Budget, periodStartedAtMs = 0) {
      const [sums] = await store.budgets.sums(1, [{ budgetId: id, periodStartedAtMs }]);
      return sums?.spentNanoUsd;
    },
    buckets: () => readBuckets(read),
    /** The events of budgets, as their ids without the budget's own. */
    async told() {
      const rows = await read('SELECT id FROM governance_events');
      return rows.map(({ id }) => String(id).split(':').slice(1).join(':')).toSorted();
    },
    recompute: () => recompute(read),
  };
}

type Amounts = { readonly spent: bigint; readonly leased: bigint };

async function readBuckets(read: Subject['read']): Promise<ReadonlyMap<string, Amounts>> {
  const rows = await read(
    `SELECT budget_id, cast(period_started_at AS text) AS started, subject,
       cast(spent_nano_usd AS text) AS spent, cast(leased_nano_usd AS text) AS leased FROM budget_buckets`,
  );
  return new Map(
    rows.map((row) => [
      JSON.stringify([row.budget_id, Number(row.started), row.subject]),
      { spent: BigInt(String(row.spent)), leased: BigInt(String(row.leased)) },
    ]),
  );
}

const ADMITTED = 2;

/** What the buckets must hold, by the rows of the requests. */
async function recompute(read: Subject['read']): Promise<ReadonlyMap<string, Amounts>> {
  const sums = new Map<string, Amounts>();
  for (const { state, charges } of await read('SELECT state, charges FROM requests WHERE charges IS NOT NULL')) {
    const { nanoUsd, buckets } = JSON.parse(String(charges));
    for (const bucket of buckets) {
      const { spent, leased } = sums.get(JSON.stringify(bucket)) ?? { spent: 0n, leased: 0n };
      const amount = BigInt(nanoUsd);
      const isLeased = state === ADMITTED;
      sums.set(JSON.stringify(bucket), {
        spent: isLeased ? spent : spent + amount,
        leased: isLeased ? leased + amount : leased,
      });
    }
  }
  return sums;
}

function withoutEmpty(amounts: ReadonlyMap<string, Amounts>) {
  return new Map([...amounts].filter(([, { spent, leased }]) => spent !== 0n || leased !== 0n).toSorted());
}

export function budgetCountingConformance(open: OpenSubject): void {
  describe('what is spent of budgets', () => {
    it(
      'MUST be the sum of what the requests of the organization count there, to the nano, also beyond what doubles hold',
      withStore(open, async (store, subject) => {
        const { put, report, send, record, spent, owner } = await begin(store, subject);
        const budget = sampleBudget(owner.organizationId);
        await put(budget);
        expect(await spent(budget)).toBe(0n);
        await report('success', 'a', { nanoUsd: 1 });
        await report('error', 'b', { nanoUsd: 9_007_199_254_740_991 });
        await send(['c', 'd', 'e'].map((id) => record('success', id, { nanoUsd: 9_007_199_254_740_991 })));
        expect(await spent(budget)).toBe(1n + 4n * 9_007_199_254_740_991n);
        await report('success', 'b', { nanoUsd: 7 });
        expect(await spent(budget)).toBe(8n + 3n * 9_007_199_254_740_991n);
      }),
    );

    it(
      'counts each scope by what the newest outcome says, and no request that only spans tell of',
      withStore(open, async (store, subject) => {
        const { put, report, span, spent, owner, plan } = await begin(store, subject);
        const { organizationId, projectId } = owner;
        const of = (scope: Budget['scope'], changes: Partial<Budget> = {}) =>
          sampleBudget(organizationId, { scope, ...changes });
        const budgets = {
          all: of({ kind: 'organization', id: organizationId }),
          team: of({ kind: 'team', id: plan.team.id }),
          otherTeam: of({ kind: 'team', id: 'team_other' }),
          project: of({ kind: 'project', id: projectId }),
          key: of({ kind: 'virtual_key', id: 'vk_1' }),
          provider: of({ kind: 'virtual_key', id: 'vk_1' }, { providerId: 'openai' }),
          principal: of({ kind: 'principal', id: 'ann' }),
          users: of({ kind: 'attributed_user', id: 'vk_1', of: 'virtual_key' }),
        };
        await put(...Object.values(budgets));
        await report('admitted', 'a', { virtualKeyId: 'vk_1', endUserId: 'eve' });
        await report('success', 'a', { modelProviderId: 'openai', principalUserId: 'ann', nanoUsd: 100 });
        await report('success', 'b', { virtualKeyId: 'vk_1', endUserId: 'tom', modelProviderId: 'x', nanoUsd: 20 });
        await report('success', 'c', { virtualKeyId: 'vk_1', nanoUsd: 3 });
        await span('d', 1000);
        const sums = Object.fromEntries(
          await Promise.all(Object.entries(budgets).map(async ([name, budget]) => [name, await spent(budget)])),
        );
        const all = 123n;
        expect(sums).toEqual({
          ...{ all, team: all, otherTeam: 0n, project: all, key: all },
          ...{ provider: 100n, principal: 100n, users: 120n },
        });
        const users = [...(await readBuckets(subject.read))].filter(([key]) => key.includes(budgets.users.id));
        expect(users.map(([key, { spent }]) => [JSON.parse(key)[2], spent]).toSorted()).toEqual([
          ['eve', 100n],
          ['tom', 20n],
        ]);
      }),
    );

    it(
      'moves by the difference when an outcome is corrected, and not when it is replayed',
      withStore(open, async (store, subject) => {
        const { put, report, spent, owner, recompute: expected, buckets } = await begin(store, subject);
        const [first, second] = ['vk_1', 'vk_2'].map((id) =>
          sampleBudget(owner.organizationId, { scope: { kind: 'virtual_key', id } }),
        );
        if (first === undefined || second === undefined) throw new Error('two budgets are made');
        await put(first, second);
        for (let time = 0; time < 2; time += 1) await report('error', 'a', { virtualKeyId: 'vk_1', nanoUsd: 50 });
        expect(await spent(first)).toBe(50n);
        for (let time = 0; time < 2; time += 1) await report('success', 'a', { virtualKeyId: 'vk_2', nanoUsd: 70 });
        expect([await spent(first), await spent(second)]).toEqual([0n, 70n]);
        await report('error', 'a', { virtualKeyId: 'vk_1', nanoUsd: 9 });
        expect([await spent(first), await spent(second)]).toEqual([0n, 70n]);
        expect(withoutEmpty(await buckets())).toEqual(withoutEmpty(await expected()));
      }),
    );

    it(
      'follows the span that brought the outcome of an admitted request',
      withStore(open, async (store, subject) => {
        const { put, report, span, spent, owner } = await begin(store, subject);
        const budget = sampleBudget(owner.organizationId);
        await put(budget);
        await report('admitted', 'a', {});
        await span('a', 500);
        expect(await spent(budget)).toBe(500n);
        await span('a', 300);
        expect(await spent(budget)).toBe(300n);
      }),
    );

    it(
      'counts in the period that let the request through, and a reset begins another one and deletes nothing',
      withStore(open, async (store, subject) => {
        const { put, report, spent, owner } = await begin(store, subject);
        const minute = 60_000;
        const budget = sampleBudget(owner.organizationId, { window: 'minute', cycleAnchorAtMs: AT_MS });
        await put(budget);
        await report('admitted', 'a', { occurredAtMs: AT_MS + minute - 1 });
        await report('success', 'a', { occurredAtMs: AT_MS + minute, nanoUsd: 1 });
        await report('success', 'b', { occurredAtMs: AT_MS + minute, nanoUsd: 20 });
        expect([await spent(budget, AT_MS), await spent(budget, AT_MS + minute)]).toEqual([1n, 20n]);
        const resetAtMs = AT_MS + minute + 10;
        await put({ ...budget, resetAtMs });
        await report('success', 'c', { occurredAtMs: resetAtMs - 1, nanoUsd: 300 });
        await report('success', 'd', { occurredAtMs: resetAtMs, nanoUsd: 4000 });
        await report('success', 'e', { occurredAtMs: AT_MS + 2 * minute, nanoUsd: 50_000 });
        const starts = [AT_MS, AT_MS + minute, resetAtMs, AT_MS + 2 * minute];
        expect(await Promise.all(starts.map((at) => spent(budget, at)))).toEqual([1n, 320n, 4000n, 50_000n]);
      }),
    );

    it(
      'stays with an archived budget, which counts nothing new, and a new one counts nothing old',
      withStore(open, async (store, subject) => {
        const { put, report, spent, owner } = await begin(store, subject);
        const old = sampleBudget(owner.organizationId);
        await put(old);
        await report('error', 'a', { nanoUsd: 10 });
        const young = sampleBudget(owner.organizationId, { createdAtMs: AT_MS + 1 });
        await put({ ...old, archivedAtMs: AT_MS + 1 }, young);
        await report('success', 'b', { nanoUsd: 500 });
        await report('success', 'a', { nanoUsd: 7 });
        expect([await spent(old), await spent(young)]).toEqual([7n, 500n]);
      }),
    );

    it(
      'takes the estimate of an admission out of the leases, counts it when the request is settled, and the cost after it',
      withStore(open, async (store, subject) => {
        const { put, report, owner, buckets } = await begin(store, subject);
        const budget = sampleBudget(owner.organizationId);
        await put(budget);
        const key = JSON.stringify([budget.id, 0, '']);
        const charges = JSON.stringify({ nanoUsd: 100, buckets: [[budget.id, 0, '']] });
        for (const id of ['a', 'b']) await report('admitted', id, {});
        await subject.execute(`UPDATE requests SET charges = '${charges}'`);
        await subject.execute(
          `INSERT INTO budget_buckets (organization_number, budget_id, period_started_at, subject, period_ends_at,
             spent_nano_usd, leased_nano_usd, marks) VALUES (1, '${budget.id}', 0, '', NULL, 0, 250, 0)`,
        );
        await report('success', 'a', { nanoUsd: 30 });
        expect((await buckets()).get(key)).toEqual({ spent: 30n, leased: 150n });
        await store.requests.settle({ kind: 'settlement', admittedByMs: AT_MS, countMax: 10 });
        expect((await buckets()).get(key)).toEqual({ spent: 130n, leased: 50n });
        for (let time = 0; time < 2; time += 1) await report('success', 'b', { nanoUsd: 45 });
        expect((await buckets()).get(key)).toEqual({ spent: 75n, leased: 50n });
      }),
    );

    it(
      'MUST tell of 80 % and of the whole limit once in a period, whatever is corrected, replayed or set lower later',
      withStore(open, async (store, subject) => {
        const { put, report, told, owner } = await begin(store, subject);
        const scope = { kind: 'virtual_key', id: 'vk_1' } as const;
        const budget = sampleBudget(owner.organizationId, { scope, limitNanoUsd: 1000, window: 'day' });
        await put(budget);
        const day = 86_400_000;
        const start = Math.floor(AT_MS / day) * day;
        const spend = (id: string, nanoUsd: number, status: 'success' | 'error' = 'success', occurredAtMs = start) =>
          report(status, id, { virtualKeyId: 'vk_1', nanoUsd, occurredAtMs });
        await spend('a', 799);
        expect(await told()).toEqual([]);
        await spend('b', 1, 'error');
        const threshold = `vk_1:threshold_crossed:${start}`;
        const breached = `vk_1:breached:${start}`;
        expect(await told()).toEqual([threshold]);
        await spend('b', 0);
        await spend('c', 1);
        expect(await told()).toEqual([threshold]);
        await put({ ...budget, limitNanoUsd: 500 });
        expect(await told()).toEqual([threshold]);
        await spend('d', 1);
        await spend('e', 1);
        await spend('e', 1);
        expect(await told()).toEqual([breached, threshold]);
        const next = start + day;
        await spend('f', 5000, 'success', next);
        expect(await told()).toEqual(
          [breached, threshold, `vk_1:breached:${next}`, `vk_1:threshold_crossed:${next}`].toSorted(),
        );
      }),
    );

    it(
      'MUST equal a recomputation from the requests and their events after any reports, corrections, settlements and resets',
      withStore(open, async (store, subject) => {
        const { put, send, record, span, owner, buckets, recompute: expected } = await begin(store, subject);
        const { organizationId } = owner;
        const keyed = ['vk_1', 'vk_2'].map((id) =>
          sampleBudget(organizationId, { scope: { kind: 'virtual_key', id } }),
        );
        const budgets = [
          ...keyed,
          sampleBudget(organizationId, { window: 'minute' }),
          sampleBudget(organizationId, {
            scope: { kind: 'principal', id: 'ann' },
            providerId: 'openai',
            window: 'hour',
          }),
          sampleBudget(organizationId, { scope: { kind: 'attributed_user', id: owner.projectId, of: 'project' } }),
        ];
        await put(...budgets);
        const some = <T>(...values: readonly T[]) => fc.constantFrom(...values);
        const sent = fc.record({
          status: some<ReportedRequest['status']>('admitted', 'success', 'error'),
          id: some('a', 'b', 'c', 'd', 'e', 'f'),
          virtualKeyId: some('', 'vk_1', 'vk_2'),
          principalUserId: some(null, 'ann', 'bob'),
          endUserId: some(null, 'eve', 'tom'),
          modelProviderId: some(null, 'openai'),
          occurredAtMs: fc.integer({ min: AT_MS - 200_000, max: AT_MS }),
          nanoUsd: fc.integer({ min: 0, max: 5_000_000 }),
        });
        let round = 0;
        let resets = 0;
        /** Those that a gateway told of first: all others are requests of spans. */
        const reported = new Map<string, boolean>();
        const note = (id: string, isReport: boolean) => reported.has(id) || reported.set(id, isReport);
        const step = fc.oneof(
          { weight: 6, arbitrary: fc.array(sent, { minLength: 1, maxLength: 5 }).map((records) => ({ records })) },
          { weight: 2, arbitrary: fc.record({ span: some('a', 'b', 's'), cost: fc.integer({ min: 0, max: 999 }) }) },
          { weight: 1, arbitrary: some('settle' as const, 'reset' as const) },
        );
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
            round += 1;
            for (const each of steps) {
              if (each === 'settle') {
                await store.requests.settle({ kind: 'settlement', admittedByMs: AT_MS, countMax: 500 });
              } else if (each === 'reset') {
                resets += 1;
                await put(...budgets.map((budget) => ({ ...budget, resetAtMs: AT_MS - 200_000 + resets * 1000 })));
              } else if ('span' in each) {
                note(`${each.span}-${round}`, false);
                await span(`${each.span}-${round}`, each.cost);
              } else {
                for (const { id } of each.records) note(`${id}-${round}`, true);
                await send(each.records.map(({ status, id, ...rest }) => record(status, `${id}-${round}`, rest)));
              }
            }
            expect(withoutEmpty(await buckets())).toEqual(withoutEmpty(await expected()));
            const isReported = ({ gateway_request_id: id }: Data) => reported.get(id) === true;
            const events = (await readNewest(store, organizationId)).filter(isReported);
            expect(await spentOf(subject.read, budgets)).toEqual(budgets.map((budget) => spentBy(budget, events)));
          }),
          { numRuns: runsOf(100) },
        );
      }),
    );
  });
}

/** Of all periods together, by the buckets. */
async function spentOf(read: Subject['read'], budgets: readonly Budget[]): Promise<readonly bigint[]> {
  const buckets = [...(await readBuckets(read))];
  return budgets.map(({ id }) =>
    buckets.filter(([key]) => JSON.parse(key)[0] === id).reduce((sum, [, { spent }]) => sum + spent, 0n),
  );
}

/** The newest event of each request that has an outcome. */
async function readNewest(store: Store, organizationId: string): Promise<readonly Data[]> {
  const organization = { id: organizationId, number: 1 };
  const range = { organization, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null, limit: 100_000 };
  const newest = new Map<string, Data>();
  const rank = (id: string) => Number(/completed:(\d+)$/.exec(id)?.[1] ?? 1);
  for (const { id, envelope } of await store.events.list(range)) {
    const data: Data = JSON.parse(envelope).data;
    const known = newest.get(data.gateway_request_id);
    if (data.status === 'settled') continue;
    if (known === undefined || rank(known.event_id) < rank(id)) newest.set(data.gateway_request_id, data);
  }
  return [...newest.values()];
}

type Data = {
  readonly event_id: string;
  readonly gateway_request_id: string;
  readonly status: string;
  readonly virtual_key_id: string;
  readonly project_id: string;
  readonly principal_user_id: string | null;
  readonly end_user_id: string | null;
  readonly model_provider_id: string | null;
  readonly cost: { readonly nano_usd: number } | null;
};

function spentBy(budget: Budget, events: readonly Data[]): bigint {
  return events
    .filter((data) => isCounted(budget, data))
    .reduce((sum, { cost }) => sum + BigInt(cost?.nano_usd ?? 0), 0n);
}

function isCounted({ scope, providerId }: Budget, data: Data): boolean {
  if (providerId !== null && data.model_provider_id !== providerId) return false;
  switch (scope.kind) {
    case 'virtual_key':
      return data.virtual_key_id === scope.id;
    case 'principal':
      return data.principal_user_id === scope.id;
    case 'attributed_user':
      return data.project_id === scope.id && data.end_user_id !== null;
    default:
      return true;
  }
}
