import type { ListedModel, PriceProvider, PriceRegistry, PriceRow } from './registry.ts';

/** A lower-case spelling of a model name. `keepsPath` is false after a leading `xxx/` part was removed. */
type NameForm = { readonly text: string; readonly keepsPath: boolean };

/** The row of a name, and the spelling that matched. */
type RowMatch = { readonly row: PriceRow; readonly matchedForm: string };

const vendorAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    azure: ['azure_openai', 'azure.ai.openai', 'az.ai.openai', 'azure.ai.inference'],
    aws: ['bedrock', 'aws.bedrock', 'aws_bedrock', 'amazon'],
    google: ['gemini', 'vertex_ai', 'vertexai', 'vertex', 'gcp.gemini', 'gcp.vertex_ai', 'google_ai_studio'],
    'x-ai': ['xai'],
    mistral: ['mistral_ai', 'mistralai'],
    together: ['together_ai'],
    fireworks: ['fireworks_ai'],
    moonshotai: ['moonshot'],
  }).flatMap(([provider, aliases]) => aliases.map((alias): [string, string] => [alias, provider])),
);

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

// Sticky, so that a label matches only where a part of the name begins.
const bedrockRegion = /(?:us|eu|apac|au|jp|ca|sa|us-gov|global)\./y;
const bedrockMaker = /(?:anthropic|meta|mistral|cohere|amazon|ai21|deepseek|openai|qwen)\./y;

const suffixStepsMax = 6;
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
    const known = remembered.get(vendor)?.get(model);
    if (known !== undefined) return known;
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

/** The provider id of a vendor name, in lower case; the name itself when it is no alias. */
export function resolveVendor(vendor: string): string {
  const name = vendor.toLowerCase();
  return vendorAliases.get(name) ?? name;
}

/**
 * The spellings under which a model may be listed, best first: the whole name, the name after each `/`, these
 * without their Bedrock labels, then each of them with version suffixes removed one at a time.
 */
export function listNameForms(model: string): readonly NameForm[] {
  const name = model.toLowerCase();
  return listForms(name, listStarts(name), name.length);
}

type RequestedName = { readonly model: string; readonly vendor: string | null };

function findRow(registry: PriceRegistry, requested: RequestedName, nameLengthMax: number): RowMatch | null {
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
  const vendor = requested.vendor === null ? undefined : findVendor(registry, requested.vendor);
  if (vendor !== undefined) {
    for (const name of names) {
      const found = findModel(registry, vendor, name);
      if (found !== undefined) return toMatch(found, name);
    }
  }
  const named = new Set(listNamedProviders(registry, requested, starts));
  const order = new Set([...listProviders(registry, requested, starts), ...registry.providers.keys()]);
  for (const name of names) {
    for (const id of order) {
      const provider = registry.providers.get(id);
      if (provider === undefined || !(named.has(id) || provider.matchesModel?.(name) === true)) continue;
      const found = findModel(registry, provider, name);
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

function findModel(registry: PriceRegistry, provider: PriceProvider, name: string): ListedModel | undefined {
  const providers = [provider, ...provider.fallbacks.flatMap((id) => registry.providers.get(id) ?? [])];
  for (const spelling of new Set([name, spellDates(name)])) {
    for (const { models } of providers) {
      const found = models.find(({ matches }) => matches(spelling));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Writes dates as some providers do: `-20250131` becomes `-2025-01-31`. */
function spellDates(name: string): string {
  return name.replace(compactDate, (text, year: string, month: string, day: string) => {
    const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
    // Digits such as those of February 30th are no date.
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

type FormStart = { readonly start: number; readonly keepsPath: boolean; readonly isBedrock: boolean };

// Every spelling is a slice of the name, so its positions are enough. Slices longer than any listed name are skipped:
// else a long name of many parts would cost far more to price than to receive.
function listForms(name: string, starts: readonly FormStart[], lengthMax: number): readonly NameForm[] {
  const forms: NameForm[] = [];
  for (const { start, keepsPath } of starts) addForm(start, name.length, keepsPath);
  const findCut = createCutter(name);
  for (const { start, keepsPath } of starts) {
    let end = findCut(start, name.length);
    for (let step = 0; step < suffixStepsMax && end !== null; step += 1) {
      addForm(start, end, keepsPath);
      end = findCut(start, end);
    }
  }
  return forms;

  function addForm(start: number, end: number, keepsPath: boolean): void {
    if (end - start <= lengthMax) forms.push({ text: name.slice(start, end), keepsPath });
  }
}

function listStarts(name: string): readonly FormStart[] {
  const plain: FormStart[] = [{ start: 0, keepsPath: true, isBedrock: false }];
  for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
    if (slash + 1 < name.length) plain.push({ start: slash + 1, keepsPath: false, isBedrock: false });
  }
  const unlabelled = plain.flatMap(({ start, keepsPath }) =>
    listUnlabelled(name, start).map((behind) => ({ start: behind, keepsPath, isBedrock: true })),
  );
  return [...plain, ...unlabelled];
}

// Bedrock lists `meta.llama…` with its maker and some Claude models without, and a region may come before both: so
// the labels are removed one by one.
function listUnlabelled(name: string, start: number): readonly number[] {
  const behindRegion = skipLabel(bedrockRegion, name, start);
  const behindMaker = skipLabel(bedrockMaker, name, behindRegion);
  const behind: number[] = [];
  if (behindRegion > start && behindRegion < name.length) behind.push(behindRegion);
  if (behindMaker > behindRegion && behindMaker < name.length) behind.push(behindMaker);
  return behind;
}

function skipLabel(label: RegExp, name: string, start: number): number {
  label.lastIndex = start;
  return label.test(name) ? label.lastIndex : start;
}

// Cached, because cuts depend only on the end, and a name of many `/` parts needs the same end many times.
function createCutter(name: string): (start: number, end: number) => number | null {
  const cutsByEnd = new Map<number, readonly number[]>();
  return (start, end) => {
    const cuts = cutsByEnd.get(end) ?? listCuts(name.slice(0, end));
    cutsByEnd.set(end, cuts);
    return cuts.find((cut) => cut > start) ?? null;
  };
}

// Where each kind of suffix begins, in the order they are tried; -1 for an absent one. A `:free` variant costs
// nothing and must never match the paid model.
function listCuts(text: string): readonly number[] {
  if (text.endsWith(':free')) return [];
  return [
    text.search(/-\d{4}-\d{2}-\d{2}$/),
    text.search(/-\d{8}$/),
    text.lastIndexOf('@'),
    text.search(/-v\d+$/),
    text.lastIndexOf(':'),
  ];
}
