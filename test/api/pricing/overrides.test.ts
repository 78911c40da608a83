import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OverrideMatch, PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex, llmTrace } from '../../support/fixtures.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { addForeign } from '../access/foreign.ts';
import { act, anyId, askAll, bearer, expectOnlyApiKeys } from '../organization/organization-client.ts';

const { createOverride, listOverrides, deleteOverride } = PricingService.method;
const PATH = '/api/pricing/overrides';
const OVERRIDES_MAX = 200;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const list = { rest: { path: PATH }, method: listOverrides, request: {} };
const FREE = { match: 'exact', inputCostPerToken: 0, outputCostPerToken: 0 };

function create(body: Body) {
  const match = body.match === 'regex' ? OverrideMatch.REGEX : OverrideMatch.EXACT;
  return { rest: { verb: 'POST', path: PATH, body }, method: createOverride, request: { ...body, match } };
}

function remove(id: string) {
  return { rest: { verb: 'DELETE', path: `${PATH}/${id}` }, method: deleteOverride, request: { id } };
}

/** Sends a span; returns the stored cost and the trace id. */
async function priced(span: Body): Promise<{ readonly cost: number | null; readonly traceId: string }> {
  const traceId = hex(32);
  const sent = llmTrace(Date.now(), traceId);
  const body = { ...sent, spans: [{ ...sent.spans[0], ...span }] };
  const headers = bearer(app.projectKey);
  expect(await callRest(app.address, { verb: 'POST', path: '/api/collector', headers, body })).toMatchObject({
    status: 200,
  });
  return { cost: await readCost(traceId), traceId };
}

async function readCost(traceId: string): Promise<number | null> {
  const headers = bearer(app.projectKey);
  const { body } = await callRest(app.address, { path: `/api/traces/${traceId}`, headers });
  expect(body.metrics.total_cost).toBe(body.spans[0].metrics.cost);
  return body.metrics.total_cost;
}

describe('price overrides, over REST and gRPC', () => {
  it('are made with every field, listed newest first and deleted', async () => {
    const body = {
      model: 'in-house',
      match: 'exact',
      inputCostPerToken: 0.000001,
      outputCostPerToken: 1e-12,
      cacheReadCostPerToken: 0,
      cacheWriteCostPerToken: 1,
      effectiveFrom: 1_700_000_000_000,
    };
    const request = { ...body, match: OverrideMatch.EXACT, effectiveFrom: { seconds: 1_700_000_000n, nanos: 0 } };
    const made: string[] = [];
    await askAll(
      app,
      { ...create(body), request },
      {
        status: 201,
        check(answer) {
          expect(answer).toEqual({ id: anyId('override'), ...body, createdAt: expect.any(Number) });
          made.unshift(answer.id);
        },
      },
    );
    const least = { model: 'gpt-.*', match: 'regex', inputCostPerToken: 0.5, outputCostPerToken: 0 };
    const unset = { cacheReadCostPerToken: null, cacheWriteCostPerToken: null, effectiveFrom: null };
    await askAll(app, create(least), {
      status: 201,
      check(answer) {
        expect(answer).toMatchObject({ ...least, ...unset });
        made.unshift(answer.id);
      },
    });
    await askAll(app, list, {
      status: 200,
      check: ({ data }) => expect(data.map(({ id }: Body) => id).sort()).toEqual(made.toSorted()),
    });
    for (const [index, id] of made.entries()) {
      if (index === 0) await askDeleted(id);
      else await act(app, 'DELETE', `${PATH}/${id}`);
    }
    await askAll(app, list, { status: 200, check: (answer) => expect(answer).toEqual({ data: [] }) });
  });

  async function askDeleted(id: string): Promise<void> {
    const answer = await callRest(app.address, { ...remove(id).rest, headers: bearer(app.adminKey) });
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    await askAll(app, remove(id), { status: 404, code: 'price_override_not_found' });
  }

  it.each([
    ['model', { model: '' }],
    ['model', { model: 'x'.repeat(513) }],
    ['model', { model: 'a\0' }],
    ['inputCostPerToken', { inputCostPerToken: -0.1 }],
    ['inputCostPerToken', { inputCostPerToken: 1.1 }],
    ['outputCostPerToken', { outputCostPerToken: 1e-13 }],
    ['outputCostPerToken', { outputCostPerToken: 0.0000000000015 }],
    ['cacheReadCostPerToken', { cacheReadCostPerToken: 2 }],
    ['cacheWriteCostPerToken', { cacheWriteCostPerToken: -1 }],
    ['model', { match: 'regex', model: '(' }],
    ['model', { match: 'regex', model: '(?=ahead)' }],
    ['model', { match: 'regex', model: 'a{1001}' }],
  ])('refuse a wrong %s: %j', async (field, wrong) => {
    const check = (body: Body) => expect(body.fields).toEqual([field]);
    await askAll(app, create({ model: 'm', ...FREE, ...wrong }), { status: 422, code: 'validation_error', check });
  });

  it.each([
    ['model', { model: null }],
    ['match', { match: 'glob' }],
    ['inputCostPerToken', { inputCostPerToken: '1' }],
    ['outputCostPerToken', { outputCostPerToken: null }],
    ['effectiveFrom', { effectiveFrom: 'tomorrow' }],
  ])('refuse a %s of another type: %j', async (field, wrong) => {
    const rest = { ...create({ model: 'm', ...FREE, ...wrong }).rest, headers: bearer(app.adminKey) };
    expect(await callRest(app.address, rest)).toMatchObject({ status: 422, body: { fields: [field] } });
  });

  it('refuse rates that are not numbers over gRPC', async () => {
    for (const inputCostPerToken of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const request = { model: 'm', match: OverrideMatch.EXACT, inputCostPerToken, outputCostPerToken: 0 };
      const answer = await callRpc(app.address, { method: createOverride, headers: bearer(app.adminKey), request });
      expect(answer).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['inputCostPerToken'] } });
    }
  });

  it('are for API keys with the permission only', async () => {
    const at = [custom('ORGANIZATION', app.organizationId, ['organization:view'])];
    const viewer = bearer(await addKey(app, { bindings: at }));
    const check = (body: object) => expect(body).toMatchObject({ requiredPermission: 'organization:manage' });
    const refused = { headers: viewer, status: 403, code: 'insufficient_permissions', check };
    await askAll(app, list, { headers: viewer, status: 200 });
    await askAll(app, create({ model: 'm', ...FREE }), refused);
    await askAll(app, remove('override_1'), refused);
    await expectOnlyApiKeys(app, create({ model: 'm', ...FREE }));
    await expectOnlyApiKeys(app, remove('override_1'));
    await expectOnlyApiKeys(app, list);
  });

  it('of another organization are unknown, and price nothing here', async () => {
    const foreign = await addForeign(app);
    const headers = bearer(foreign.token);
    const body = { model: 'gpt-5', match: 'exact', inputCostPerToken: 1, outputCostPerToken: 1 };
    const made = await callRest(app.address, { verb: 'POST', path: PATH, body, headers });
    expect(made.status).toBe(201);
    await askAll(app, remove(made.body.id), { status: 404, code: 'price_override_not_found' });
    await askAll(app, list, { status: 200, check: (answer) => expect(answer.data).toEqual([]) });
    expect((await priced({})).cost).toBe(0.001625);
  });
});

describe('spans and reports', () => {
  it('T4: use the override from the next request on, and keep its cost', async () => {
    const before = await priced({});
    const { id } = await act(app, 'POST', PATH, { ...FREE, model: 'GPT-5', inputCostPerToken: 0.01 });
    const within = await priced({});
    expect(within.cost).toBe(1);
    const explicit = await priced({ metrics: { prompt_tokens: 100, cost: 7 } });
    expect(explicit.cost).toBe(7);
    await act(app, 'DELETE', `${PATH}/${id}`);
    expect((await priced({})).cost).toBe(0.001625);
    expect(await readCost(before.traceId)).toBe(0.001625);
    expect(await readCost(within.traceId)).toBe(1);
  });

  it('are priced by regexes for whole names, those of OpenTelemetry too', async () => {
    const { id } = await act(app, 'POST', PATH, {
      ...FREE,
      match: 'regex',
      model: 'house-\\d+',
      inputCostPerToken: 0.01,
    });
    expect((await priced({ model: 'HOUSE-12' })).cost).toBe(1);
    expect((await priced({ model: 'my-house-12' })).cost).toBeNull();
    const traceId = hex(32);
    const attributes = [
      { key: 'gen_ai.request.model', value: { stringValue: 'house-7' } },
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '3' } },
    ];
    const nano = `${Date.now()}000000`;
    const span = { traceId, spanId: hex(16), name: 'chat', startTimeUnixNano: nano, endTimeUnixNano: nano, attributes };
    const body = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
    const headers = bearer(app.projectKey);
    const sent = await fetchChecked(app.address, '/api/otel/v1/traces', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(sent.status).toBe(200);
    expect(await readCost(traceId)).toBe(0.03);
    await act(app, 'DELETE', `${PATH}/${id}`);
  });

  it('of gateways have it, and spans from before it takes effect do not', async () => {
    const occurred_at = Date.now() - 1000;
    await act(app, 'POST', PATH, { ...FREE, model: 'later', inputCostPerToken: 0.01, effectiveFrom: occurred_at });
    const record = { project_id: app.projectId, status: 'success', model: 'later', usage: { input_tokens: 2 } };
    const records = [
      { ...record, gateway_request_id: 'gw-in-force', occurred_at },
      { ...record, gateway_request_id: 'gw-before', occurred_at: occurred_at - 1 },
    ];
    const answer = await act(app, 'POST', '/api/gateway/v1/requests', { records });
    expect(answer).toMatchObject({ accepted: 2 });
    const { data } = await act(
      app,
      'GET',
      `/api/webhooks/v1/events?from=${occurred_at - 60_000}&to=${Date.now() + 60_000}`,
    );
    const costs = new Map(data.map(({ data: said }: Body) => [said.gateway_request_id, said.cost]));
    expect(costs.get('gw-in-force')).toMatchObject({ nano_usd: 20_000_000, rate_version: null });
    expect(costs.get('gw-before')).toBeNull();
  });
});

it('an organization has a number of overrides, and patterns of a size, that it cannot exceed', async () => {
  const rich = bearer((await addForeign(app)).token);
  const make = async (body: Body) =>
    await callRest(app.address, { verb: 'POST', path: PATH, headers: rich, body: { ...FREE, ...body } });
  expect(await make({ match: 'regex', model: '[a-z]{700}' })).toMatchObject({ status: 201 });
  expect(await make({ match: 'regex', model: '(a|b){900}' })).toMatchObject({
    status: 422,
    body: { code: 'price_override_limit_reached' },
  });
  for (let count = 1; count < OVERRIDES_MAX; count += 1) expect((await make({ model: `m-${count}` })).status).toBe(201);
  expect(await make({ model: 'one-more' })).toMatchObject({
    status: 422,
    body: { code: 'price_override_limit_reached' },
  });
});

it('the audit log records who created and deleted them', async () => {
  const { id } = await act(app, 'POST', PATH, { ...FREE, model: 'audited' });
  await act(app, 'DELETE', `${PATH}/${id}`);
  const { data } = await act(app, 'GET', `/api/audit-log?targetId=${id}`);
  const common = { targetType: 'priceOverride', targetId: id, outcome: 'success' };
  expect(data).toMatchObject([
    { ...common, action: 'priceOverride.delete', status: 200 },
    { ...common, action: 'priceOverride.create', status: 201 },
  ]);
});
