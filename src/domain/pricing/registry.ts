/** The price list, as the rules use it and as it is stored. */

import type { MatchLogic } from '@pydantic/genai-prices';
import { type Clause, compileClause, listLiterals } from './clauses.ts';
import { isFineTune } from './name-forms.ts';
import { completeRates, type ListedRates, type RateBand, type ServiceRate, type TokenRates } from './rates.ts';

/** When a set applies: always, from an instant on, or in a UTC time-of-day window `[startMs, endMs)`. */
export type PriceCondition =
  | { readonly kind: 'always' }
  | { readonly kind: 'from'; readonly startMs: number }
  | { readonly kind: 'daily'; readonly startMs: number; readonly endMs: number };

/** `base` applies below all tiers, which ascend by `aboveTokens`. */
export type PriceSet = {
  readonly condition: PriceCondition;
  readonly base: TokenRates;
  readonly tiers: readonly RateBand[];
};

/** One priced model of one provider. The last set that applies is used. */
export type PriceRow = {
  readonly provider: string;
  readonly id: string;
  readonly sets: readonly PriceSet[];
  /** The service tiers with other rates. */
  readonly services: readonly ServiceRate[];
};

/** A model as the package lists it; `row` is null when it is not charged by the token. */
export type ListedModel = {
  readonly row: PriceRow | null;
  readonly matches: Clause;
  /** It is listed as a fine-tune, not as the model that one is made of. */
  readonly isFineTune: boolean;
};

/** A provider, with the clauses that match its vendor names and models. */
export type PriceProvider = {
  readonly id: string;
  /** Providers whose models it also serves. */
  readonly fallbacks: readonly string[];
  readonly matchesVendor: Clause | null;
  readonly matchesModel: Clause | null;
  /** In the order of the package: the first that matches a name wins. */
  readonly models: readonly ListedModel[];
};

/**
 * The price list. `rows` has, by exact lower-case name, at most one row of each provider; `providers` has, in the
 * order of the package, the clauses for names that are not listed.
 */
export type PriceRegistry = {
  readonly version: string;
  readonly releasedOn: string;
  readonly rows: ReadonlyMap<string, readonly PriceRow[]>;
  readonly providers: ReadonlyMap<string, PriceProvider>;
};

/** A price list as plain JSON. */
export type PackedPriceRegistry = {
  readonly version: string;
  readonly releasedOn: string;
  readonly providers: readonly {
    readonly id: string;
    readonly fallbacks: readonly string[];
    readonly vendorMatch: MatchLogic | null;
    readonly modelMatch: MatchLogic | null;
    readonly models: readonly PackedModel[];
  }[];
};

export type PackedModel = {
  readonly id: string;
  readonly match: MatchLogic;
  /** Null: not charged by the token. */
  readonly sets: readonly PackedSet[] | null;
  readonly services?: readonly ServiceRate[];
};

export type PackedSet = {
  readonly condition: PriceCondition;
  readonly base: ListedRates;
  readonly tiers: readonly (ListedRates & Pick<RateBand, 'aboveTokens'>)[];
};

/** Builds the tables for looking up names. */
export function unpackPriceRegistry({ version, releasedOn, providers }: PackedPriceRegistry): PriceRegistry {
  const rows = new Map<string, PriceRow[]>();
  const unpacked = new Map<string, PriceProvider>();
  for (const provider of providers) {
    const models = provider.models.map((model) => ({ row: unpackRow(provider.id, model), match: model.match }));
    for (const [name, row] of listProviderNames(models)) {
      const sameName = rows.get(name);
      if (sameName === undefined) rows.set(name, [row]);
      else sameName.push(row);
    }
    unpacked.set(provider.id, {
      id: provider.id,
      fallbacks: provider.fallbacks,
      matchesVendor: provider.vendorMatch && compileClause(provider.vendorMatch),
      matchesModel: provider.modelMatch && compileClause(provider.modelMatch),
      models: models.map(({ row, match }) => ({
        row,
        matches: compileClause(match),
        isFineTune: [row?.id ?? '', ...listLiterals(match)].some(isFineTune),
      })),
    });
  }
  return { version, releasedOn, rows, providers: unpacked };
}

function listProviderNames(
  models: readonly { readonly row: PriceRow | null; readonly match: MatchLogic }[],
): ReadonlyMap<string, PriceRow> {
  const names = new Map<string, PriceRow>();
  // All ids come before the first alias, because an id outranks another model's alias of the same spelling.
  for (const { row } of models) if (row !== null) addName(names, row.id, row);
  for (const { row, match } of models) {
    if (row !== null) for (const alias of listLiterals(match)) addName(names, alias, row);
  }
  return names;
}

function addName(names: Map<string, PriceRow>, name: string, row: PriceRow): void {
  const key = name.toLowerCase();
  if (!names.has(key)) names.set(key, row);
}

function unpackRow(provider: string, { id, sets, services = [] }: PackedModel): PriceRow | null {
  if (sets === null) return null;
  const unpacked = sets.map(({ condition, base, tiers }) => ({
    condition,
    base: completeRates(base),
    tiers: tiers.map((band) => ({ aboveTokens: band.aboveTokens, ...completeRates(band) })),
  }));
  return { provider, id, sets: unpacked, services };
}
