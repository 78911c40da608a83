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

/** When a price set holds: always, from an instant on, or in a UTC time-of-day window `[startMs, endMs)`. */
export type PriceCondition =
  | { readonly kind: 'always' }
  | { readonly kind: 'from'; readonly startMs: number }
  | { readonly kind: 'daily'; readonly startMs: number; readonly endMs: number };

/** `base` holds below every tier; `tiers` rise by `aboveTokens`. */
export type PriceSet = {
  readonly condition: PriceCondition;
  readonly base: TokenRates;
  readonly tiers: readonly RateBand[];
};

/** One priced model of one provider. Of several sets the last that holds counts. */
export type PriceRow = { readonly provider: string; readonly id: string; readonly sets: readonly PriceSet[] };

/**
 * The price list. `rows` finds, by exact lower-case name, at most one row of each provider; `fallbacks` names for
 * every known provider those whose models it also serves.
 */
export type PriceRegistry = {
  readonly version: string;
  readonly releasedOn: string;
  readonly rows: ReadonlyMap<string, readonly PriceRow[]>;
  readonly fallbacks: ReadonlyMap<string, readonly string[]>;
};

/** A price list as plain JSON. */
export type PackedPriceRegistry = {
  readonly version: string;
  readonly releasedOn: string;
  readonly rows: readonly PriceRow[];
  /** Each name with the indexes of its rows. */
  readonly names: readonly (readonly [name: string, rows: readonly number[]])[];
  readonly fallbacks: readonly (readonly [provider: string, others: readonly string[]])[];
};

const millisecondsPerDay = 86_400_000;
const rateDigits = 6;

/** The form that is kept in a file. Rows that several names share are written once. */
export function packPriceRegistry({ version, releasedOn, rows, fallbacks }: PriceRegistry): PackedPriceRegistry {
  const distinct = [...new Set([...rows.values()].flat())];
  const indexes = new Map(distinct.map((row, index) => [row, index]));
  const indexOf = (row: PriceRow) => indexes.get(row) ?? -1;
  return {
    version,
    releasedOn,
    rows: distinct,
    names: [...rows].map(([name, sameName]) => [name, sameName.map(indexOf)]),
    fallbacks: [...fallbacks],
  };
}

/** The inverse of packPriceRegistry. */
export function unpackPriceRegistry(packed: PackedPriceRegistry): PriceRegistry {
  const { version, releasedOn, rows, names, fallbacks } = packed;
  const rowsOf = (indexes: readonly number[]) => indexes.flatMap((index) => rows[index] ?? []);
  return {
    version,
    releasedOn,
    rows: new Map(names.map(([name, indexes]) => [name, rowsOf(indexes)])),
    fallbacks: new Map(fallbacks),
  };
}

/** Turns a provider list into rows. Throws on a price condition it does not know, rather than misprice by it. */
export function buildPriceRows(providers: readonly Provider[]): Pick<PriceRegistry, 'rows' | 'fallbacks'> {
  const rows = new Map<string, PriceRow[]>();
  for (const provider of providers) {
    for (const [name, row] of listProviderNames(provider)) {
      const sameName = rows.get(name);
      if (sameName === undefined) rows.set(name, [row]);
      else sameName.push(row);
    }
  }
  const fallbacks = new Map(providers.map(({ id, fallback_model_providers }) => [id, fallback_model_providers ?? []]));
  return { rows, fallbacks };
}

function listProviderNames(provider: Provider): ReadonlyMap<string, PriceRow> {
  const names = new Map<string, PriceRow>();
  const imported = provider.models.flatMap((model) => {
    const row = buildRow(provider.id, model);
    return row === null ? [] : [{ model, row }];
  });
  // All ids come before the first alias, because an id outranks another model's alias of the same spelling.
  for (const { row } of imported) addName(names, row.id, row);
  for (const { model, row } of imported) {
    for (const alias of listAliases(model.match)) addName(names, alias, row);
  }
  return names;
}

function addName(names: Map<string, PriceRow>, name: string, row: PriceRow): void {
  const key = name.toLowerCase();
  if (!names.has(key)) names.set(key, row);
}

// A literal is used as an exact name whatever its clause says: taken as a prefix, `gpt-4o` would price models that
// do not exist yet. Inside `and` a literal alone does not stand for the model, so those are left out.
function listAliases(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(listAliases);
  if ('equals' in match) return [match.equals];
  if ('starts_with' in match) return [match.starts_with];
  if ('contains' in match) return [match.contains];
  if ('ends_with' in match) return [match.ends_with];
  return [];
}

function buildRow(provider: string, model: ModelInfo): PriceRow | null {
  const priced: readonly ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  // Without a rate a model is either declared free or charged by something other than tokens.
  if (!priced.some(({ prices }) => hasTokenRate(prices)) && !model.id.toLowerCase().endsWith(':free')) return null;
  return {
    provider,
    id: model.id,
    sets: priced.map(({ prices, constraint }) => ({ condition: readCondition(constraint), ...readRates(prices) })),
  };
}

function hasTokenRate(prices: ModelPrice): boolean {
  return [prices.input_mtok, prices.output_mtok, prices.cache_read_mtok, prices.cache_write_mtok].some(
    (rate) => rate !== undefined,
  );
}

function readRates(prices: ModelPrice): Pick<PriceSet, 'base' | 'tiers'> {
  const starts = new Set<number>();
  for (const rate of [prices.input_mtok, prices.output_mtok, prices.cache_read_mtok, prices.cache_write_mtok]) {
    if (typeof rate === 'object') for (const tier of rate.tiers) starts.add(tier.start);
  }
  // Rates step up independently of each other, so each start of any of them opens a band that states all four.
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

// USD per million tokens is micro-USD per token. Going by the decimal text keeps 0.0375 exact.
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
