/**
 * A proxy of the gateway without its network: it reserves, admits and completes requests as the proxy does, with a provider
 * that answers at once. It knows the true cost of every outcome, to compare it with what budgets say.
 */

import { compileBudgets } from '../../src/domain/budgets/active-budgets.ts';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import { Fault } from '../../src/domain/fault.ts';
import { bucketsAt, demandsOf } from '../../src/domain/gateway/budget-demands.ts';
import { dearestRates, estimateCost, estimateWorst, type RequestSize } from '../../src/domain/gateway/estimate.ts';
import { createLeaseHolder, type LeaseHolder } from '../../src/domain/gateway/lease-holder.ts';
import type { GatewayRefusal } from '../../src/domain/gateway/refusal.ts';
import type { Store } from '../../src/domain/store.ts';
import { pricing } from '../support/pricing.ts';
import { change, found } from './conformance/management-samples.ts';
import { BARE_CONTENT, recordOf } from './conformance/reports.ts';

export const PERIOD_MS = Date.parse('2026-01-01T00:00:00Z');
export const MODEL = 'gpt-4o-mini';
export const FREE_MODEL = 'meta-llama/llama-3.3-70b-instruct:free';
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

  return {
    holder,
    processId,
    /** Reserves and admits a request. */
    async admit({ id, model = MODEL, size = {}, endUserId = null, medianOutputTokens }: ProxyRequest): Promise<Sent> {
      const spender = { organizationId, projectId, teamId: null, virtualKeyId: 'vk_1', principalUserId: null };
      const matched = active.matching({ ...spender, endUserId, modelProviderId: null });
      const match = pricing.match(model, null, AT_MS);
      const demands = demandsOf(
        {
          size: { ...SIZE, ...size },
          rates: match === null ? null : dearestRates([match]),
          medianOutputTokens: medianOutputTokens ?? null,
          allowsUnpriced: false,
        },
        bucketsAt(matched, { organizationNumber, atMs: AT_MS }),
      );
      if ('code' in demands) return { kind: 'refused', refusal: demands };
      const reservation = await holder.reserve(demands);
      if ('code' in reservation) return { kind: 'refused', refusal: reservation };
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
