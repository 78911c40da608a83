/**
 * A proxy of the gateway without its network: it reserves, admits and completes requests as the proxy does, with a provider
 * that answers at once. It knows the true cost of every outcome, to compare it with what budgets say.
 */

import { compileBudgets } from '../../src/domain/budgets/active-budgets.ts';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import { Fault } from '../../src/domain/fault.ts';
import { bucketsAt, demandsOf } from '../../src/domain/gateway/budget-demands.ts';
import { dearestRates, estimateCost, estimateWorst, type RequestSize } from '../../src/domain/gateway/estimate.ts';
import { createLeaseHolder, type LeaseHolder, type Reservation } from '../../src/domain/gateway/lease-holder.ts';
import type { GatewayRefusal } from '../../src/domain/gateway/refusal.ts';
import type { Store } from '../../src/domain/store.ts';
import { pricing } from '../support/pricing.ts';
import { drawSeed, seeded } from '../support/scenario.ts';
import { change, found } from './conformance/management-samples.ts';
import { BARE_CONTENT, recordOf } from './conformance/reports.ts';

export const PERIOD_MS = Date.parse('2026-01-01T00:00:00Z');
export const MODEL = 'gpt-4o-mini';
export const FREE_MODEL = 'meta-llama/llama-3.3-70b-instruct:free';
const CLIENTS = 200;
const AT_MS = Date.parse('2026-11-01T12:00:00Z');

export type Tenant = Awaited<ReturnType<typeof foundTenant>>;

/** An organization whose requests count in the given budgets. */
export async function foundTenant(store: Store, limits: readonly Partial<Budget>[]) {
  const { organization, project, apiKey } = await found(store);
  const { number: organizationNumber } = (await store.keys.findApiKey(apiKey.id))?.organization ?? { number: 0 };
  const projectNumber = (await store.keys.findProject(project.id))?.number ?? 0;
  const budgets = limits.map((of, index) => budgetOf(organization.id, { id: `budget_${index + 1}`, ...of }));
  await change(store, organization.id, { budgets });
  return { organizationId: organization.id, organizationNumber, projectId: project.id, projectNumber, budgets };
}

function budgetOf(organizationId: string, of: Partial<Budget>): Budget {
  return {
    organizationId,
    id: 'budget_1',
    name: 'Budget',
    scope: { kind: 'organization', id: organizationId },
    window: 'total',
    cycleAnchorAtMs: PERIOD_MS,
    resetAtMs: null,
    resetReason: null,
    limitNanoUsd: 1_000_000_000,
    onBreach: 'block',
    providerId: null,
    reserve: 'worst',
    archivedAtMs: null,
    createdAtMs: PERIOD_MS,
    updatedAtMs: PERIOD_MS,
    ...of,
  };
}

export type ProxyRequest = {
  readonly id: string;
  readonly model?: string;
  readonly size?: Partial<RequestSize>;
  readonly endUserId?: string | null;
  readonly medianOutputTokens?: number;
};

export type Sent =
  | { readonly kind: 'refused'; readonly refusal: GatewayRefusal }
  /** The admission did not commit: the caller gets 503. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'admitted'; readonly estimates: readonly number[] };

export type SimulatedProxy = ReturnType<typeof createProxy>;

export function createProxy(store: Store, tenant: Tenant, processId: string) {
  const { budgets, ...ids } = tenant;
  const { organizationId, organizationNumber, projectId, projectNumber } = ids;
  const active = compileBudgets(budgets, 1);
  const holder: LeaseHolder = createLeaseHolder({ store: store.leases, processId, nowMs: () => performance.now() });

  async function tryToReserve(request: ProxyRequest): Promise<Reservation | GatewayRefusal> {
    const { model = MODEL, size = {}, endUserId = null, medianOutputTokens = null } = request;
    const spender = { organizationId, projectId, teamId: null, virtualKeyId: 'vk_1', principalUserId: null };
    const matched = active.matching({ ...spender, endUserId, modelProviderId: null });
    const match = pricing.match(model, null, AT_MS);
    const rates = match === null ? null : dearestRates([match]);
    const demands = demandsOf(
      { size: { ...SIZE, ...size }, rates, medianOutputTokens, allowsUnpriced: false },
      bucketsAt(matched, { organizationNumber, atMs: AT_MS }),
    );
    return 'code' in demands ? demands : await holder.reserve(demands);
  }

  return {
    holder,
    /** Throws where it is refused. */
    async reserve(request: ProxyRequest): Promise<Reservation> {
      const reservation = await tryToReserve(request);
      if ('code' in reservation) throw new Error(`refused: ${reservation.code}`);
      return reservation;
    },
    /** Reserves and admits a request. */
    async admit(request: ProxyRequest): Promise<Sent> {
      const reservation = await tryToReserve(request);
      if ('code' in reservation) return { kind: 'refused', refusal: reservation };
      const { id, model = MODEL, endUserId = null } = request;
      try {
        const admitted = await store.requests.admit({
          kind: 'admission',
          ...ids,
          gatewayRequestId: id,
          receivedAtMs: Date.now(),
          content: { ...BARE_CONTENT, occurredAtMs: AT_MS, model, virtualKeyId: 'vk_1', endUserId },
          ...reservation,
        });
        holder.conclude(reservation, admitted);
        if (admitted === 'lost') return { kind: 'failed' };
      } catch (error) {
        holder.conclude(reservation, 'unknown');
        if (error instanceof Fault) return { kind: 'failed' };
        throw error;
      }
      return { kind: 'admitted', estimates: reservation.amounts.map(({ nanoUsd }) => nanoUsd) };
    },
    /** Stores the outcome of an admitted request. */
    async complete(id: string, costNanoUsd: number, status: 'success' | 'error' = 'success'): Promise<void> {
      const cost = { nanoUsd: costNanoUsd, rateVersion: null };
      const record = recordOf(status, { projectId, projectNumber, gatewayRequestId: id, cost });
      const own = { organizationId, organizationNumber, receivedAtMs: Date.now() };
      await store.requests.report({ kind: 'requests', ...own, records: [record] });
    },
  };
}

const SIZE: RequestSize = {
  textBytes: 2000,
  arrayTokens: 0,
  textTokens: null,
  choices: 1,
  outputTokensMax: 1000,
  modelOutputTokensMax: null,
  unboundedParams: [],
};

/** What a request reserves in a budget that reserves the worst: at the dearest tier of the price list. */
export function worstEstimateOf(size: Partial<RequestSize> = {}): number {
  const [worst, match] = [estimateWorst({ ...SIZE, ...size }), pricing.match(MODEL, null, AT_MS)];
  if ('unboundedParam' in worst || match === null) throw new Error('this request is bounded and has a price');
  return estimateCost(worst, dearestRates([match]));
}

/** The largest cost that a request can have: what its provider bills at most. */
export function worstCostOf(size: Partial<RequestSize> = {}, model = MODEL): number {
  const worst = estimateWorst({ ...SIZE, ...size });
  if ('unboundedParam' in worst) throw new Error('this request is bounded');
  const { costNanoUsd } = pricing.price({
    ...{ model, vendor: null, startedAtMs: AT_MS, explicitCostUsd: null, cachedTokensInPrompt: null },
    ...{ resultCostUsd: null, spanRates: null, details: null },
    tokens: { prompt: worst.input, completion: worst.output, reasoning: null, cacheRead: null, cacheCreation: null },
  });
  return costNanoUsd ?? 0;
}

/** What a budget has spent and leased in its period, of all subjects. */
export async function sumsOf(store: Store, { organizationNumber }: Tenant, budgetId = 'budget_1') {
  const [sums] = await store.budgets.sums(organizationNumber, [{ budgetId, periodStartedAtMs: PERIOD_MS }]);
  return { spent: Number(sums?.spentNanoUsd), leased: Number(sums?.leasedNanoUsd) };
}

type Burst = { readonly costOf: (random: () => number) => number };

/** Every client sends until the budget is spent. */
export async function burst(proxies: readonly SimulatedProxy[], { costOf }: Burst) {
  const random = seeded(drawSeed());
  const refusals = new Set<string>();
  let [sent, failed, costNanoUsd] = [0, 0, 0];
  /** By how much the requests in flight cost more than they have reserved, and the most of that at one time. */
  let [excessNanoUsd, lastExcessNanoUsd] = [0, 0];

  async function client(proxy: SimulatedProxy): Promise<void> {
    for (let reserved = 0; reserved < 20; ) {
      sent += 1;
      const id = `gwreq_${sent}`;
      const result: Sent = await proxy.admit({ id });
      if (result.kind === 'failed') {
        failed += 1;
        return;
      }
      if (result.kind === 'refused') {
        refusals.add(result.refusal.code);
        if (result.refusal.code !== 'budget_reserved') return;
        reserved += 1;
        await nextTurn();
        continue;
      }
      const cost = costOf(random);
      const excess = Math.max(0, cost - (result.estimates[0] ?? 0));
      excessNanoUsd += excess;
      lastExcessNanoUsd = Math.max(lastExcessNanoUsd, excessNanoUsd);
      await nextTurn();
      await proxy.complete(id, cost);
      excessNanoUsd -= excess;
      costNanoUsd += cost;
    }
  }

  await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => client(proxies[index % proxies.length] as SimulatedProxy)),
  );
  for (const { holder } of proxies) await holder.close();
  return { refusals, failed, costNanoUsd, lastExcessNanoUsd };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
