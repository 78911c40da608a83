import { createHash } from 'node:crypto';
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

// The package tells neither its version nor its release date at run time, so both stand here beside the fingerprint
// of the prices they belong to. The date is the publication time in the npm registry.
const release = {
  version: '0.1.8',
  releasedOn: '2026-09-23',
  fingerprint: 'ad00456d136471e5ffeca800d4112527f9c955ae9cbf85f4b91814841d5f6271',
};

const millisecondsPerDay = 86_400_000;
const rateDigits = 6;

/**
 * Reads the bundled price list; no network. Throws when the installed package holds other prices than the release
 * named above: costs would then carry the wrong date for ever. Takes tens of milliseconds, most of it the import,
 * which is why that happens here and not for every program that touches this file.
 */
export async function loadPriceRegistry(): Promise<PriceRegistry> {
  const { waitForUpdate } = await import('@pydantic/genai-prices');
  const providers = (await waitForUpdate()) ?? [];
  const fingerprint = fingerprintPrices(providers);
  if (fingerprint !== release.fingerprint) {
    throw new Error(
      `The installed @pydantic/genai-prices does not hold the prices of ${release.version} ` +
        `(fingerprint ${fingerprint}). Install that version, or record the new one with its release date.`,
    );
  }
  return { version: release.version, releasedOn: release.releasedOn, ...buildPriceRows(providers) };
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

// Names and prices are all that decides a cost; descriptions and comments may differ without changing one.
function fingerprintPrices(providers: readonly Provider[]): string {
  const priced = providers.map(({ id, fallback_model_providers, models }) => [
    id,
    fallback_model_providers ?? [],
    models.map((model) => [model.id, model.match, model.prices]),
  ]);
  return createHash('sha256').update(JSON.stringify(priced)).digest('hex');
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
