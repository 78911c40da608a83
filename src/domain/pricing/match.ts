import { type FormStart, isFineTune, listForms, listStarts, type NameForm } from './name-forms.ts';
import type { ListedModel, PriceProvider, PriceRegistry, PriceRow } from './registry.ts';
import { isSelfHosted, resolveVendor } from './vendors.ts';

/** The row of a name, and the spelling that matched. */
type RowMatch = { readonly row: PriceRow; readonly matchedForm: string };

const defaultProviders = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'cohere',
  'x-ai',
  'deepseek',
  'moonshotai',
  'minimax',
  'zai',
  'zhipuai',
  'perplexity',
  'voyageai',
  'aws',
  'azure',
];

const clauseNamesMax = 24;
const compactDate = /-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g;
// Names come from callers, so the cache limits their number and their length.
const rememberedMax = 4096;
const rememberedLengthMax = 512;

/** Finds the row of a model name. Caches results: a deployment sends the same few names all the time. */
export function createRowMatcher(registry: PriceRegistry) {
  const remembered = new Map<string | null, Map<string, RowMatch | null>>();
  const nameLengthMax = [...registry.rows.keys()].reduce((longest, name) => Math.max(longest, name.length), 0);
  let size = 0;

  return (model: string, vendor: string | null): RowMatch | null => {
    const cached = remembered.get(vendor)?.get(model);
    if (cached !== undefined) return cached;
    const found = findRow(registry, { model: model.toLowerCase(), vendor }, nameLengthMax);
    if (model.length + (vendor?.length ?? 0) > rememberedLengthMax) return found;
    // Clearing the cache is cheap, since a lookup takes microseconds, and hits need no bookkeeping.
    if (size >= rememberedMax) {
      remembered.clear();
      size = 0;
    }
    const ofVendor = remembered.get(vendor) ?? new Map<string, RowMatch | null>();
    remembered.set(vendor, ofVendor.set(model, found));
    size += 1;
    return found;
  };
}

type RequestedName = { readonly model: string; readonly vendor: string | null };

function findRow(registry: PriceRegistry, requested: RequestedName, nameLengthMax: number): RowMatch | null {
  // The price list has what calls of a provider cost, not what a machine of one's own does.
  if (isSelfHosted(requested.model, requested.vendor)) return null;
  const starts = listStarts(requested.model);
  // Most spellings are not listed; dropping them first leaves almost nothing to try at each provider.
  const listed = listForms(requested.model, starts, nameLengthMax).filter(({ text }) => registry.rows.has(text));
  return findListed(registry, requested, { starts, listed }) ?? findByClauses(registry, requested, starts);
}

type Spellings = { readonly starts: readonly FormStart[]; readonly listed: readonly NameForm[] };

/** Finds an exact listed name. */
function findListed(registry: PriceRegistry, requested: RequestedName, { starts, listed }: Spellings): RowMatch | null {
  if (listed.length === 0) return null;
  for (const provider of listProviders(registry, requested, starts)) {
    const found = findRowOf(registry, provider, listed);
    if (found !== null) return found;
  }
  // OpenRouter lists models of all makers as `maker/model` at its own prices, so the maker must stay in the name.
  const routed = listed.filter(({ keepsPath, text }) => keepsPath && text.includes('/'));
  return findRowOf(registry, 'openrouter', routed);
}

function findRowOf(registry: PriceRegistry, provider: string, forms: readonly NameForm[]): RowMatch | null {
  for (const { text } of forms) {
    const row = registry.rows.get(text)?.find((candidate) => candidate.provider === provider);
    if (row !== undefined) return { row, matchedForm: text };
  }
  return null;
}

/** Matches the clauses of the package as its own lookup does. */
function findByClauses(
  registry: PriceRegistry,
  requested: RequestedName,
  starts: readonly FormStart[],
): RowMatch | null {
  const names = listClauseNames(requested.model, starts);
  const mayBeBase = ![...names].some(isFineTune);
  const vendor = requested.vendor === null ? undefined : findVendor(registry, requested.vendor);
  if (vendor !== undefined) {
    for (const name of names) {
      const found = findModel(registry, vendor, { name, mayBeBase });
      if (found !== undefined) return toMatch(found, name);
    }
  }
  const named = new Set(listNamedProviders(registry, requested, starts));
  const order = new Set([...listProviders(registry, requested, starts), ...registry.providers.keys()]);
  for (const name of names) {
    for (const id of order) {
      const provider = registry.providers.get(id);
      if (provider === undefined || !(named.has(id) || provider.matchesModel?.(name) === true)) continue;
      const found = findModel(registry, provider, { name, mayBeBase });
      if (found !== undefined) return toMatch(found, name);
    }
  }
  return null;
}

/** Null for a model that is not charged by the token: it has no price per token. */
function toMatch({ row }: ListedModel, name: string): RowMatch | null {
  return row === null ? null : { row, matchedForm: name };
}

function listClauseNames(model: string, starts: readonly FormStart[]): ReadonlySet<string> {
  // No listed name has so many parts, and trying all would cost far more than receiving the name.
  const tried = starts.length > clauseNamesMax ? starts.slice(0, 1) : starts;
  // The clauses do not know free variants, so only the whole name is tried, as the package does.
  const named = model.endsWith(':free') ? tried.slice(0, 1) : tried;
  return new Set(named.map(({ start }) => model.slice(start).trim()));
}

function findVendor({ providers }: PriceRegistry, vendor: string): PriceProvider | undefined {
  const name = resolveVendor(vendor);
  return (
    providers.get(name) ?? [...providers.values()].find(({ matchesVendor }) => matchesVendor?.(name.trim()) === true)
  );
}

/** Without `mayBeBase` only models count that are fine-tunes by themselves. */
type ClauseName = { readonly name: string; readonly mayBeBase: boolean };

function findModel(
  registry: PriceRegistry,
  provider: PriceProvider,
  { name, mayBeBase }: ClauseName,
): ListedModel | undefined {
  const providers = [provider, ...provider.fallbacks.flatMap((id) => registry.providers.get(id) ?? [])];
  for (const spelling of new Set([name, spellDates(name)])) {
    for (const { models } of providers) {
      const found = models.find(({ matches, isFineTune }) => (mayBeBase || isFineTune) && matches(spelling));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Writes dates as some providers do: `-20250131` becomes `-2025-01-31`. */
function spellDates(name: string): string {
  return name.replace(compactDate, (text, year: string, month: string, day: string) => {
    const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
    // Digits such as those of February 30th are not a date.
    return date.getUTCDate() === Number(day) ? `-${year}-${month}-${day}` : text;
  });
}

function listProviders(
  registry: PriceRegistry,
  requested: RequestedName,
  starts: readonly FormStart[],
): ReadonlySet<string> {
  const providers = new Set<string>();
  for (const named of listNamedProviders(registry, requested, starts)) {
    providers.add(named);
    if (requested.vendor === null || named !== resolveVendor(requested.vendor)) continue;
    for (const fallback of registry.providers.get(named)?.fallbacks ?? []) providers.add(fallback);
  }
  for (const provider of defaultProviders) providers.add(provider);
  return providers;
}

/** Providers to which the vendor or the name points. */
function listNamedProviders(
  { providers }: PriceRegistry,
  { model, vendor }: RequestedName,
  starts: readonly FormStart[],
): readonly string[] {
  const slash = model.indexOf('/');
  return [
    ...(vendor === null ? [] : [resolveVendor(vendor)]),
    ...(slash < 0 ? [] : [resolveVendor(model.slice(0, slash))]),
    ...(starts.some(({ isBedrock }) => isBedrock) ? ['aws'] : []),
    // Hosts such as Cloudflare put a prefix before the names of other makers' models.
    ...[...providers.values()]
      .filter(({ id, matchesModel }) => matchesModel?.(model) === true && !defaultProviders.includes(id))
      .map(({ id }) => id),
  ];
}
