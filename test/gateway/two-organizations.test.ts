/** A virtual key of one organization reaches nothing of another. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addOrganization } from '../../src/domain/organization/bootstrap.ts';
import { callRest } from '../support/surfaces.ts';
import { CHAT, type GatewayFixture, gatewayKit, MODEL, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
const KEYS = '/api/gateway/v1/virtual-keys';

type Kit = ReturnType<typeof gatewayKit>;
type Side = {
  readonly kit: Kit;
  readonly adminKey: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly provider: string;
  readonly keyId: string;
  readonly secret: string;
};

let gateway: GatewayFixture;
let first: Side;
let second: Side;
beforeAll(async () => {
  gateway = await startGateway();
  const { app, mock } = gateway;
  const deps = { store: app.store.installation, rootKeys: app.rootKeys, keyPrefixes: ['sk-lw-'], random: randomBytes };
  const options = { organizationName: 'Second', teamName: 'T', projectName: 'P', adminEmail: 'ann@example.com' };
  const printed = new Map(await addOrganization(deps, options, Date.now()));
  const named = (name: string) => printed.get(name) ?? '';
  const other = {
    address: app.address,
    organizationId: named('SPANDREL_ORGANIZATION_ID'),
    projectId: named('SPANDREL_PROJECT_ID'),
    adminKey: named('SPANDREL_ADMIN_KEY'),
    projectKey: named('SPANDREL_PROJECT_KEY'),
  };
  const fill = async (of: typeof other): Promise<Side> => {
    const kit = gatewayKit(of, mock);
    const shared = { kind: 'openai_compatible', extra_headers: { 'x-of': of.organizationId } };
    const provider = await kit.addProvider({ ...shared, name: `of ${of.organizationId}`, models: [MODEL] });
    const config = { providers: [provider], cache: { mode: 'exact', ttl_s: 600 } };
    const { id, secret } = await kit.addKey({ config });
    return { ...of, kit, provider, keyId: id, secret };
  };
  first = await fill(app);
  second = await fill(other);
});
afterAll(() => gateway.close());

/** Whose provider served the newest request. */
const servedBy = () => gateway.mock.requests.at(-1)?.headers['x-of'];

it('its requests go to providers of its own alone, also by name', async () => {
  for (const { kit, secret, organizationId } of [first, second]) {
    expect((await kit.send(PATH, { secret, body: CHAT, headers: { 'cache-control': 'no-store' } })).status).toBe(200);
    expect(servedBy()).toBe(organizationId);
  }
  const { kit, secret, organizationId } = second;
  const named = [`of ${first.organizationId}/${MODEL}`, `${first.provider}/${MODEL}`, `openai/${MODEL}`];
  for (const model of named) {
    const sent = await kit.send(PATH, { secret, body: { ...CHAT, model } });
    expect([sent.status, sent.body.error.code], model).toEqual([400, 'model_not_recognized']);
  }
  expect(servedBy()).toBe(organizationId);
  const listed = await kit.send('/v1/models', { secret, verb: 'GET' });
  expect(listed.body.data.map(({ owned_by }: { owned_by: string }) => owned_by)).toEqual([`of ${organizationId}`]);
});

it('it is not made with providers, projects, guardrails or budgets of another', async () => {
  const { adminKey, projectId, keyId } = second;
  const headers = { authorization: `Bearer ${adminKey}` };
  const post = (path: string, body: object) => callRest(gateway.app.address, { verb: 'POST', path, body, headers });
  const evaluator = { name: 'not empty', type: 'langevals/basic', settings: {} };
  const made = await callRest(gateway.app.address, {
    ...{ verb: 'POST', path: '/api/evaluators', body: evaluator },
    headers: { 'x-auth-token': gateway.app.projectKey },
  });
  const evaluatorId = made.body.id ?? 'evaluator_of_the_first';
  const key = { name: 'greedy', trace_project_id: projectId };
  const wishes = [
    { ...key, trace_project_id: first.projectId },
    { ...key, config: { providers: [first.provider] } },
    { ...key, config: { guardrails: { pre: [evaluatorId], post: [] } } },
  ];
  for (const wish of wishes) {
    const { status, text } = await post(KEYS, wish);
    expect([400, 403, 404], `${JSON.stringify(wish)} ${text}`).toContain(status);
  }
  const addBudget = (scope: object) =>
    post('/api/gateway/v1/budgets', { name: 'b', scope, window: 'total', limit_usd: '0.000001' });
  for (const kind of ['virtual_key', 'principal', 'project', 'organization', 'team']) {
    const ids = { virtual_key: first.keyId, project: first.projectId, organization: first.organizationId };
    const { status, body } = await addBudget({ kind, id: ids[kind as keyof typeof ids] ?? gateway.app.userId });
    const unknown = await addBudget({ kind, id: 'unknown' });
    // Whether it exists elsewhere is not told.
    expect([status, body.error?.code], kind).toEqual([unknown.status, unknown.body.error?.code]);
  }
  // What was made counts nothing of the other.
  const sent = await first.kit.send(PATH, {
    secret: first.secret,
    body: CHAT,
    headers: { 'cache-control': 'no-store' },
  });
  expect(sent.status).toBe(200);
  const scope = { kind: 'virtual_key', id: keyId };
  const limited = { name: 'b', scope, window: 'total', limit_usd: '1' };
  const answers = [first.provider, 'unknown'].map((id) =>
    post('/api/gateway/v1/budgets', { ...limited, provider_id: id }),
  );
  const [ofProvider, ofUnknown] = await Promise.all(answers);
  expect(ofProvider?.status).toBe(ofUnknown?.status);
});

it('it finds no answers that another has cached', async () => {
  const states: (string | null)[] = [];
  const body = { ...CHAT, messages: [{ role: 'user', content: 'Cached for whom?' }] };
  for (const { kit, secret } of [first, first, second, second]) {
    states.push((await kit.send(PATH, { secret, body })).headers.get('x-langwatch-cache'));
  }
  expect(states).toEqual(['miss', 'hit', 'miss', 'hit']);
});

it('its spend counts in no budget of another, and no budget of another refuses it', async () => {
  const scopeOf = ({ organizationId: id }: Side) => ({ kind: 'organization', id });
  const counted = await first.kit.addBudget({ name: 'one', scope: scopeOf(first), limit_usd: '1' });
  const spent = await second.kit.addBudget({ name: 'two', scope: scopeOf(second), limit_usd: '0.000001' });
  const headers = { 'cache-control': 'no-store' };
  const body = { ...CHAT, user: 'the same user', max_tokens: 1_000 };
  await second.kit.send(PATH, { secret: second.secret, body, headers });
  const refused = await second.kit.send(PATH, { secret: second.secret, body, headers });
  expect([refused.status, refused.body.error.code]).toEqual([402, 'budget_exceeded']);
  expect((await first.kit.budget(counted.id)).spent_usd).toBe('0');
  expect((await first.kit.send(PATH, { secret: first.secret, body, headers })).status).toBe(200);
  const me = await second.kit.send('/v1/me', { secret: second.secret, verb: 'GET' });
  expect(me.text).toContain(spent.id);
  expect(me.text).not.toContain(counted.id);
  expect(me.text).not.toContain(first.organizationId);
  await second.kit.manage('DELETE', `/api/gateway/v1/budgets/${spent.id}`);
});

it('its spans join no trace of another, also where it names the trace', async () => {
  const { kit, secret } = first;
  const own = await kit.send(PATH, { secret, body: CHAT, headers: { 'cache-control': 'no-store' } });
  const before = await kit.traceOf(own);
  const traceId = own.headers.get('x-langwatch-trace-id');
  const spanId = before.spans[0].span_id;
  const headers = { traceparent: `00-${traceId}-${spanId}-01`, 'cache-control': 'no-store' };
  const joined = await second.kit.send(PATH, { secret: second.secret, body: CHAT, headers });
  expect(joined.headers.get('x-langwatch-trace-id')).toBe(traceId);
  expect(await kit.traceOf(own)).toEqual(before);
  const theirs = await second.kit.traceOf(joined);
  expect(theirs.spans).toHaveLength(1);
  expect(theirs.spans[0].span_id).not.toBe(spanId);
});
