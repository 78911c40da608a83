import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, CLAUDE, type GatewayFixture, MESSAGES, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
let gateway: GatewayFixture;
let blocklist: string;
let greetings: string;
beforeAll(async () => {
  gateway = await startGateway();
  blocklist = await addEvaluator('langevals/competitor_blocklist', { competitors: ['Acme'] });
  greetings = await addEvaluator('langevals/competitor_blocklist', { competitors: ['Hello'] });
});
afterAll(() => gateway.close());

const addEvaluator = (type: string, settings: object) => gateway.addEvaluator(type, settings);

describe('a guardrail before the request', () => {
  it('lets it pass, or keeps it from every provider', async () => {
    const { addKey, send, mock, eventOf, traceOf } = gateway;
    const { secret } = await addKey({ config: { guardrails: { pre: [blocklist] } } });
    const passed = await send(PATH, { secret, body: CHAT });
    expect(passed.status, passed.text).toBe(200);
    const [evaluation] = (await traceOf(passed)).evaluations;
    expect(evaluation).toMatchObject({ is_guardrail: true, passed: true });
    const before = mock.requests.length;
    const body = {
      ...CHAT,
      messages: [...CHAT.messages, { role: 'tool', content: [{ type: 'text', text: 'Buy Acme' }] }],
    };
    const blocked = await send(PATH, { secret, body });
    expect(blocked.status).toBe(403);
    expect(blocked.body.error).toMatchObject({ code: 'guardrail_blocked', stage: 'pre', evaluator_id: blocklist });
    expect(mock.requests.length).toBe(before);
    expect(await eventOf(blocked)).toMatchObject({ error: { class: 'guardrail_blocked' }, cost: { nano_usd: 0 } });
  });

  it.each([
    ['a document of text', { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Buy Acme' } }],
    ['what a tool was given', { type: 'tool_use', id: 'toolu_1', name: 'buy', input: { data: { url: 'Acme' } } }],
  ])('reads %s', async (_, block) => {
    const { secret } = await gateway.addKey({ config: { guardrails: { pre: [blocklist] } } });
    const body = { ...MESSAGES, messages: [{ role: 'user', content: [block] }] };
    expect((await gateway.send('/v1/messages', { secret, body })).status).toBe(403);
  });

  it('lets nothing pass that it cannot judge, and gives back what was reserved', async () => {
    const { addKey, addBudget, budget, send } = gateway;
    const exact = await addEvaluator('langevals/exact_match', {});
    const { id, secret } = await addKey({ config: { guardrails: { pre: [exact] } } });
    const limit = await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '0.0002' });
    for (let round = 0; round < 3; round += 1) {
      const blocked = await send(PATH, { secret, body: CHAT });
      expect([blocked.status, blocked.body.error.code]).toEqual([403, 'guardrail_blocked']);
    }
    expect((await budget(limit.id)).spent_usd).toBe('0');
  });
});

describe('a guardrail behind the answer', () => {
  it.each([
    [PATH, CHAT],
    [PATH, { ...CHAT, stream: true }],
    ['/v1/messages', { ...MESSAGES, stream: true }],
  ])('on %s holds %j back until it has passed, and counts it also when it did not', async (path, body) => {
    const { addKey, send, eventOf, mock } = gateway;
    const none = await addEvaluator('langevals/competitor_blocklist', { competitors: ['nobody says this'] });
    const open = await addKey({ config: { guardrails: { post: [none] } } });
    const passed = await send(path, { secret: open.secret, body });
    expect(passed.status, passed.text).toBe(200);
    if (body === CHAT) expect(passed.text).toBe(mock.requests.at(-1)?.sent().toString());
    const { secret } = await addKey({ config: { guardrails: { post: [greetings] } } });
    const blocked = await send(path, { secret, body });
    expect(blocked.status, blocked.text).toBe(403);
    expect(blocked.text).toContain('guardrail');
    const event = await eventOf(blocked);
    expect(event).toMatchObject({ status: 'error', error: { class: 'guardrail_blocked', http_status: 403 } });
    expect(event.cost.nano_usd).toBeGreaterThan(0);
  });
});

it('a guardrail behind the answer judges what tools of the provider found', async () => {
  const { secret } = await gateway.addKey({ config: { guardrails: { post: [blocklist] } } });
  const ask = async (text: string) => {
    const content = [{ type: 'mcp_tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text }] }];
    const body = { type: 'message', role: 'assistant', model: CLAUDE, content, stop_reason: 'end_turn' };
    return (await gateway.send('/v1/messages', { secret, body: MESSAGES, step: { body } })).status;
  };
  expect([await ask('Buy tea'), await ask('Buy Acme')]).toEqual([200, 403]);
});

it.each([
  ['no JSON', { body: 'Hello from a server that answers with text.' }],
  [
    'an event that is no JSON',
    { body: 'data: not json badword\n\ndata: [DONE]\n\n', headers: { 'content-type': 'text/event-stream' } },
  ],
  ['more choices than are read', { body: { choices: Array.from({ length: 1_100 }, (_, index) => choice(index)) } }],
  ['more text than is read', { hugeBytes: 2 * 1024 * 1024 }],
])('a guardrail behind the answer blocks %s, which it cannot see', async (_, step) => {
  const none = await addEvaluator('langevals/competitor_blocklist', { competitors: ['nobody says this'] });
  const { secret } = await gateway.addKey({ config: { guardrails: { post: [none] } } });
  const blocked = await gateway.send(PATH, { secret, body: CHAT, step });
  expect([blocked.status, blocked.body.error.code]).toEqual([403, 'guardrail_blocked']);
});

function choice(index: number) {
  return { index, message: { role: 'assistant', content: 'Hi' } };
}

describe('the exact cache', () => {
  const cached = () => gateway.addKey({ config: { cache: { mode: 'exact', ttl_s: 60 } } });
  const ask = (secret: string, body: object, headers: Record<string, string> = {}) =>
    gateway.send(PATH, { secret, body, headers });
  const states = async (sending: Promise<{ headers: Headers }>) => (await sending).headers.get('x-langwatch-cache');

  it('answers an equal request for nothing, as a stream too', async () => {
    const { mock, eventOf, traceOf, budget, addBudget } = gateway;
    const { id, secret } = await cached();
    const limit = await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '1' });
    const body = { ...CHAT, temperature: 0.1 };
    const first = await ask(secret, body);
    expect(first.headers.get('x-langwatch-cache')).toBe('miss');
    const spent = (await budget(limit.id)).spent_usd;
    const before = mock.requests.length;
    const { model, ...rest } = body;
    const hit = await ask(secret, { ...rest, model });
    expect([hit.headers.get('x-langwatch-cache'), hit.text]).toEqual(['hit', first.text]);
    const streamed = await ask(secret, { ...body, stream: true });
    expect(streamed.headers.get('x-langwatch-cache')).toBe('hit');
    expect(streamed.text).toContain('data: [DONE]');
    expect(mock.requests.length).toBe(before);
    expect(await eventOf(hit)).toMatchObject({ status: 'success', cost: { nano_usd: 0 } });
    expect((await traceOf(hit)).spans[0].params.gateway.cache).toBe('hit');
    expect((await budget(limit.id)).spent_usd).toBe(spent);
  });

  it('keeps what a stream said, does as cache-control says, and is of one project', async () => {
    const { secret } = await cached();
    const body = { ...CHAT, temperature: 0.2 };
    expect(await states(ask(secret, body, { 'cache-control': 'no-store' }))).toBe('miss');
    expect(await states(ask(secret, { ...body, stream: true }))).toBe('miss');
    const whole = await ask(secret, body);
    expect(whole.headers.get('x-langwatch-cache')).toBe('hit');
    expect(whole.body.choices[0].message.content).toBeTruthy();
    expect(await states(ask(secret, body, { 'cache-control': 'no-cache' }))).toBe('miss');
    expect(await states(ask(gateway.secret, body))).toBe('bypass');
    const project = (await gateway.manage('POST', '/api/projects', { name: 'other' })).id;
    const config = { cache: { mode: 'exact', ttl_s: 60 } };
    const other = await gateway.addKey({ trace_project_id: project, config });
    expect(await states(ask(other.secret, body))).toBe('miss');
  });

  it('keeps no answer of a provider that another one stood in for', async () => {
    const { addProvider, addKey, send } = gateway;
    const of = (name: string, model: string) =>
      addProvider({ name, kind: 'openai_compatible', aliases: { fast: model } });
    const [first, second] = [await of('asked', CHAT.model), await of('stand-in', 'tiny')];
    const cache = { mode: 'exact', ttl_s: 60 };
    const both = await addKey({ config: { providers: [first, second], cache } });
    const one = await addKey({ config: { providers: [first], cache } });
    const body = { ...CHAT, model: 'fast' };
    const fallen = await send(PATH, { secret: both.secret, body, step: { status: 500 } });
    expect([fallen.status, fallen.headers.get('x-langwatch-fallback-count')]).toEqual([200, '1']);
    expect(await states(ask(one.secret, body))).toBe('miss');
    expect(await states(ask(both.secret, body))).toBe('hit');
  });

  it('repeats nothing that has effects: neither a turn of a conversation nor the call of a tool', async () => {
    const { send, mock } = gateway;
    const { secret } = await cached();
    const before = mock.requests.length;
    for (let turn = 0; turn < 2; turn += 1) {
      const body = { model: CHAT.model, input: 'Next.', conversation: 'conv_1' };
      expect(await states(send('/v1/responses', { secret, body }))).toBe('bypass');
    }
    const tools = [{ type: 'function', function: { name: 'pay' } }];
    for (const stream of [false, false, true, true]) {
      const body = { ...CHAT, tools, stream };
      expect(await states(send(PATH, { secret, body, step: { tools: true } }))).toBe('miss');
    }
    expect(mock.requests.length).toBe(before + 6);
  });

  it('keeps no failure', async () => {
    const { secret } = await cached();
    const body = { ...CHAT, temperature: 0.3 };
    await gateway.send(PATH, { secret, body, step: { status: 400 } });
    expect(await states(ask(secret, body))).toBe('miss');
  });
});
