/** Which model providers a request may be sent to, in which order, and by which name of its model. */

import type { ModelProviderKind, ModelProviderRecord } from '../model-providers/model-provider.ts';
import type { VirtualKeyConfig } from '../virtual-keys/virtual-key.ts';
import type { Dialect } from './dialects/dialect.ts';

/** The API that a kind of provider speaks. */
export const DIALECTS: Readonly<Record<ModelProviderKind, Dialect>> = {
  openai: 'openai',
  azure_openai: 'openai',
  openai_compatible: 'openai',
  anthropic: 'anthropic',
};

/** What the choice reads of a provider. */
export type ChosenProvider = Pick<
  ModelProviderRecord,
  'id' | 'name' | 'kind' | 'models' | 'aliases' | 'projectIds' | 'enabled' | 'createdAtMs'
>;

/** `model`: as the provider calls it. */
export type Candidate<Provider extends ChosenProvider = ChosenProvider> = {
  readonly provider: Provider;
  readonly model: string;
};

export type ChoiceRefusal = {
  readonly code: 'model_not_recognized' | 'model_not_allowed' | 'no_provider_configured';
  readonly httpStatus: 400 | 403;
  readonly message: string;
};

type Reachable<Provider> = {
  readonly config: Pick<VirtualKeyConfig, 'modelsAllowed' | 'providers'>;
  /** The project of the key. */
  readonly projectId: string;
  /** Those of the organization. */
  readonly providers: readonly Provider[];
};

type Choice<Provider> = Reachable<Provider> & { readonly dialect: Dialect; readonly model: string };

const API_NAMES: Readonly<Record<Dialect, string>> = { openai: 'OpenAI', anthropic: 'Anthropic' };
const SHOWN_CHARACTERS = 256;

/**
 * The candidates in the order in which they are tried, at least one. A name of a model is read in three ways, the first that
 * finds a provider counts: as an alias; as `provider/model`, for that provider alone; as a name that providers have. An alias may
 * stand for another model than its name says: so beside the providers that have it only those that list the name take part,
 * and none that is used for all models.
 */
export function chooseProviders<Provider extends ChosenProvider>(
  choice: Choice<Provider>,
): readonly Candidate<Provider>[] | ChoiceRefusal {
  const { dialect, model, config } = choice;
  const usable = listReachable(choice).filter(({ kind }) => DIALECTS[kind] === dialect);
  if (usable.length === 0) {
    const message = `The virtual key has no enabled model provider with the API of ${API_NAMES[dialect]}.`;
    return { code: 'no_provider_configured', httpStatus: 400, message };
  }
  const shown = model.slice(0, SHOWN_CHARACTERS);
  const found = findByAlias(usable, model) ?? findNamed(usable, model) ?? findByModel(usable, model);
  if (found === null) {
    const message = `No model provider of the virtual key has the model ${shown}.`;
    return { code: 'model_not_recognized', httpStatus: 400, message };
  }
  if (!isAllowed(config.modelsAllowed, found)) {
    const message = `The virtual key does not allow the model ${shown}.`;
    return { code: 'model_not_allowed', httpStatus: 403, message };
  }
  return found.candidates;
}

/** Those that the key may use, in its order: by default the oldest first. */
export function listReachable<Provider extends ChosenProvider>(reachable: Reachable<Provider>): readonly Provider[] {
  const { config, projectId, providers } = reachable;
  const visible = providers.filter(({ enabled, projectIds }) => enabled && (projectIds?.includes(projectId) ?? true));
  if (config.providers === null) return visible.toSorted(compareAges);
  const byId = new Map(visible.map((provider) => [provider.id, provider]));
  return config.providers.flatMap((id) => byId.get(id) ?? []);
}

function compareAges(one: ChosenProvider, other: ChosenProvider): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1);
}

/** `asked`: the name that the key must allow. */
type Found<Provider extends ChosenProvider> = {
  readonly candidates: readonly Candidate<Provider>[];
  readonly asked: { readonly providerName: string | null; readonly model: string };
};

function findByAlias<Provider extends ChosenProvider>(usable: readonly Provider[], name: string) {
  const aliased = usable.flatMap((provider) => {
    const model = aliasOf(provider, name);
    return model === null ? [] : [{ provider, model }];
  });
  const isAliased = ({ id }: Provider) => aliased.some(({ provider }) => provider.id === id);
  const others = usable.filter(
    (provider) => provider.models !== null && hasModel(provider, name) && !isAliased(provider),
  );
  if (aliased.length === 0) return null;
  return toFound([...aliased, ...others.map((provider) => ({ provider, model: name }))], { model: name });
}

function findNamed<Provider extends ChosenProvider>(usable: readonly Provider[], name: string) {
  if (!name.includes('/')) return null;
  // A name of a provider may have slashes itself: the longest that fits counts.
  const named = usable
    .filter((provider) => name.startsWith(`${provider.name}/`))
    .toSorted((one, other) => other.name.length - one.name.length);
  for (const provider of named) {
    const asked = name.slice(provider.name.length + 1);
    const model = aliasOf(provider, asked) ?? (asked !== '' && hasModel(provider, asked) ? asked : null);
    if (model !== null) return toFound([{ provider, model }], { providerName: provider.name, model: asked });
  }
  return null;
}

function findByModel<Provider extends ChosenProvider>(usable: readonly Provider[], name: string) {
  const having = usable.filter((provider) => hasModel(provider, name));
  return having.length === 0
    ? null
    : toFound(
        having.map((provider) => ({ provider, model: name })),
        { model: name },
      );
}

function toFound<Provider extends ChosenProvider>(
  candidates: readonly Candidate<Provider>[],
  { providerName = null, model }: { readonly providerName?: string | null; readonly model: string },
): Found<Provider> {
  return { candidates, asked: { providerName, model } };
}

function aliasOf({ aliases }: ChosenProvider, name: string): string | null {
  return Object.hasOwn(aliases, name) ? (aliases[name] ?? null) : null;
}

function hasModel({ models }: ChosenProvider, name: string): boolean {
  return models === null || models.some((pattern) => matchesPattern(pattern, name));
}

/**
 * A request for `provider/model` asks for the model: only a pattern with a slash is compared with the whole. Otherwise a name
 * of a provider could begin as a pattern does, and let all its models pass.
 */
function isAllowed(patterns: readonly string[] | null, { asked }: Pick<Found<ChosenProvider>, 'asked'>): boolean {
  if (patterns === null) return true;
  const { providerName, model } = asked;
  return patterns.some(
    (pattern) =>
      matchesPattern(pattern, model) ||
      (providerName !== null && pattern.includes('/') && matchesPattern(pattern, `${providerName}/${model}`)),
  );
}

const ANY = '*';

/** Whether a name is as a pattern says, in which * stands for any characters. Without regular expressions, whose time has no bound. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split(ANY);
  const last = parts.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

export type ListedModel = { readonly name: string; readonly provider: ChosenProvider };

/**
 * The names that a key can call, each once: aliases and models that providers name; of those that a pattern stands for, the ones
 * that `upstream` has by the id of their provider.
 */
export function listCallableModels(
  { config, ...reachable }: Reachable<ChosenProvider>,
  upstream: ReadonlyMap<string, readonly string[]>,
): readonly ListedModel[] {
  const listed = new Map<string, ListedModel>();
  for (const provider of listReachable({ config, ...reachable })) {
    const { aliases, models } = provider;
    const exact = (models ?? []).filter((pattern) => !pattern.includes(ANY));
    const known = (upstream.get(provider.id) ?? []).filter((name) => hasModel(provider, name));
    for (const name of [...Object.keys(aliases), ...exact, ...known]) {
      const isCallable = isAllowed(config.modelsAllowed, { asked: { providerName: null, model: name } });
      if (isCallable && !listed.has(name)) listed.set(name, { name, provider });
    }
  }
  return [...listed.values()];
}
