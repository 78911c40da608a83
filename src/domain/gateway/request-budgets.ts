/** Reserves what a request may cost in the budgets that it counts in, and concludes it with the request's admission. */

import type { Spender } from '../budgets/active-budgets.ts';
import { bucketName } from '../budgets/charges.ts';
import type { Prices } from '../pricing/prices.ts';
import type { PresentedKey } from '../virtual-keys/virtual-key.ts';
import { type BudgetDemand, bucketsAt, demandsOf } from './budget-demands.ts';
import type { ReadBody } from './dialects/dialect.ts';
import { dearestRates, estimateExpected, type RequestSize } from './estimate.ts';
import type { GatewaySetup } from './gateway-setup.ts';
import type { LeaseHolder, Reservation } from './lease-holder.ts';
import { type Target, vendorOfProvider } from './proxied-request.ts';
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

/** Reserves all that the request may cost with this provider. */
export async function reserveFor(
  holder: LeaseHolder,
  request: BudgetedRequest,
  target: Target,
): Promise<Reservation | GatewayRefusal> {
  const demands = demandsWith(request, target);
  return 'code' in demands ? demands : await holder.reserve(demands);
}

/** Reserves what the request may cost with the next provider beyond what is reserved for the first one. */
export async function reserveBeyond(
  holder: LeaseHolder,
  request: BudgetedRequest,
  { first, next }: { readonly first: Target; readonly next: Target },
): Promise<Reservation | GatewayRefusal> {
  const demands = demandsWith(request, next);
  if ('code' in demands) return demands;
  const before = demandsWith(request, first);
  const reserved = new Map(
    ('code' in before ? [] : before).map(({ bucket, nanoUsd, isLimited }) => [
      bucketName(bucket),
      isLimited ? nanoUsd : 0,
    ]),
  );
  return await holder.reserve(
    demands.flatMap((demand) => {
      const known = reserved.get(bucketName(demand.bucket));
      if (known === undefined) return [demand];
      const nanoUsd = demand.nanoUsd - known;
      return demand.isLimited && nanoUsd > 0 ? [{ ...demand, nanoUsd }] : [];
    }),
  );
}

function demandsWith(
  { presented, setup, prices, body, endUserId, medianOutputTokens, atMs }: BudgetedRequest,
  { provider, model }: Target,
): readonly BudgetDemand[] | GatewayRefusal {
  const spender = { ...spenderOf({ presented, endUserId }), modelProviderId: provider.id };
  const matched = setup.budgets.matching(spender);
  const match = matched.length === 0 ? null : prices.match(model, vendorOfProvider(provider), atMs);
  return demandsOf(
    {
      size: sizeOf(body),
      rates: match === null ? null : dearestRates([match]),
      medianOutputTokens,
      allowsUnpriced: presented.key.config.allowUnpriced,
    },
    bucketsAt(matched, { organizationNumber: presented.organization.number, atMs }),
  );
}
