/** Reserves what a request may cost in the budgets that it counts in, and concludes it with the request's admission. */

import type { Spender } from '../budgets/active-budgets.ts';
import type { Prices } from '../pricing/prices.ts';
import type { PresentedKey } from '../virtual-keys/virtual-key.ts';
import { bucketsAt, demandsOf } from './budget-demands.ts';
import type { ReadBody } from './dialects/dialect.ts';
import { dearestRates, estimateExpected, type RequestSize } from './estimate.ts';
import type { GatewaySetup } from './gateway-setup.ts';
import type { LeaseHolder, Reservation } from './lease-holder.ts';
import { type Target, vendorOf } from './proxied-request.ts';
import type { GatewayRefusal } from './refusal.ts';

/** A request that is about to be sent to a provider. */
export type BudgetedRequest = {
  readonly presented: PresentedKey;
  readonly setup: GatewaySetup;
  readonly prices: Prices;
  readonly body: ReadBody;
  readonly endUserId: string | null;
  readonly medianOutputTokens: number | null;
  readonly atMs: number;
};

export function spenderOf({ presented, endUserId }: Pick<BudgetedRequest, 'presented' | 'endUserId'>): Spender {
  const { key, project, organization } = presented;
  return {
    organizationId: organization.id,
    projectId: project.id,
    teamId: project.teamId,
    virtualKeyId: key.id,
    principalUserId: key.principalUserId,
    endUserId,
    modelProviderId: null,
  };
}

/** Whether a budget for each end user counts the request, whichever provider it is sent to. */
export function needsEndUser({ budgets }: GatewaySetup, spender: Spender, providerIds: readonly string[]): boolean {
  return providerIds.some((modelProviderId) => budgets.needsEndUser({ ...spender, modelProviderId }));
}

export function sizeOf({ size }: ReadBody): RequestSize {
  return { ...size, textTokens: null, modelOutputTokensMax: null };
}

/** The tokens that a request counts in rate limits until its usage is known. */
export function expectedTokens(body: ReadBody, medianOutputTokens: number | null): number {
  const { input, output } = estimateExpected(sizeOf(body), medianOutputTokens);
  return input + output;
}

/**
 * Reserves all that the request may cost with this provider, in all budgets but those of `reservedIds`, where it has reserved
 * that already.
 */
export async function reserveFor(
  holder: LeaseHolder,
  { presented, setup, prices, body, endUserId, medianOutputTokens, atMs }: BudgetedRequest,
  { provider, model, reservedIds = [] }: Target & { readonly reservedIds?: readonly string[] },
): Promise<Reservation | GatewayRefusal> {
  const spender = { ...spenderOf({ presented, endUserId }), modelProviderId: provider.id };
  const matched = setup.budgets.matching(spender).filter(({ budget }) => !reservedIds.includes(budget.id));
  const match = matched.length === 0 ? null : prices.match(model, vendorOf(provider.kind), atMs);
  const demands = demandsOf(
    {
      size: sizeOf(body),
      rates: match === null ? null : dearestRates([match]),
      medianOutputTokens,
      allowsUnpriced: presented.key.config.allowUnpriced,
    },
    bucketsAt(matched, { organizationNumber: presented.organization.number, atMs }),
  );
  return 'code' in demands ? demands : await holder.reserve(demands);
}
