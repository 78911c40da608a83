import { describe, expect, it } from 'vitest';
import {
  type ChosenProvider,
  chooseProviders,
  listCallableModels,
  matchesPattern,
} from '../../../src/domain/gateway/provider-choice.ts';

function providerOf(name: string, changes: Partial<ChosenProvider> = {}): ChosenProvider {
  const defaults = {
    kind: 'openai',
    models: null,
    aliases: {},
    projectIds: null,
    enabled: true,
    createdAtMs: 1,
  } as const;
  return { id: `provider_${name}`, name, ...defaults, ...changes };
}

type Choice = Parameters<typeof chooseProviders>[0];

const ANY_MODEL = { modelsAllowed: null, providers: null };

/** The candidates as `provider: model`, or the code of the refusal. */
function choose(providers: readonly ChosenProvider[], model: string, changes: Partial<Choice> = {}) {
  const choice = { config: ANY_MODEL, projectId: 'project_1', dialect: 'openai', ...changes } as const;
  const chosen = chooseProviders({ ...choice, providers, model });
  if ('code' in chosen) return `${chosen.httpStatus} ${chosen.code}`;
  return chosen.map((candidate) => `${candidate.provider.name}: ${candidate.model}`);
}

function allowing(...modelsAllowed: readonly string[]): Pick<Choice, 'config'> {
  return { config: { modelsAllowed, providers: null } };
}

describe('the providers of a request', () => {
  it('are those of the key in its order, by default the oldest first', () => {
    const providers = [providerOf('new', { createdAtMs: 3 }), providerOf('b'), providerOf('a')];
    expect(choose(providers, 'm')).toEqual(['a: m', 'b: m', 'new: m']);
    const config = { modelsAllowed: null, providers: ['provider_new', 'provider_gone', 'provider_a'] };
    expect(choose(providers, 'm', { config })).toEqual(['new: m', 'a: m']);
  });

  it('are enabled, of the project, and speak the dialect of the route', () => {
    const providers = [
      providerOf('off', { enabled: false }),
      providerOf('foreign', { projectIds: ['project_2'] }),
      providerOf('own', { projectIds: ['project_2', 'project_1'] }),
      providerOf('azure', { kind: 'azure_openai' }),
      providerOf('local', { kind: 'openai_compatible' }),
      providerOf('claude', { kind: 'anthropic' }),
    ];
    expect(choose(providers, 'm')).toEqual(['azure: m', 'local: m', 'own: m']);
    expect(choose(providers, 'm', { dialect: 'anthropic' })).toEqual(['claude: m']);
    const config = { modelsAllowed: null, providers: ['provider_off', 'provider_foreign', 'provider_claude'] };
    expect(choose(providers, 'm', { config })).toBe('400 no_provider_configured');
    expect(choose([], 'm')).toBe('400 no_provider_configured');
  });

  it('have the model by a name or a pattern', () => {
    const providers = [providerOf('a', { models: ['gpt-5'] }), providerOf('b', { models: ['o*', 'gpt-*-mini'] })];
    expect(choose(providers, 'gpt-5')).toEqual(['a: gpt-5']);
    expect(choose(providers, 'gpt-5-mini')).toEqual(['b: gpt-5-mini']);
    for (const unknown of ['gpt', 'GPT-5', 'xo', '', 'a/', 'a/gpt', 'c/gpt-5', '/gpt-5', 'gpt-5 ']) {
      expect(choose(providers, unknown), unknown).toBe('400 model_not_recognized');
    }
  });

  it('get the model of their own alias, before others that list the name, and never one that lists nothing', () => {
    const providers = [
      providerOf('all'),
      providerOf('listing', { models: ['fast'] }),
      providerOf('azure', { kind: 'azure_openai', aliases: { fast: 'deployment-7' }, models: [] }),
      providerOf('local', { aliases: { fast: 'llama' }, models: ['fast'] }),
    ];
    expect(choose(providers, 'fast')).toEqual(['azure: deployment-7', 'local: llama', 'listing: fast']);
    expect(choose(providers, 'slow')).toEqual(['all: slow']);
    for (const inherited of ['constructor', '__proto__', 'toString']) {
      expect(choose(providers.slice(1), inherited)).toBe('400 model_not_recognized');
    }
  });

  it('are one alone when the model is named with it', () => {
    const providers = [providerOf('a', { aliases: { fast: 'gpt-5-mini' } }), providerOf('b'), providerOf('a/eu')];
    expect(choose(providers, 'b/gpt-5')).toEqual(['b: gpt-5']);
    expect(choose(providers, 'a/fast')).toEqual(['a: gpt-5-mini']);
    expect(choose(providers, 'a/eu/gpt-5')).toEqual(['a/eu: gpt-5']);
    expect(choose(providers, 'b/vendor/model')).toEqual(['b: vendor/model']);
  });

  it('have models whose names have slashes themselves', () => {
    const router = providerOf('router', { models: ['openai/gpt-5', 'meta/*'] });
    expect(choose([router], 'openai/gpt-5')).toEqual(['router: openai/gpt-5']);
    expect(choose([router], 'meta/llama/4')).toEqual(['router: meta/llama/4']);
    expect(choose([router], 'router/openai/gpt-5')).toEqual(['router: openai/gpt-5']);
    // A provider of that name which does not have the model leaves it to the one that lists it.
    expect(choose([providerOf('openai', { models: ['gpt-4'] }), router], 'openai/gpt-5')).toEqual([
      'router: openai/gpt-5',
    ]);
    expect(choose([providerOf('openai'), router], 'openai/gpt-5')).toEqual(['openai: gpt-5']);
  });
});

describe('the models that a key allows', () => {
  const providers = [providerOf('gpt-evil', { aliases: { cheap: 'gpt-5-nano' } }), providerOf('b')];

  it('are those that a pattern has, by the name that the request uses', () => {
    expect(choose(providers, 'gpt-5', allowing('o3', 'gpt-5*'))).toEqual(['b: gpt-5', 'gpt-evil: gpt-5']);
    expect(choose(providers, 'cheap', allowing('cheap'))).toEqual(['gpt-evil: gpt-5-nano']);
    expect(choose(providers, 'cheap', allowing('gpt-5-nano'))).toBe('403 model_not_allowed');
    expect(choose(providers, 'gpt-4', allowing('gpt-5*'))).toBe('403 model_not_allowed');
    expect(choose(providers, 'gpt-4', allowing())).toBe('403 model_not_allowed');
  });

  it('stay the same when a provider is named', () => {
    expect(choose(providers, 'b/gpt-5', allowing('gpt-5'))).toEqual(['b: gpt-5']);
    expect(choose(providers, 'b/gpt-5', allowing('b/gpt-*'))).toEqual(['b: gpt-5']);
    expect(choose(providers, 'b/o3', allowing('b/gpt-*'))).toBe('403 model_not_allowed');
    expect(choose(providers, 'gpt-evil/o3', allowing('gpt-*'))).toBe('403 model_not_allowed');
  });

  it('are refused with the name as asked, cut where it is long', () => {
    const refusal = chooseProviders({
      ...{ config: ANY_MODEL, projectId: 'p', dialect: 'openai' },
      ...{ providers: [providerOf('a', { models: [] })], model: 'x'.repeat(10_000) },
    });
    expect(refusal).toEqual({
      code: 'model_not_recognized',
      httpStatus: 400,
      message: `No model provider of the virtual key has the model ${'x'.repeat(256)}.`,
    });
  });
});

describe('a pattern', () => {
  it.each([
    ['gpt-5', 'gpt-5', true],
    ['gpt-5', 'gpt-5o', false],
    ['*', '', true],
    ['*', 'a/b', true],
    ['**', 'a', true],
    ['gpt-*', 'gpt-', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*b*', 'abc', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['*ab', 'aab', true],
    ['.*', 'x', false],
    ['a?', 'ab', false],
  ])('%s stands for %s: %s', (pattern, name, isMatch) => {
    expect(matchesPattern(pattern, name)).toBe(isMatch);
  });

  // A regular expression would never end.
  it('ends soon for many stars', () => {
    expect(matchesPattern(`${'*a'.repeat(128)}b`, 'a'.repeat(256))).toBe(false);
  });
});

describe('the models that a key can list', () => {
  it('are aliases, names, and those of the provider that a pattern has, each once', () => {
    const providers = [
      providerOf('a', { aliases: { fast: 'gpt-5-mini' }, models: ['gpt-5', 'o*'] }),
      providerOf('b', { models: null }),
      providerOf('off', { enabled: false, models: ['never'] }),
      providerOf('claude', { kind: 'anthropic', models: ['claude-*', 'fast'] }),
    ];
    const upstream = new Map([
      ['provider_a', ['o3', 'gpt-4']],
      ['provider_b', ['gpt-5', 'secret-1', 'llama']],
    ]);
    const config = { modelsAllowed: ['fast', 'gpt-*', 'o*', 'l*'], providers: null };
    const listed = listCallableModels({ config, projectId: 'project_1', providers }, upstream);
    expect(listed.map(({ name, provider }) => `${provider.name}: ${name}`)).toEqual([
      'a: fast',
      'a: gpt-5',
      'a: o3',
      'b: llama',
    ]);
    expect(listCallableModels({ config: ANY_MODEL, projectId: 'p', providers: [providerOf('b')] }, new Map())).toEqual(
      [],
    );
  });
});
