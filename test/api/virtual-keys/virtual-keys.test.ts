import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSecret } from '../../../src/domain/secrets.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { callRest } from '../../support/surfaces.ts';
import { anyId, INSTANT } from '../organization/organization-client.ts';
import {
  addProvider,
  addVirtualKey,
  freshName,
  type GatewayRequest,
  invoke,
  type Operation,
  SURFACES,
  VIRTUAL_KEYS,
} from './gateway-client.ts';

const clock = { aheadMs: 0 };
let app: TestApp;
let otherProject: string;
beforeAll(async () => {
  app = await startApp({ clock: () => Date.now() + clock.aheadMs });
  otherProject = (await act('POST', '/api/projects', { name: 'other' })).id;
});
afterAll(async () => {
  await app.close();
});

async function act(verb: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const answer = await callRest(app.address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** What a gateway finds under a secret. */
async function find(secret: string) {
  return await app.store.keys.findVirtualKey(hashSecret(app.rootKeys.pepper, secret), Date.now() + clock.aheadMs);
}

const DEFAULTS = {
  models_allowed: null,
  providers: null,
  fallback: { max_attempts: 3 },
  rate_limits: { rpm: null, tpm: null, rpd: null },
  cache: { mode: 'off', ttl_s: 3_600 },
  guardrails: { pre: [], post: [] },
  capture: 'full',
  allow_unpriced: false,
};

describe.each(SURFACES)('a virtual key over %s', (surface) => {
  const ask = (operation: Operation, request: GatewayRequest, wanted: string | null = null) =>
    invoke(app, [surface, operation], request, wanted);

  it('is created with its secret, which is never read again', async () => {
    const body = { name: 'checkout', trace_project_id: app.projectId };
    const { virtual_key: key, secret, ...rest } = await ask('createVirtualKey', { body });
    expect(rest).toEqual({ budget: null });
    expect(secret).toMatch(/^vk-lw-[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(key).toEqual({
      id: anyId('vk'),
      organization_id: app.organizationId,
      name: 'checkout',
      description: null,
      status: 'active',
      display_prefix: secret.slice(0, 10),
      principal_user_id: null,
      trace_project_id: app.projectId,
      external_id: null,
      metadata: {},
      labels: [],
      config: DEFAULTS,
      revision: 1,
      created_at: INSTANT,
      updated_at: INSTANT,
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      previous_secret_until: null,
    });
    expect(await ask('getVirtualKey', { id: key.id })).toEqual({ virtual_key: key });
    expect((await find(secret))?.key.id).toBe(key.id);
  });

  it('keeps what it was given', async () => {
    const provider = await addProvider(app);
    const body = {
      name: 'whole',
      trace_project_id: app.projectId,
      description: 'of the shop',
      principal_user_id: app.userId,
      external_id: freshName('tenant'),
      metadata: { team: 'a', nested: [1, 2.5] },
      labels: ['eu', 'prod'],
      expires_at: '2099-01-01T00:00:00.000Z',
      config: {
        models_allowed: ['gpt-5*'],
        providers: [provider.id],
        fallback: { max_attempts: 1 },
        rate_limits: { rpm: 60, tpm: 100_000, rpd: null },
        cache: { mode: 'exact', ttl_s: 60 },
        guardrails: { pre: [], post: [] },
        capture: 'metadata',
        allow_unpriced: true,
      },
    };
    const { virtual_key: key } = await ask('createVirtualKey', { body });
    expect(key).toMatchObject(body);
  });

  it.each<readonly [string, object, readonly string[]]>([
    ['no name and no project', { name: undefined, trace_project_id: undefined }, ['name', 'trace_project_id']],
    ['a blank name', { name: '  ' }, ['name']],
    ['41 members of metadata', { metadata: Object.fromEntries([...Array(41)].map((_, i) => [i, 0])) }, ['metadata']],
    ['metadata as a list', { metadata: [] }, ['metadata']],
    ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
    ['an empty label', { labels: [''] }, ['labels.0']],
    ['no models at all', { config: { models_allowed: [] } }, ['config.models_allowed']],
    ['six attempts', { config: { fallback: { max_attempts: 6 } } }, ['config.fallback.max_attempts']],
    ['a limit of nothing', { config: { rate_limits: { rpm: 0 } } }, ['config.rate_limits.rpm']],
    ['a cache of two days', { config: { cache: { ttl_s: 172_800 } } }, ['config.cache.ttl_s']],
    ['a guardrail twice', { config: { guardrails: { pre: ['a', 'a'] } } }, ['config.guardrails.pre']],
  ])('is refused with %s', async (_, change, fields) => {
    const body = { name: 'bad', trace_project_id: app.projectId, ...change };
    const error = await ask('createVirtualKey', { body }, '400 validation_error');
    expect(error.meta.fields ?? JSON.parse(error.meta)).toEqual(fields);
  });

  it('reaches no more than its creator', async () => {
    const permissions = ['virtualKeys:create', 'virtualKeys:view'];
    const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, permissions)] });
    const create = (body: object, wanted: string | null) =>
      ask('createVirtualKey', { token, body: { name: 'narrow', trace_project_id: app.projectId, ...body } }, wanted);
    await create({}, null);
    const errors = [];
    for (const trace_project_id of [otherProject, 'project_unknown']) {
      errors.push(await create({ trace_project_id }, '403 api_key_scope_violation'));
    }
    expect(errors[0].message).toBe(errors[1].message);
    const { id: provider } = await addProvider(app, { project_ids: [otherProject] });
    for (const id of [provider, 'modelprovider_unknown']) {
      await create({ config: { providers: [id] } }, '403 api_key_scope_violation');
    }
    await create({ principal_user_id: 'user_unknown' }, '404 member_not_found');
    await create({ config: { guardrails: { pre: ['evaluator_unknown'] } } }, '404 evaluator_not_found');
    const powerless = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['virtualKeys:view'])] });
    await ask(
      'createVirtualKey',
      { token: powerless, body: { name: 'none', trace_project_id: app.projectId } },
      '403 insufficient_permissions',
    );
  });

  it('asks for each permission at its project', async () => {
    const { virtual_key: key } = await addVirtualKey(app);
    const { virtual_key: hidden } = await addVirtualKey(app, { trace_project_id: otherProject });
    const tokenOf = async (...permissions: string[]) =>
      await addKey(app, { bindings: [custom('PROJECT', app.projectId, permissions)] });
    const seer = await tokenOf('virtualKeys:view');
    const range = { from: '0', to: '1' };
    await ask('getVirtualKey', { token: seer, id: key.id });
    await ask('getVirtualKeySpend', { token: seer, id: key.id, query: range });
    const changes: readonly (readonly [Operation, string, object])[] = [
      ['updateVirtualKey', 'virtualKeys:update', { name: 'changed' }],
      ['rotateVirtualKey', 'virtualKeys:rotate', { overlap_s: 0 }],
      ['disableVirtualKey', 'virtualKeys:manage', {}],
      ['enableVirtualKey', 'virtualKeys:manage', {}],
    ];
    for (const [operation, permission, body] of changes) {
      await ask(operation, { token: seer, id: key.id, body }, '403 insufficient_permissions');
      const token = await tokenOf('virtualKeys:view', permission);
      await ask(operation, { token, id: key.id, body });
      await ask(operation, { token, id: hidden.id, body }, '404 virtual_key_not_found');
    }
    await ask('revokeVirtualKey', { token: seer, id: key.id, body: {} }, '403 insufficient_permissions');
    await ask('getVirtualKey', { token: seer, id: hidden.id }, '404 virtual_key_not_found');
    await ask('getVirtualKeySpend', { token: seer, id: hidden.id, query: range }, '404 virtual_key_not_found');
    await ask('getVirtualKey', { id: 'vk_unknown' }, '404 virtual_key_not_found');
    const { data } = await ask('listVirtualKeys', { token: seer, query: { limit: '200' } });
    expect(data.some(({ id }: { id: string }) => id === key.id)).toBe(true);
    expect(data.some(({ id }: { id: string }) => id === hidden.id)).toBe(false);
  });

  it('merges its config member by member, and replaces lists', async () => {
    const config = { models_allowed: ['a', 'b'], rate_limits: { rpm: 1, tpm: 2 }, capture: 'metadata' };
    const { virtual_key: key } = await addVirtualKey(app, { config });
    const change = async (body: object) => (await ask('updateVirtualKey', { id: key.id, body })).virtual_key;
    expect((await change({ config: { rate_limits: { rpm: 7 } } })).config).toEqual({
      ...DEFAULTS,
      ...config,
      rate_limits: { rpm: 7, tpm: 2, rpd: null },
    });
    expect((await change({ config: { models_allowed: ['c'] } })).config.models_allowed).toEqual(['c']);
    expect((await change({ config: { rate_limits: { tpm: null } } })).config.rate_limits.tpm).toBeNull();
    expect((await change({ config: {} })).config.models_allowed).toEqual(['c']);
    const cleared = await change({ config: { models_allowed: null }, labels: ['x'], description: 'd' });
    expect(cleared).toMatchObject({
      labels: ['x'],
      description: 'd',
      config: { models_allowed: null, capture: 'metadata' },
    });
    expect(await change({ description: null, labels: [] })).toMatchObject({ description: null, labels: [] });
  });

  it('counts its revisions, and a change may require one', async () => {
    const { virtual_key: key } = await addVirtualKey(app);
    const same = await ask('updateVirtualKey', { id: key.id, body: { name: key.name } });
    expect(same.virtual_key).toEqual(key);
    const body = { name: 'second', expected_revision: 1 };
    expect((await ask('updateVirtualKey', { id: key.id, body })).virtual_key).toMatchObject({ revision: 2 });
    const error = await ask(
      'updateVirtualKey',
      { id: key.id, body: { ...body, name: 'third' } },
      '409 revision_mismatch',
    );
    expect(JSON.stringify(error.meta)).toContain('2');
    expect((await ask('getVirtualKey', { id: key.id })).virtual_key.name).toBe('second');
  });

  it('has an external id of its own, by which it is listed', async () => {
    const external_id = freshName('tenant');
    const { virtual_key: key } = await addVirtualKey(app, { external_id });
    const body = { name: 'twin', trace_project_id: app.projectId, external_id };
    await ask('createVirtualKey', { body }, '409 virtual_key_external_id_taken');
    const { virtual_key: other } = await addVirtualKey(app);
    await ask('updateVirtualKey', { id: other.id, body: { external_id } }, '409 virtual_key_external_id_taken');
    const { data, next_cursor } = await ask('listVirtualKeys', { query: { external_id } });
    expect([data, next_cursor]).toEqual([[key], null]);
  });

  it('is rotated with an overlap, after which the secret before ends', async () => {
    const { virtual_key: key, secret } = await addVirtualKey(app);
    const rotate = (body: object) => ask('rotateVirtualKey', { id: key.id, body });
    const first = await rotate({ overlap_s: 60 });
    expect(first.secret).not.toBe(secret);
    expect(first.virtual_key).toMatchObject({ id: key.id, previous_secret_until: INSTANT, revision: 2 });
    expect([(await find(secret))?.key.id, (await find(first.secret))?.key.id]).toEqual([key.id, key.id]);
    clock.aheadMs += 61_000;
    expect(await find(secret)).toBeNull();
    expect((await ask('getVirtualKey', { id: key.id })).virtual_key.previous_secret_until).toBeNull();
    const second = await rotate({});
    expect(await find(first.secret)).not.toBeNull();
    const third = await rotate({ overlap_s: 0 });
    for (const ended of [secret, first.secret, second.secret]) expect(await find(ended)).toBeNull();
    expect((await find(third.secret))?.key.id).toBe(key.id);
  });

  it('is disabled and enabled again', async () => {
    const { virtual_key: key, secret } = await addVirtualKey(app);
    const disabled = await ask('disableVirtualKey', { id: key.id, body: { reason: 'leaked?' } });
    expect(disabled.virtual_key).toMatchObject({ status: 'disabled', revision: 2 });
    expect((await find(secret))?.key.status).toBe('disabled');
    const again = await ask('disableVirtualKey', { id: key.id, body: {} });
    expect(again.virtual_key.revision).toBe(2);
    const enabled = await ask('enableVirtualKey', { id: key.id, body: { reason: null } });
    expect(enabled.virtual_key).toMatchObject({ status: 'active', revision: 3 });
    const reason = 'x'.repeat(501);
    await ask('disableVirtualKey', { id: key.id, body: { reason } }, '400 validation_error');
  });

  it('is revoked for good', async () => {
    const { virtual_key: key, secret } = await addVirtualKey(app);
    const { secret: rotated } = await ask('rotateVirtualKey', { id: key.id, body: {} });
    const revoked = await ask('revokeVirtualKey', { id: key.id, body: {} });
    expect(revoked.virtual_key).toMatchObject({ status: 'revoked', revoked_at: INSTANT, previous_secret_until: null });
    expect(await find(secret)).toBeNull();
    expect((await find(rotated))?.key.status).toBe('revoked');
    for (const operation of [
      'revokeVirtualKey',
      'disableVirtualKey',
      'enableVirtualKey',
      'rotateVirtualKey',
    ] as const) {
      await ask(operation, { id: key.id, body: {} }, '409 virtual_key_already_revoked');
    }
    await ask('updateVirtualKey', { id: key.id, body: { name: 'alive' } }, '409 virtual_key_already_revoked');
    expect((await ask('getVirtualKey', { id: key.id })).virtual_key.status).toBe('revoked');
  });

  it('sums up the requests made with it', async () => {
    const { virtual_key: key } = await addVirtualKey(app);
    const occurred_at = Date.now();
    const records = ['5', '7'].map((cost_usd, index) => ({
      gateway_request_id: `${surface}-${index}-${randomBytes(4).toString('hex')}`,
      status: 'success',
      project_id: app.projectId,
      occurred_at,
      virtual_key_id: index === 0 ? key.id : 'vk_of_somebody_else',
      cost_usd,
    }));
    await act('POST', '/api/gateway/v1/requests', { records });
    const query = { from: String(occurred_at), to: String(occurred_at) };
    const { total } = await ask('getVirtualKeySpend', { id: key.id, query });
    expect(total).toMatchObject({ requests: 1, cost: { total_usd: '5' } });
    await ask('getVirtualKeySpend', { id: key.id, query: { from: '2', to: '1' } }, '400 validation_error');
  });
});

it('If-Match is the revision, in quotes or without', async () => {
  const { virtual_key: key } = await addVirtualKey(app);
  const patch = (match: string, name: string) =>
    callRest(app.address, {
      verb: 'PATCH',
      path: `${VIRTUAL_KEYS}/${key.id}`,
      headers: { authorization: `Bearer ${app.adminKey}`, 'if-match': match },
      body: { name },
    });
  expect((await patch('1', 'one')).status).toBe(200);
  expect((await patch('"2"', 'two')).status).toBe(200);
  const stale = await patch('2', 'three');
  expect([stale.status, stale.body.error.code]).toEqual([409, 'revision_mismatch']);
  const wrong = await patch('latest', 'four');
  expect([wrong.status, wrong.body.error.code, wrong.body.error.meta.target]).toEqual([
    400,
    'validation_error',
    'header',
  ]);
});

it('keys are listed page by page, newest first, each once', async () => {
  const fresh = await startApp();
  try {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.unshift((await addVirtualKey(fresh)).virtual_key.id);
    for (const surface of SURFACES) {
      const walked: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: Record<string, string> = { limit: '2', ...(cursor === '' ? {} : { cursor }) };
        const page = await invoke(fresh, [surface, 'listVirtualKeys'], { query });
        walked.push(...page.data.map(({ id }: { id: string }) => id));
        cursor = page.next_cursor;
      }
      expect(walked.toSorted()).toEqual(ids.toSorted());
      await invoke(fresh, [surface, 'listVirtualKeys'], { query: { cursor: 'nonsense' } }, '400 invalid_cursor');
    }
  } finally {
    await fresh.close();
  }
});

describe.each(SURFACES)('over %s a key that expires', (surface) => {
  it('makes no virtual key that works longer, and lets none work longer', async () => {
    const expiresAtMs = Date.now() + 3_600_000;
    const [until, later] = [expiresAtMs, expiresAtMs + 1].map((atMs) => new Date(atMs).toISOString());
    const bindings = [custom('PROJECT', app.projectId, ['virtualKeys:manage'])];
    const token = await addKey(app, { bindings, expiresAtMs });
    const body = { name: 'brief', trace_project_id: app.projectId };
    const ask = (operation: Parameters<typeof invoke>[1][1], request: object, wanted: string | null = null) =>
      invoke(app, [surface, operation], { token, ...request }, wanted);
    const { virtual_key: made } = await ask('createVirtualKey', { body });
    expect(made.expires_at).toBe(until);
    await ask('createVirtualKey', { body: { ...body, expires_at: later } }, '403 api_key_scope_violation');
    const { virtual_key: lasting } = await addVirtualKey(app);
    for (const { id } of [made, lasting]) {
      await ask('updateVirtualKey', { id, body: { expires_at: later } }, '403 api_key_scope_violation');
      await ask('updateVirtualKey', { id, body: { name: 'renamed' } });
    }
    await ask('updateVirtualKey', { id: made.id, body: { expires_at: null } }, '403 api_key_scope_violation');
    await ask('updateVirtualKey', { id: lasting.id, body: { expires_at: until } });
    const brief = await invoke(app, [surface, 'updateVirtualKey'], { id: made.id, body: { expires_at: null } });
    expect(brief.virtual_key.expires_at).toBeNull();
  });
});

it('a repeated creation and a repeated rotation answer the first secret', async () => {
  const once = async (path: string, body: object, key: string) => {
    const headers = { authorization: `Bearer ${app.adminKey}`, 'idempotency-key': key };
    const call = () => callRest(app.address, { verb: 'POST', path, headers, body });
    const [first, second] = [await call(), await call()];
    expect(first.status, first.text).toBeLessThan(300);
    expect(second.body).toEqual(first.body);
    return first.body;
  };
  const body = { name: 'once', trace_project_id: app.projectId };
  const { virtual_key: key } = await once(VIRTUAL_KEYS, body, 'a key only once');
  const rotated = await once(`${VIRTUAL_KEYS}/${key.id}/rotate`, {}, 'rotated only once');
  expect(rotated.virtual_key.revision).toBe(2);
});

it('a member that the contract does not have is refused with the nearest name', async () => {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const body = { name: 'typo', trace_project_id: app.projectId, config: { models_alowed: ['gpt-5'] } };
  const { body: answer } = await callRest(app.address, { verb: 'POST', path: VIRTUAL_KEYS, headers, body });
  expect(answer.error.code).toBe('validation_error');
  expect(answer.error.message).toContain('config.models_allowed');
});

it('the key of an archived project is found by nobody', async () => {
  const { id } = await act('POST', '/api/projects', { name: 'short-lived' });
  const { virtual_key: key, secret } = await addVirtualKey(app, { trace_project_id: id });
  expect((await find(secret))?.project.id).toBe(id);
  await act('DELETE', `/api/projects/${id}`);
  expect(await find(secret)).toBeNull();
  expect((await invoke(app, ['REST', 'getVirtualKey'], { id: key.id })).virtual_key.id).toBe(key.id);
});
