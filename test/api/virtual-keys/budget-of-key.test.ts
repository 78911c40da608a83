/** The budget that a virtual key is created with. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { reportRequests } from '../budgets/budgets-client.ts';
import { anyId, bearer, INSTANT } from '../organization/organization-client.ts';
import { type GatewayRequest, invoke, SURFACES } from './gateway-client.ts';

let app: TestApp;
let full = false;
beforeAll(async () => {
  app = await startApp({
    wrapStore: (store) => ({
      ...store,
      management: {
        ...store.management,
        countBudgets: async (organizationId) => (full ? 10_000 : await store.management.countBudgets(organizationId)),
      },
    }),
  });
});
afterAll(async () => {
  await app.close();
});

const LIMIT = { window: 'month', limit_usd: '10.5' };

async function read(path: string): Promise<Body> {
  return (await callRest(app.address, { path, headers: bearer(app.adminKey) })).body;
}

describe.each(SURFACES)('the budget of a new virtual key over %s', (surface) => {
  const create = (budget: unknown, request: GatewayRequest = {}, wanted: string | null = null) =>
    invoke(
      app,
      [surface, 'createVirtualKey'],
      { ...request, body: { name: 'checkout', trace_project_id: app.projectId, budget, ...request.body } },
      wanted,
    );
  const counts = async () => {
    const keys = await read('/api/gateway/v1/virtual-keys?limit=200');
    const budgets = await read('/api/gateway/v1/budgets?limit=200');
    return [keys.data.length, budgets.data.length];
  };

  it('is made with the key, named and scoped after it', async () => {
    const { virtual_key: key, budget, secret } = await create(LIMIT);
    expect(secret).toMatch(/^vk-lw-/);
    expect(budget).toEqual({
      id: anyId('budget'),
      ...{ name: 'checkout', scope: { kind: 'virtual_key', id: key.id }, ...LIMIT },
      ...{ on_breach: 'block', provider_id: null, reserve: 'expected', cycle_anchor_at: key.created_at },
      ...{ spent_usd: '0', reserved_usd: '0', period_started_at: key.created_at, resets_at: INSTANT },
      ...{ last_reset_at: null, last_reset_reason: null, archived_at: null },
      ...{ created_at: key.created_at, updated_at: key.created_at },
    });
    expect((await read(`/api/gateway/v1/budgets/${budget.id}`)).budget).toEqual(budget);
    const request = { gateway_request_id: hex(8), virtual_key_id: key.id, cost_usd: '0.25' };
    await reportRequests(app, Date.now(), [request]);
    expect((await read(`/api/gateway/v1/budgets/${budget.id}`)).budget.spent_usd).toBe('0.25');
    const audited = async (targetId: string) =>
      (await read(`/api/audit-log?targetId=${targetId}`)).data.map(({ action, outcome }: Body) => [action, outcome]);
    expect(await audited(key.id)).toEqual([['virtualKey.create', 'success']]);
    expect(await audited(budget.id)).toEqual([['budget.create', 'success']]);
  });

  it('keeps every field that it was given', async () => {
    const every = {
      ...{ name: 'Limit', window: 'total', limit_usd: '0.000000001', on_breach: 'warn', provider_id: 'openai' },
      ...{ reserve: 'worst', cycle_anchor_at: '2020-02-29T00:00:00.000Z' },
    };
    expect((await create(every)).budget).toMatchObject(every);
  });

  it('is none where none was sent', async () => {
    const before = await counts();
    expect((await create(undefined)).budget).toBeNull();
    expect((await create(null)).budget).toBeNull();
    expect(await counts()).toEqual([Number(before[0]) + 2, before[1]]);
  });

  it.each<readonly [field: string, budget: Body]>([
    ['budget.name', { name: ' ' }],
    ['budget.name', { name: 'x'.repeat(129) }],
    ['budget.window', { window: undefined }],
    ['budget.limit_usd', { limit_usd: undefined }],
    ['budget.limit_usd', { limit_usd: '0' }],
    ['budget.limit_usd', { limit_usd: '1e3' }],
    ['budget.provider_id', { provider_id: '' }],
    ['budget.cycle_anchor_at', { cycle_anchor_at: '1999-12-31T23:59:59Z' }],
    ['budget.cycle_anchor_at', { cycle_anchor_at: '2098-01-01T00:00:00Z', window: 'total' }],
  ])('with a bad %s is refused with the key: %j', async (field, change) => {
    const before = await counts();
    const error = await create({ ...LIMIT, ...change }, {}, '400 validation_error');
    const { fields, reasons } =
      typeof error.meta.fields === 'string'
        ? { fields: JSON.parse(error.meta.fields), reasons: null }
        : { fields: error.meta.fields, reasons: error.meta.reasons };
    expect(fields).toEqual([field]);
    if (reasons !== null) expect(reasons[0].message).toMatch(new RegExp(`^${field} `));
    expect(await counts()).toEqual(before);
  });

  it('needs gatewayBudgets:manage at the project; without it nothing is made', async () => {
    const permissions = ['virtualKeys:create', 'virtualKeys:view', 'gatewayBudgets:view'];
    const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, permissions)] });
    const before = await counts();
    const error = await create(LIMIT, { token }, '403 insufficient_permissions');
    expect(JSON.stringify(error.meta)).toContain('gatewayBudgets:manage');
    expect(await counts()).toEqual(before);
    await create(undefined, { token });
    const both = ['virtualKeys:create', 'virtualKeys:view', 'gatewayBudgets:manage'];
    const able = await addKey(app, { bindings: [custom('PROJECT', app.projectId, both)] });
    expect((await create(LIMIT, { token: able })).budget).toMatchObject(LIMIT);
  });

  it('counts for the limit of budgets; past it no key is made', async () => {
    const before = await counts();
    full = true;
    try {
      await create(LIMIT, {}, '400 budget_limit_reached');
      await create(undefined);
    } finally {
      full = false;
    }
    expect(await counts()).toEqual([Number(before[0]) + 1, before[1]]);
  });

  it('is answered again to a repeated request, and made once', async () => {
    const headers = { 'idempotency-key': `key-${hex(16)}` };
    const first = await create(LIMIT, { headers });
    const before = await counts();
    expect(await create(LIMIT, { headers })).toEqual(first);
    expect(await counts()).toEqual(before);
    await create({ ...LIMIT, limit_usd: '11' }, { headers }, '409 idempotency_error');
  });
});

it('a member that a budget of a key does not have refuses the request', async () => {
  const body = {
    ...{ name: 'k', trace_project_id: app.projectId },
    budget: { ...LIMIT, scope: { kind: 'organization' } },
  };
  const answer = await callRest(app.address, {
    ...{ verb: 'POST', path: '/api/gateway/v1/virtual-keys', headers: bearer(app.adminKey), body },
  });
  expect([answer.status, answer.body.error.meta.fields]).toEqual([400, ['budget.scope']]);
});
