/** What the console makes of model providers, virtual keys and budgets. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { BudgetSchema, BudgetScopeKind } from '../../gen/spandrel/v1/budgets_pb.js';
import { ModelProviderKind, ModelProviderSchema } from '../../gen/spandrel/v1/model_providers_pb.js';
import {
  UpdateVirtualKeyRequestSchema,
  VirtualKeyCacheMode,
  VirtualKeyCapture,
  VirtualKeySchema,
  VirtualKeyService,
} from '../../gen/spandrel/v1/virtual_keys_pb.js';
import { amountsOf } from '../../src/console/budgets/amounts.ts';
import { problemOf } from '../../src/console/design/problem.ts';
import {
  type ProviderDraft,
  providerPaths,
  providerProblems,
  toProvider,
  toProviderDraft,
} from '../../src/console/model-providers/provider-draft.ts';
import {
  emptyKey,
  type KeyDraft,
  keyProblems,
  toKey,
  toKeyChange,
  toKeyDraft,
} from '../../src/console/virtual-keys/key-draft.ts';
import { maskProblems } from '../../src/rpc/update-mask.ts';

type BudgetInit = Exclude<MessageInitShape<typeof BudgetSchema>, { $typeName: string }>;

describe('what is left of a budget', () => {
  const roomOf = (limitUsd: string, spentUsd: string, reservedUsd: string) =>
    amountsOf(create(BudgetSchema, { limitUsd, spentUsd, reservedUsd } satisfies BudgetInit)).room;

  it.each([
    ['0.3', '0.1', '0.2', '0'],
    ['100', '82.5', '0', '17.5'],
    ['9007199.254740991', '0.000000001', '0', '9007199.25474099'],
    ['1', '0.999999999', '0.000000002', '-0.000000001'],
  ])('of $%s, with $%s spent and $%s reserved, is exactly $%s', (limit, spent, reserved, left) => {
    expect(roomOf(limit, spent, reserved)?.left).toBe(left);
  });

  it('never has shares of more than the whole limit', () => {
    expect(roomOf('10', '5', '2.5')).toMatchObject({ spentShare: 0.5, reservedShare: 0.25 });
    expect(roomOf('10', '8', '5')).toMatchObject({ spentShare: 0.8, reservedShare: expect.closeTo(0.2) });
    expect(roomOf('10', '12', '5')).toMatchObject({ left: '-7', spentShare: 1, reservedShare: 0 });
  });

  it('is unknown where each end user has the limit, because the sums are those of all', () => {
    const scope = { kind: BudgetScopeKind.ATTRIBUTED_USER, id: 'vk_1' };
    const budget = create(BudgetSchema, { limitUsd: '1', spentUsd: '7', reservedUsd: '0', scope } satisfies BudgetInit);
    expect(amountsOf(budget)).toEqual({ limit: '1', spent: '7', reserved: '0', room: null });
  });
});

const keyMaskProblems = (change: ReturnType<typeof toKeyChange>) =>
  maskProblems(
    VirtualKeyService.method.updateVirtualKey,
    create(UpdateVirtualKeyRequestSchema, { id: 'vk_1', ...change }),
  );

describe('the form of a virtual key', () => {
  const whole: KeyDraft = {
    name: 'checkout',
    projectId: 'project_1',
    description: 'Pays',
    principalUserId: 'user_1',
    externalId: 'ext-1',
    labels: 'shop\neu',
    metadata: '{"n":9007199254740993}',
    expires: '2030-01-02T03:04',
    rules: {
      ...{ models: 'gpt-5*\nsmall', providers: ['b', 'a'], attempts: '2', rpm: '600', tpm: '1000000', rpd: '5' },
      ...{ cacheMode: VirtualKeyCacheMode.EXACT, cacheSeconds: '60', pre: ['e1'], post: ['e2', 'e1'] },
      ...{ capture: VirtualKeyCapture.METADATA, allowUnpriced: true },
    },
  };

  it('keeps every field of a key, in its order', () => {
    const key = create(VirtualKeySchema, { ...toKey(whole), traceProjectId: whole.projectId });
    expect(toKeyDraft(key)).toEqual(whole);
    expect(key.config?.providers?.ids).toEqual(['b', 'a']);
    expect(key.metadataJson).toBe('{"n":9007199254740993}');
  });

  it('sends of a new key what was filled in, so that the rest has its default', () => {
    const { config, ...key } = toKey({ ...emptyKey('project_1'), name: ' checkout ', rules: whole.rules });
    expect(key).toEqual({ name: 'checkout', labels: [], metadataJson: '{}' });
    expect(config.rateLimits).toEqual({ rpm: 600n, tpm: 1_000_000n, rpd: 5n });
    expect(toKey(emptyKey('project_1')).config).toEqual({
      ...{ fallback: {}, rateLimits: {}, cache: { mode: VirtualKeyCacheMode.OFF }, guardrails: { pre: [], post: [] } },
      ...{ capture: VirtualKeyCapture.FULL, allowUnpriced: false },
    });
  });

  it('names in a change every field that it can empty', () => {
    const { updateMask } = toKeyChange({ ...emptyKey('project_1'), expires: whole.expires }, whole);
    expect(updateMask.paths).toEqual(
      expect.arrayContaining(['config.rate_limits.rpm', 'config.models_allowed', 'description']),
    );
  });

  it('sends an expiry only when it was changed, so that the stored one keeps its seconds', () => {
    const expiresAt = timestampFromDate(new Date('2030-01-02T03:04:05.678Z'));
    const stored = toKeyDraft(create(VirtualKeySchema, { name: 'a', expiresAt }));
    const renamed = toKeyChange({ ...stored, name: 'b' }, stored);
    expect(renamed.virtualKey).not.toHaveProperty('expiresAt');
    expect(renamed.updateMask.paths).not.toContain('expires_at');
    const ended = toKeyChange({ ...stored, expires: '' }, stored);
    expect(ended.virtualKey).not.toHaveProperty('expiresAt');
    expect(ended.updateMask.paths).toContain('expires_at');
    const moved = toKeyChange({ ...stored, expires: '2031-01-02T03:04' }, stored);
    expect(moved.virtualKey).toHaveProperty('expiresAt');
    for (const change of [renamed, ended, moved]) expect(keyMaskProblems(change)).toEqual([]);
  });

  it.each([
    ['every field', (draft: KeyDraft) => draft],
    ['another expiry', (draft: KeyDraft) => ({ ...draft, expires: '2031-01-02T03:04' })],
    ['empty fields', () => emptyKey('project_1')],
  ])('is accepted by the server with %s', (_, change) => {
    expect(keyMaskProblems(toKeyChange(change(whole), whole))).toEqual([]);
  });

  it.each(['shop', '[1]', 'null', '"a"'])('refuses the metadata %s', (metadata) => {
    expect(keyProblems({ ...whole, metadata })).toEqual([{ field: 'metadata', text: expect.any(String) }]);
    expect(keyProblems(whole)).toEqual([]);
  });
});

describe('the form of a model provider', () => {
  const draft: ProviderDraft = {
    ...{ name: 'House', kind: ModelProviderKind.AZURE_OPENAI, baseUrl: 'https://models.test/v1', apiKey: '' },
    ...{ forgetsKey: false, apiVersion: '2026-01-01', models: 'small\nlarge*', timeoutMs: '5000', streamUsage: false },
    ...{ aliases: 'fast = small\nbig = large=7', headers: 'X-Team: search: eu', projectIds: ['project_1'] },
  };

  it('keeps every field but the API key', () => {
    const provider = create(ModelProviderSchema, toProvider({ ...draft, apiKey: ' sk-secret ' }));
    expect(provider.apiKey).toBe('sk-secret');
    expect(JSON.parse(provider.aliasesJson ?? '')).toEqual({ fast: 'small', big: 'large=7' });
    expect(JSON.parse(provider.extraHeadersJson ?? '')).toEqual({ 'X-Team': 'search: eu' });
    expect(toProviderDraft(provider)).toEqual(draft);
  });

  it('names the API key in a change only when it is sent or removed', () => {
    expect(providerPaths(draft)).toContain('api_version');
    expect(providerPaths(draft)).not.toContain('api_key');
    expect(providerPaths({ ...draft, apiKey: 'sk-secret' })).toContain('api_key');
    expect(providerPaths({ ...draft, forgetsKey: true })).toContain('api_key');
    expect(toProvider({ ...draft, forgetsKey: true })).not.toHaveProperty('apiKey');
  });

  it('says which line is not a pair', () => {
    expect(providerProblems({ ...draft, aliases: 'fast', headers: ': text' })).toEqual([
      { field: 'aliases', text: '“fast” does not have the form “name = model”.' },
      { field: 'extra_headers', text: '“: text” does not have the form “Name: text”.' },
    ]);
    expect(providerProblems(draft)).toEqual([]);
  });
});

describe('a problem', () => {
  it.each([
    ['config.providers', 'config.providers'],
    ['config.providers[0]', 'config.providers'],
    ['config.rate_limits.rpm', 'config.rate_limits'],
  ])('of %s is shown at %s', (field, shownAt) => {
    expect(problemOf([{ field, text: 'wrong' }], shownAt)).toBe('wrong');
  });

  it('is not shown at a field whose name only begins like its own', () => {
    const problems = [{ field: 'names', text: 'wrong' }];
    expect([problemOf(problems, 'name'), problemOf(problems, undefined)]).toEqual([null, null]);
  });
});
