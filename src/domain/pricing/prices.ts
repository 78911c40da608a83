/** Prices models for one organization: by its overrides, then by the price list. */

import type { Organization } from '../caller.ts';
import type { ManagementStore } from '../management/management.ts';
import type { RunCooperatively, Steps } from '../steps.ts';
import { compileOverrides, NO_OVERRIDES, type OverrideSet, ratesOf } from './override.ts';
import { loadPatternEngine } from './patterns.ts';
import type { Measured, Price, PriceMatch, PriceQuery, Pricing } from './pricing.ts';
import type { UsageFacts } from './share-rates.ts';

export type Prices = {
  price(query: PriceQuery): Price;
  /** What shares need of the span that the query priced. */
  measure(query: PriceQuery, span: Measured): UsageFacts;
  /** The rates of a name at an instant; null: the price is unknown. */
  match(model: string, vendor: string | null, atMs: number): PriceMatch | null;
  /** The version of the price list. */
  readonly rateVersion: string;
};

/** An organization, as authentication read it for this request. */
type Priced = Pick<Organization, 'id' | 'priceVersion'>;

export type PriceResolver = {
  /** The prices of the list, without those of any organization. */
  readonly listed: Prices;
  /**
   * The prices of an organization as they were stored when its request began, or later. `models` are the models to
   * price: where patterns make the lookup slow, it runs here first, with pauses for other requests.
   */
  of(organization: Priced, models: () => Iterable<string>): Promise<Prices>;
};

type PriceResolverDeps = {
  readonly pricing: Pricing;
  readonly store: Pick<ManagementStore, 'priceOverrides'>;
  readonly runCooperatively: RunCooperatively;
};

/** Organizations whose overrides are kept in memory. */
const KEPT_MAX = 100;

type Kept = { readonly version: number; readonly overrides: Promise<OverrideSet> };

export function createPriceResolver(deps: PriceResolverDeps): PriceResolver {
  const listed = toPrices(deps.pricing, NO_OVERRIDES);
  const kept = new Map<string, Kept>();

  function overridesOf({ id, priceVersion: version }: Priced): Promise<OverrideSet> {
    const known = kept.get(id);
    kept.delete(id);
    // Any other version reloads: a restored database counts on from a smaller number.
    const current = known?.version === version ? known : { version, overrides: readOverrides(deps.store, id) };
    kept.set(id, current);
    current.overrides.catch(() => {
      if (kept.get(id) === current) kept.delete(id);
    });
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    return current.overrides;
  }

  return {
    listed,
    async of(organization, models) {
      if (organization.priceVersion === 0) return listed;
      const overrides = await overridesOf(organization);
      if (overrides.cacheMatches !== null)
        await deps.runCooperatively(cacheAllMatches(overrides.cacheMatches, models()));
      return toPrices(deps.pricing, overrides);
    },
  };
}

async function readOverrides(store: PriceResolverDeps['store'], organizationId: string): Promise<OverrideSet> {
  const stored = await store.priceOverrides(organizationId);
  const engine = stored.some(({ match }) => match === 'regex') ? await loadPatternEngine() : null;
  return compileOverrides(stored, engine?.compile ?? null);
}

/** Looks names up before their spans are priced. A cached name takes no time. */
function* cacheAllMatches(
  cacheMatches: NonNullable<OverrideSet['cacheMatches']>,
  models: Iterable<string>,
): Steps<void> {
  for (const model of models) yield* cacheMatches(model);
}

function toPrices(pricing: Pricing, overrides: OverrideSet): Prices {
  return {
    rateVersion: pricing.rateVersion,
    price: (query) => pricing.price(query, overrides),
    measure: (query, span) => pricing.measure(query, span, overrides),
    match(model, vendor, atMs) {
      const found = overrides.find(model, atMs);
      if (found === null) return pricing.match(model, vendor, atMs);
      const { override, matchedForm } = found;
      const rates = { ...ratesOf(override), tiers: [] };
      return { source: 'override', provider: null, id: override.id, matchedForm, rates, services: [] };
    },
  };
}
