import type { PriceRegistry, PriceRow } from './pricing-registry.ts';

/** A spelling of a model name to look for, in lower case. `keepsPath` is false once a leading `xxx/` part is gone. */
export type NameForm = { readonly text: string; readonly keepsPath: boolean };

/** The row a name stands for, and the spelling under which it was found. */
export type RowMatch = { readonly row: PriceRow; readonly matchedForm: string };

export type RowMatcher = (model: string, vendor: string | null) => RowMatch | null;

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

const unaskedProviders = [
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

// Sticky, so that a label is only seen where a part of the name begins.
const bedrockRegion = /(?:us|eu|apac|au|jp|ca|sa|us-gov|global)\./y;
const bedrockMaker = /(?:anthropic|meta|mistral|cohere|amazon|ai21|deepseek|openai|qwen)\./y;

const suffixStepsMax = 6;
// Names come from callers, so what is remembered of them is bounded in number and in length.
const rememberedMax = 4096;
const rememberedLengthMax = 512;

/** Finds the row of a model name, remembering answers: a deployment sees the same few names all the time. */
export function createRowMatcher(registry: PriceRegistry): RowMatcher {
  const remembered = new Map<string | null, Map<string, RowMatch | null>>();
  const nameLengthMax = [...registry.rows.keys()].reduce((longest, name) => Math.max(longest, name.length), 0);
  let size = 0;

  return (model, vendor) => {
    const known = remembered.get(vendor)?.get(model);
    if (known !== undefined) return known;
    const found = findRow(registry, { model: model.toLowerCase(), vendor }, nameLengthMax);
    if (model.length + (vendor?.length ?? 0) > rememberedLengthMax) return found;
    // Starting over is cheap, since an answer costs microseconds, and needs no bookkeeping on every hit.
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

/** The provider a vendor name stands for, in lower case; itself when it is no known alias. */
export function resolveVendor(vendor: string): string {
  const name = vendor.toLowerCase();
  return vendorAliases.get(name) ?? name;
}

/**
 * The spellings under which a model may be listed, best first: the whole name, the name behind each `/`, those
 * without their Bedrock labels, then each of them with version suffixes taken off one at a time.
 */
export function listNameForms(model: string): readonly NameForm[] {
  const name = model.toLowerCase();
  return listForms(name, listStarts(name), name.length);
}

function findRow(
  registry: PriceRegistry,
  { model, vendor }: { model: string; vendor: string | null },
  nameLengthMax: number,
): RowMatch | null {
  const starts = listStarts(model);
  // Most spellings are nobody's; dropping them first leaves next to nothing to try at each provider.
  const listed = listForms(model, starts, nameLengthMax).filter(({ text }) => registry.rows.has(text));
  if (listed.length === 0) return null;
  for (const provider of listProviders(registry, { model, vendor }, starts)) {
    const found = findRowOf(registry, provider, listed);
    if (found !== null) return found;
  }
  // OpenRouter lists everybody's models under `maker/model` at its own prices, so the maker must stay in the name.
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

function listProviders(
  registry: PriceRegistry,
  { model, vendor }: { model: string; vendor: string | null },
  starts: readonly FormStart[],
): ReadonlySet<string> {
  const providers = new Set<string>();
  if (vendor !== null) {
    const named = resolveVendor(vendor);
    providers.add(named);
    for (const fallback of registry.fallbacks.get(named) ?? []) providers.add(fallback);
  }
  const slash = model.indexOf('/');
  if (slash >= 0) providers.add(resolveVendor(model.slice(0, slash)));
  if (starts.some(({ isBedrock }) => isBedrock)) providers.add('aws');
  for (const provider of unaskedProviders) providers.add(provider);
  return providers;
}

type FormStart = { readonly start: number; readonly keepsPath: boolean; readonly isBedrock: boolean };

// Every spelling is a slice of the name, so positions are all there is to work out; slices longer than anything
// listed are not even taken, or a long name of many parts would cost far more to price than to receive.
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

// Bedrock lists `meta.llama…` with its maker and some Claude models without, and the region stands before either: so
// the labels come off one after the other.
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

// The candidates depend only on where the name ends, and a name of many `/` parts asks for the same end many times.
function createCutter(name: string): (start: number, end: number) => number | null {
  const cutsByEnd = new Map<number, readonly number[]>();
  return (start, end) => {
    const cuts = cutsByEnd.get(end) ?? listCuts(name.slice(0, end));
    cutsByEnd.set(end, cuts);
    return cuts.find((cut) => cut > start) ?? null;
  };
}

// Where each kind of suffix begins, in the order they are tried; -1 for one that is not there. A `:free` variant has
// its own price, namely none, and must never be taken for the paid model.
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
