import type { ConditionalPrice, MatchLogic, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { scaleDecimal } from './money.ts';

/** Whole pico-USD per token. The largest published rate is far below 2^53, so plain numbers are exact. */
export type TokenRates = {
  readonly inputPicoUsd: number;
  readonly outputPicoUsd: number;
  readonly cacheReadPicoUsd: number;
  readonly cacheWritePicoUsd: number;
};

/** The rates of every token of a span whose total input is greater than `aboveTokens`. */
export type RateBand = TokenRates & { readonly aboveTokens: number };

/** When a set applies: always, from an instant on, or in a UTC time-of-day window `[startMs, endMs)`. */
type PriceCondition =
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
export type PriceRow = { readonly provider: string; readonly id: string; readonly sets: readonly PriceSet[] };

/** A model as the package lists it; `row` is null when it is not charged by the token. */
export type ListedModel = { readonly row: PriceRow | null; readonly matches: Clause };

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

const millisecondsPerDay = 86_400_000;
const rateDigits = 6;

/** A price list as plain JSON. */
export type PackedPriceRegistry = ReturnType<typeof packPriceRegistry>;

/** Turns a provider list into a price list. Throws on an unknown price condition, rather than misprice by it. */
export function packPriceRegistry(
  release: { readonly version: string; readonly releasedOn: string },
  providers: readonly Provider[],
) {
  return {
    ...release,
    providers: providers.map((provider) => ({
      id: provider.id,
      fallbacks: provider.fallback_model_providers ?? [],
      vendorMatch: provider.provider_match ?? null,
      modelMatch: provider.model_match ?? null,
      models: provider.models.map((model) => ({ id: model.id, match: model.match, sets: readSets(model) })),
    })),
  };
}

/** Builds the tables for looking up names. */
export function unpackPriceRegistry({ version, releasedOn, providers }: PackedPriceRegistry): PriceRegistry {
  const rows = new Map<string, PriceRow[]>();
  const unpacked = new Map<string, PriceProvider>();
  for (const provider of providers) {
    const models = provider.models.map(({ id, match, sets }) => ({
      row: sets === null ? null : { provider: provider.id, id, sets },
      match,
    }));
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
      models: models.map(({ row, match }) => ({ row, matches: compileClause(match) })),
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

/** Null: not charged by the token. */
function readSets(model: ModelInfo): readonly PriceSet[] | null {
  const priced: readonly ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  // Without a rate a model is either declared free or charged by something other than tokens.
  if (!priced.some(({ prices }) => hasTokenRate(prices)) && !model.id.toLowerCase().endsWith(':free')) return null;
  return priced.map(({ prices, constraint }) => ({ condition: readCondition(constraint), ...readRates(prices) }));
}

function hasTokenRate(prices: ModelPrice): boolean {
  return ratesIn(prices).some((rate) => rate !== undefined);
}

function ratesIn(prices: ModelPrice) {
  return [prices.input_mtok, prices.output_mtok, prices.cache_read_mtok, prices.cache_write_mtok];
}

function readRates(prices: ModelPrice): Pick<PriceSet, 'base' | 'tiers'> {
  const starts = new Set<number>();
  for (const rate of ratesIn(prices)) {
    if (typeof rate === 'object') for (const tier of rate.tiers) starts.add(tier.start);
  }
  // Each rate has its own steps, so the start of any step opens a band that states all four rates.
  const tiers = [...starts]
    .sort((left, right) => left - right)
    .map((start) => ({ aboveTokens: start, ...readBand(prices, start) }));
  return { base: readBand(prices, -1), tiers };
}

function readBand(prices: ModelPrice, start: number): TokenRates {
  const inputPicoUsd = readRate(prices.input_mtok, start) ?? 0;
  return {
    inputPicoUsd,
    outputPicoUsd: readRate(prices.output_mtok, start) ?? 0,
    cacheReadPicoUsd: readRate(prices.cache_read_mtok, start) ?? inputPicoUsd,
    cacheWritePicoUsd: readRate(prices.cache_write_mtok, start) ?? inputPicoUsd,
  };
}

function readRate(rate: ModelPrice[string], start: number): number | null {
  if (rate === undefined) return null;
  if (typeof rate === 'number') return toPicoUsd(rate);
  const reached = rate.tiers.filter((tier) => tier.start <= start).sort((left, right) => right.start - left.start)[0];
  return toPicoUsd(reached?.price ?? rate.base);
}

// USD per million tokens is micro-USD per token. Scaling the decimal text keeps 0.0375 exact.
function toPicoUsd(usdPerMillion: number): number {
  return Number(scaleDecimal(String(usdPerMillion), rateDigits));
}

function readCondition(constraint: ConditionalPrice['constraint']): PriceCondition {
  if (constraint === undefined) return { kind: 'always' };
  if (constraint.type === 'start_date') {
    const startMs = Date.parse(`${constraint.start_date}T00:00:00Z`);
    if (!Number.isNaN(startMs)) return { kind: 'from', startMs };
  }
  if (constraint.type === 'time_of_date') {
    const startMs = readTimeOfDay(constraint.start_time);
    const endMs = readTimeOfDay(constraint.end_time);
    if (startMs < millisecondsPerDay && endMs < millisecondsPerDay) return { kind: 'daily', startMs, endMs };
  }
  throw new Error(`The price list has a condition this version does not understand: ${JSON.stringify(constraint)}`);
}

// The epoch began at midnight UTC, so a time on its first day is the offset from midnight; NaN when unreadable.
function readTimeOfDay(time: string): number {
  return Date.parse(`1970-01-01T${time}`);
}

/** Whether it matches a lower-case name. */
type Clause = (name: string) => boolean;

function compileClause(logic: MatchLogic): Clause {
  if ('or' in logic) {
    const parts = logic.or.map(compileClause);
    return (name) => parts.some((takes) => takes(name));
  }
  if ('and' in logic) {
    const parts = logic.and.map(compileClause);
    return (name) => parts.every((takes) => takes(name));
  }
  if ('regex' in logic) {
    const pattern = new RegExp(logic.regex);
    return (name) => pattern.test(name);
  }
  return compileLiteral(logic);
}

type LiteralLogic = Exclude<MatchLogic, { or: unknown } | { and: unknown } | { regex: unknown }>;

function compileLiteral(logic: LiteralLogic): Clause {
  if ('equals' in logic) {
    const text = logic.equals.toLowerCase();
    return (name) => name === text;
  }
  if ('starts_with' in logic) {
    const text = logic.starts_with.toLowerCase();
    return (name) => name.startsWith(text);
  }
  if ('ends_with' in logic) {
    const text = logic.ends_with.toLowerCase();
    return (name) => name.endsWith(text);
  }
  const text = logic.contains.toLowerCase();
  return (name) => name.includes(text);
}

/**
 * The texts in a clause that alone identify the model, so that they serve as exact names. A text inside `and` does
 * not, so it is left out.
 */
function listLiterals(logic: MatchLogic): readonly string[] {
  if ('or' in logic) return logic.or.flatMap(listLiterals);
  if ('equals' in logic) return [logic.equals];
  if ('starts_with' in logic) return [logic.starts_with];
  if ('contains' in logic) return [logic.contains];
  if ('ends_with' in logic) return [logic.ends_with];
  return [];
}
