import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, hex } from '../../support/fixtures.ts';
import { until } from '../../support/port.ts';
import { rpcFilters } from '../../support/rpc-filters.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { FOLLOW, type Follower, followRest } from '../../support/tails.ts';

const { tailTraces } = TraceService.method;
const TAILS_MAX = 12;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_MAX_TAILS_PER_PROJECT: String(TAILS_MAX), SPANDREL_MONITOR_SETTLE_MS: '20' },
  });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const at = () => ({ address: app.address, headers: key() });

async function send(user: string, { id = hex(32), spanId = hex(16), input = 'in' } = {}): Promise<string> {
  const atMs = Date.now();
  const span = {
    type: 'llm',
    span_id: spanId,
    model: 'gpt-5',
    input: { type: 'text', value: input },
    timestamps: { started_at: atMs, finished_at: atMs + 1 },
  };
  const body = { trace_id: id, metadata: { user_id: user }, spans: [span] };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
  return id;
}

const ids = ({ events }: Follower) => events.map(({ data }) => data.trace_id);
const ofUser = (user: string) => ({ 'metadata.user_id': [user] });
const textOf = (user: string) => JSON.stringify(ofUser(user));
/** The same filters over REST, where they are JSON in the query, and over RPC. */
const askFor = (filters: ReturnType<typeof ofUser>) => ({
  query: { filters: JSON.stringify(filters) },
  request: { filters: rpcFilters(filters) },
});

describe('following traces', () => {
  it.each(Object.entries(FOLLOW))('tells each trace as a search shows it, over %s', async (protocol, follow) => {
    const user = `rows-${protocol}`;
    const follower = await follow({ ...at(), ...askFor(ofUser(user)) });
    const traceId = await send(user);
    await until(() => follower.events.length > 0, 'the trace arrives');
    const search = { verb: 'POST', path: '/api/traces/search', headers: key(), body: { traceIds: [traceId] } };
    const found = await callRest(app.address, search);
    expect(follower.events[0]?.data).toEqual(found.body.traces[0]);
    expect(follower.events[0]?.id).toBe(String(found.body.traces[0].timestamps.updated_at));
    follower.close();
  });

  it('sends a trace again when it changes, and nothing that does not match', async () => {
    const follower = await followRest({ ...at(), query: { filters: textOf('again') } });
    const other = await followRest({ ...at(), query: { filters: textOf('again'), negateFilters: 'true' } });
    const id = await send('again');
    await send('somebody');
    await until(() => ids(follower).length === 1, 'the trace arrives');
    await send('again', { id });
    await until(() => ids(follower).length === 2, 'the next span arrives');
    expect(follower.events[1]?.data.span_count).toBe(2);
    const path = `/api/traces/${id}/metadata`;
    await callRest(app.address, { verb: 'PATCH', path, headers: key(), body: { metadata: { seen: true } } });
    await until(() => ids(follower).length === 3, 'the change of its metadata arrives');
    expect(follower.events[2]?.data.metadata).toEqual({ user_id: 'again', seen: true });
    expect(new Set(ids(follower))).toEqual(new Set([id]));
    await until(() => ids(other).length > 0, 'the other trace arrives');
    expect(ids(other)).not.toContain(id);
    follower.close();
    other.close();
  });

  it('sends the result of a monitor', async () => {
    const rest = async (verb: string, path: string, body: object) => {
      const answer = await callRest(app.address, { verb, path, headers: key(), body });
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    const config = { evaluatorType: 'langevals/exact_match' };
    const evaluator = await rest('POST', '/api/evaluators', { name: 'Judge', config });
    const monitor = await rest('POST', '/api/monitors', { name: 'Watch', evaluatorId: evaluator.id, sample: 1 });
    const follower = await followRest({ ...at(), query: { filters: textOf('watched') } });
    const id = await send('watched');
    const results = () => follower.events.filter(({ data }) => data.evaluations.length > 0);
    await until(() => results().length > 0, 'the result arrives');
    expect(results()[0]?.data).toMatchObject({ trace_id: id, evaluations: [{ monitor_id: monitor.id }] });
    await callRest(app.address, { verb: 'DELETE', path: `/api/monitors/${monitor.id}`, headers: key() });
    follower.close();
  });

  it('goes by texts, by spans, and by ids', async () => {
    const [wanted, unwanted] = [hex(32), hex(32)];
    const byText = await followRest({ ...at(), query: { query: 'NeedLE', filters: textOf('kinds') } });
    const byModel = await followRest({ ...at(), query: { filters: JSON.stringify({ 'spans.model': ['gpt-5'] }) } });
    const byId = await followRest({ ...at(), query: { traceIds: `${wanted},${hex(32)}`, format: 'digest' } });
    await send('kinds', { id: unwanted });
    await send('kinds', { id: wanted, input: 'a needle in it' });
    await until(() => byText.events.length > 0 && byId.events.length > 0, 'they arrive');
    await until(() => ids(byModel).includes(wanted), 'it arrives');
    expect([ids(byText), ids(byId)]).toEqual([[wanted], [wanted]]);
    expect(byId.events[0]?.data.formatted_trace).toContain('a needle in it');
    expect(ids(byModel)).toContain(unwanted);
    for (const each of [byText, byModel, byId]) each.close();
  });

  it('resumes after the last received change', async () => {
    const query = { filters: textOf('resumed') };
    const first = await followRest({ ...at(), query });
    await send('resumed');
    await until(() => first.events.length > 0, 'the trace arrives');
    first.close();
    const missed = await send('resumed');
    const lastEventId = first.events[0]?.id ?? '';
    const byQuery = await followRest({ ...at(), query: { ...query, lastEventId } });
    const byHeader = await followRest({ ...at(), headers: { ...key(), 'last-event-id': lastEventId }, query });
    await until(() => ids(byQuery).includes(missed) && ids(byHeader).includes(missed), 'the missed changes arrive');
    byQuery.close();
    byHeader.close();
  });

  it('refuses more than are allowed at once, and has room again when one leaves, however it does', async () => {
    const open: Follower[] = [];
    for (let index = 0; index < TAILS_MAX; index += 1) {
      const follow = Object.values(FOLLOW)[index % 4];
      if (follow) open.push(await follow(at()));
    }
    await expectEverywhere(app.address, tailCase({}, {}, { status: 429, code: 'rate_limited' }));
    for (const each of open) each.close();
    let again: Follower | null = null;
    await until(() => {
      if (again === null)
        void followRest(at()).then(
          (follower) => (again = follower),
          () => {},
        );
      return again !== null;
    }, 'there is room again');
    (again as Follower | null)?.close();
  });

  it('sends nothing of other projects', async () => {
    const created = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      headers: { authorization: `Bearer ${app.adminKey}` },
      body: { name: 'Elsewhere', teamId: (await teams())[0].id },
    });
    expect(created.status, created.text).toBeLessThan(300);
    const headers = {
      authorization: `Bearer ${app.adminKey}`,
      'x-project-id': created.body.id ?? created.body.project.id,
    };
    const elsewhere = await followRest({ address: app.address, headers });
    const here = await followRest(at());
    const id = await send('here');
    await until(() => ids(here).includes(id), 'it arrives here');
    expect(elsewhere.events).toEqual([]);
    elsewhere.close();
    here.close();
  });

  it('ends within seconds when the key is revoked', async () => {
    const { organizationId: scopeId, projectId } = app;
    const bindings = [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId, permissions: [] }] as const;
    const token = await addKey(app, { bindings });
    const headers = { authorization: `Bearer ${token}`, 'x-project-id': projectId };
    const followers = await Promise.all(
      Object.values(FOLLOW).map((follow) => follow({ address: app.address, headers })),
    );
    const id = /^sk-lw-([0-9A-Za-z]{16})_/.exec(token)?.[1];
    const asAdmin = { authorization: `Bearer ${app.adminKey}` };
    const revoked = await callRest(app.address, { verb: 'DELETE', path: `/api/api-keys/${id}`, headers: asAdmin });
    expect(revoked.status, revoked.text).toBe(200);
    await until(() => followers.every((each) => each.ended() !== null), 'all have ended');
    expect(followers.map((each) => each.ended())).toEqual(['invalid_credentials', '16', '16', '16']);
  });

  const ofLength = (characters: number) => {
    const rest = characters - 'metadata.user_id'.length;
    const values = Array.from({ length: Math.floor(rest / 1_000) }, () => 'x'.repeat(1_000));
    return { 'metadata.user_id': [...values, 'x'.repeat(rest % 1_000)] };
  };

  it.each(Object.entries(FOLLOW))('refuses filters that are too long to be kept, over %s', async (_, follow) => {
    const refused = await follow({ ...at(), ...askFor(ofLength(16_385)) }).catch(String);
    // The head of a REST request has no room for them.
    expect(typeof refused === 'string' ? refused : refused.ended()).toMatch(/^3$|^Error: 4(14|31) /);
  });

  it('takes filters up to their bound over gRPC', async () => {
    const follower = await FOLLOW.gRPC?.({ ...at(), ...askFor(ofLength(16_384)) });
    expect(follower?.ended()).toBeNull();
    follower?.close();
  });

  it('refuses what is wrong before it begins', async () => {
    const wrong = { filters: JSON.stringify({ nothing: ['x'] }) };
    await expectEverywhere(
      app.address,
      tailCase(wrong, { filters: [{ name: 'nothing', values: ['x'] }] }, { status: 422, code: 'validation_error' }),
    );
    for (const filters of ['{bad', '[]', '{"spans.type":["llm",7]}', '{"metadata.value":{"plan":"pro"}}']) {
      const path = `/api/traces/tail?filters=${encodeURIComponent(filters)}`;
      const answer = await callRest(app.address, { path, headers: key() });
      expect([answer.status, answer.body.code], filters).toEqual([422, 'validation_error']);
    }
    const id = { lastEventId: 'x' };
    await expectEverywhere(app.address, tailCase(id, id, { status: 422, code: 'validation_error' }));
    const nobody = { 'x-auth-token': '' };
    await expectEverywhere(
      app.address,
      tailCase({}, {}, { headers: nobody, status: 401, code: 'missing_credentials' }),
    );
    const dead = { 'x-auth-token': `sk-lw-${'A'.repeat(48)}` };
    await expectEverywhere(app.address, tailCase({}, {}, { headers: dead, status: 401, code: 'invalid_credentials' }));
  });
});

async function teams(): Promise<Body> {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const { body } = await callRest(app.address, { path: '/api/teams', headers });
  return body.data ?? body.teams ?? body;
}

function tailCase(
  query: { readonly [name: string]: string },
  request: object,
  each: Partial<SurfaceCase> & { status: number },
): SurfaceCase {
  const path = `/api/traces/tail?${new URLSearchParams(query)}`;
  return { name: path, headers: key(), rest: { path }, rpc: { method: tailTraces, request }, ...each } as SurfaceCase;
}
