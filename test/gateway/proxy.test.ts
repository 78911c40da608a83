import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, CLAUDE, type GatewayFixture, MESSAGES, MODEL, startGateway } from './gateway-fixture.ts';

let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const ROUTES = [
  ['/v1/chat/completions', CHAT, 'chat'],
  ['/v1/responses', { model: MODEL, input: 'Say hello.' }, 'responses'],
  ['/v1/messages', MESSAGES, 'messages'],
] as const;

describe.each(ROUTES)('%s', (path, body, requestType) => {
  it('passes the answer on as it is, with one request, one event and one span', async () => {
    const { secret, send, mock, eventOf, traceOf, keyId } = gateway;
    const sent = await send(path, { secret, body, headers: { 'x-langwatch-thread-id': 'thread 1' } });
    const seen = mock.requests.at(-1);
    expect(sent.status, sent.text).toBe(200);
    expect(sent.text).toBe(seen?.sent().toString());
    expect(seen?.body.toString()).toBe(JSON.stringify(body));
    expect(seen?.headers).not.toHaveProperty('x-langwatch-thread-id');
    const credential = seen?.headers['x-api-key'] ?? seen?.headers.authorization;
    expect(credential).toMatch(/^(Bearer )?sk-of-the-provider-1234$/);
    const event = await eventOf(sent);
    expect(event).toMatchObject({ virtual_key_id: keyId, request_type: requestType, status: 'success', error: null });
    expect(event.usage.input_tokens).toBeGreaterThan(0);
    expect(event.cost.nano_usd).toBeGreaterThan(0);
    const trace = await traceOf(sent);
    expect(trace.metadata).toMatchObject({ virtual_key_id: keyId, thread_id: 'thread 1' });
    expect(trace.spans).toHaveLength(1);
    const [span] = trace.spans;
    expect(span).toMatchObject({ type: 'llm', name: `${requestType} ${body.model}`, error: null });
    expect(JSON.stringify(span.input)).toContain('Say hello.');
    expect(span.metrics.prompt_tokens).toBe(event.usage.input_tokens);
    expect(span.params).toMatchObject({ gateway_request_id: event.gateway_request_id });
    expect(Math.round(span.metrics.cost * 1e9)).toBe(event.cost.nano_usd);
  });

  it('passes a stream on as it comes', async () => {
    const { secret, send, mock, eventOf, traceOf } = gateway;
    const sent = await send(path, { secret, body: { ...body, stream: true } });
    expect(sent.headers.get('content-type')).toContain('text/event-stream');
    if (requestType !== 'chat') expect(sent.text).toBe(mock.requests.at(-1)?.sent().toString());
    const event = await eventOf(sent);
    expect(event.usage.output_tokens).toBeGreaterThan(0);
    const [span] = (await traceOf(sent)).spans;
    expect(span.timestamps.first_token_at).toBeGreaterThanOrEqual(span.timestamps.started_at);
    expect(span.output).not.toBeNull();
  });

  it('gives calls of tools a place in the span', async () => {
    const { secret, send, traceOf } = gateway;
    const sent = await send(path, { secret, body: { ...body, stream: true }, step: { tools: true } });
    const [span] = (await traceOf(sent)).spans;
    expect(span.output.value[0].tool_calls[0].function.name).toBeTruthy();
  });
});

describe('a stream of chat', () => {
  it('has no usage for a caller who did not ask, and the bytes of the provider for one who did', async () => {
    const { secret, send, mock } = gateway;
    const hidden = await send('/v1/chat/completions', { secret, body: { ...CHAT, stream: true } });
    expect(hidden.text).not.toContain('"usage"');
    expect(JSON.parse(mock.requests.at(-1)?.body.toString() ?? '')).toMatchObject({
      stream_options: { include_usage: true },
    });
    const asking = { ...CHAT, stream: true, stream_options: { include_usage: true } };
    const shown = await send('/v1/chat/completions', { secret, body: asking });
    expect(shown.text).toBe(mock.requests.at(-1)?.sent().toString());
    expect(shown.text).toContain('"usage":{');
  });

  it('is asked for once more where a provider does not know stream_options, and its usage is estimated', async () => {
    const { secret, send, mock, eventOf } = gateway;
    const before = mock.requests.length;
    const step = { refusesStreamOptions: true, usage: 'off' } as const;
    const sent = await send('/v1/chat/completions', { secret, body: { ...CHAT, stream: true }, step: [step, step] });
    expect(sent.status).toBe(200);
    expect(mock.requests.length - before).toBe(2);
    expect(mock.requests.at(-1)?.body.toString()).toBe(JSON.stringify({ ...CHAT, stream: true }));
    const event = await eventOf(sent);
    expect(event.usage.output_tokens).toBeGreaterThan(0);
    expect(event.metadata).toEqual({ usage_estimated: true });
  });
});

it('embeds, and keeps no vectors in the span', async () => {
  const { secret, send, eventOf, traceOf } = gateway;
  const body = { model: 'text-embedding-3-small', input: ['one', 'two'] };
  const sent = await send('/v1/embeddings', { secret, body });
  expect(sent.status, sent.text).toBe(200);
  expect((await eventOf(sent)).request_type).toBe('embeddings');
  const [span] = (await traceOf(sent)).spans;
  expect(JSON.stringify(span.output)).not.toContain('0.0');
});

it('counts tokens without a record', async () => {
  const { secret, send, manage } = gateway;
  const list = () => manage('GET', '/api/webhooks/v1/events?from=0&to=9007199254740991&limit=200');
  const before = (await list()).data.length;
  const { max_tokens: _, ...body } = MESSAGES;
  const sent = await send('/v1/messages/count_tokens', { secret, body });
  expect(sent.body).toEqual({ input_tokens: expect.any(Number) });
  expect((await list()).data.length).toBe(before);
});

describe('a refusal', () => {
  const ask = (secret: string, body: object | string = CHAT, path = '/v1/chat/completions') =>
    gateway.send(path, { secret, body });

  it.each([
    ['/v1/chat/completions', { error: { code: 'invalid_api_key', type: expect.any(String), param: null } }],
    ['/v1/messages', { type: 'error', error: { type: 'authentication_error' } }],
  ])('on %s is in the dialect of the route', async (path, body) => {
    const sent = await ask('vk-lw-00000000000000000000000000', CHAT, path);
    expect([sent.status, sent.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="spandrel"']);
    expect(sent.body).toMatchObject(body);
  });

  it.each(['disable', 'revoke'])('follows at once when a key is told to %s', async (action) => {
    const { addKey, manage, eventOf } = gateway;
    const { id, secret } = await addKey();
    expect((await ask(secret)).status).toBe(200);
    await manage('POST', `/api/gateway/v1/virtual-keys/${id}/${action}`, {});
    const sent = await ask(secret);
    expect(sent.status).toBe(403);
    expect(sent.body.error.code).toBe(`virtual_key_${action}d`);
    expect(await eventOf(sent)).toMatchObject({
      status: 'error',
      error: { class: `virtual_key_${action}d` },
      cost: { nano_usd: 0 },
    });
  });

  it.each([
    [{}, 'missing_model'],
    ['{"model":', 'invalid_request'],
    [{ ...CHAT, model: 'unknown' }, 'model_not_recognized'],
    [{ ...CHAT, model: 'gpt-5' }, 'model_not_allowed'],
  ])('of the body %j tells why', async (body, code) => {
    const { addKey, addProvider } = gateway;
    const only = await addProvider({ name: `only ${code}`, kind: 'openai_compatible', models: ['gpt-*'] });
    const { secret } = await addKey({ config: { providers: [only], models_allowed: ['gpt-4*'] } });
    const sent = await ask(secret, body);
    expect(sent.body.error.code).toBe(code);
    expect((await gateway.eventOf(sent)).error.class).toBe(code);
  });

  it('names what is not served', async () => {
    const background = await ask(gateway.secret, { model: MODEL, input: 'x', background: true }, '/v1/responses');
    expect(background.body.error.code).toBe('background_not_supported');
    const stored = await gateway.send('/v1/responses/resp_1', { secret: gateway.secret, verb: 'GET' });
    expect([stored.status, stored.body.error.code]).toEqual([404, 'unsupported_route']);
    const wrong = await gateway.send('/v1/chat/completions', { secret: gateway.secret, verb: 'GET' });
    expect(wrong.status).toBe(405);
  });
});

describe('budgets', () => {
  it('refuse what they have no room for, and tell what is left', async () => {
    const { addKey, addBudget, send, budget } = gateway;
    const { id, secret } = await addKey();
    const limit = await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '0.0005' });
    expect((await send('/v1/chat/completions', { secret, body: CHAT })).status).toBe(200);
    const spent = Number((await budget(limit.id)).spent_usd);
    expect(spent).toBeGreaterThan(0);
    const me = await send('/v1/me', { secret, verb: 'GET' });
    expect(me.body.budgets).toMatchObject([
      { id: limit.id, limit_usd: '0.0005', spent_usd: (await budget(limit.id)).spent_usd },
    ]);
    await gateway.manage('PATCH', `/api/gateway/v1/budgets/${limit.id}`, { limit_usd: '0.000000001' });
    const refused = await send('/v1/chat/completions', { secret, body: CHAT });
    expect(refused.status).toBe(402);
    expect(refused.body.error).toMatchObject({
      code: 'budget_exceeded',
      budget_id: limit.id,
      scope: 'virtual_key',
      window: 'total',
    });
  });

  it('need an end user where each has one', async () => {
    const { addKey, addBudget, send } = gateway;
    const { id, secret } = await addKey();
    await addBudget({ scope: { kind: 'attributed_user', id }, limit_usd: '1' });
    const refused = await send('/v1/chat/completions', { secret, body: CHAT });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'end_user_required']);
    const named = await send('/v1/chat/completions', { secret, body: { ...CHAT, user: 'u1' } });
    expect(named.status).toBe(200);
  });
});

it('limits the requests of a minute', async () => {
  const { addKey, send, eventOf } = gateway;
  const { secret } = await addKey({ config: { rate_limits: { rpm: 2 } } });
  const statuses = [];
  for (let index = 0; index < 3; index += 1)
    statuses.push((await send('/v1/chat/completions', { secret, body: CHAT })).status);
  expect(statuses).toEqual([200, 200, 429]);
  const refused = await send('/v1/chat/completions', { secret, body: CHAT });
  expect(refused.body.error).toMatchObject({ code: 'rate_limited', dimension: 'rpm' });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await eventOf(refused)).error.class).toBe('rate_limited');
});

it('lists the models of a key in the form of the client', async () => {
  const { addKey, addProvider, send } = gateway;
  const listed = await addProvider({
    name: 'listed',
    kind: 'openai_compatible',
    models: ['m-1', 'm-*'],
    aliases: { fast: 'm-1' },
  });
  const { secret } = await addKey({ config: { providers: [listed] } });
  const openai = await send('/v1/models', { secret, verb: 'GET' });
  expect(openai.body.data.map((model: { id: string }) => model.id)).toEqual(['fast', 'm-1']);
  const anthropic = await send('/v1/models', { secret, verb: 'GET', headers: { 'anthropic-version': '2023-06-01' } });
  expect(anthropic.body).toMatchObject({ has_more: false, first_id: 'fast' });
});

it('joins the trace of the caller', async () => {
  const { secret, send, traceOf, eventOf } = gateway;
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const linked = { prompt_ids: ['greeting', 'greeting:2'] };
  const metadata = JSON.stringify({ customer: 'Zoë', ...linked });
  const headers = { traceparent, 'x-langwatch-metadata': Buffer.from(metadata).toString('latin1') };
  const sent = await send('/v1/chat/completions', { secret, body: CHAT, headers });
  expect(sent.headers.get('x-langwatch-trace-id')).toBe('0af7651916cd43dd8448eb211c80319c');
  const trace = await traceOf(sent);
  expect(trace.spans[0].parent_id).toBe('b7ad6b7169203331');
  expect(trace.metadata.customer).toBe('Zoë');
  // By these, searches and spend find its prompt.
  for (const found of [trace.metadata, (await eventOf(sent)).metadata]) expect(found).toMatchObject(linked);
});

it('stores no text for a key that captures metadata alone', async () => {
  const { addKey, send, traceOf } = gateway;
  const { secret } = await addKey({ config: { capture: 'metadata' } });
  const sent = await send('/v1/chat/completions', { secret, body: { ...CHAT, temperature: 0.5 } });
  const trace = await traceOf(sent);
  expect(JSON.stringify(trace)).not.toContain('Say hello');
  expect(trace.spans[0]).toMatchObject({ input: null, output: null, model: CHAT.model });
  expect(trace.spans[0].metrics.prompt_tokens).toBeGreaterThan(0);
});

it('replaces an alias by the name of the model at the provider', async () => {
  const { addKey, addProvider, send, mock, eventOf } = gateway;
  const provider = await addProvider({ name: 'aliased', kind: 'openai_compatible', aliases: { fast: MODEL } });
  const { secret } = await addKey({ config: { providers: [provider] } });
  const sent = await send('/v1/chat/completions', { secret, body: { ...CHAT, model: 'fast' } });
  expect(JSON.parse(mock.requests.at(-1)?.body.toString() ?? '')).toEqual(CHAT);
  expect([sent.headers.get('x-langwatch-model'), (await eventOf(sent)).model]).toEqual([MODEL, MODEL]);
  expect(CLAUDE).not.toBe(MODEL);
});

it('lists models in both forms, and asks no provider that the key cannot reach', async () => {
  const { addKey, addProvider, send, mock } = gateway;
  const open = await addProvider({ name: 'open', kind: 'openai_compatible' });
  const named = await addProvider({
    name: 'named',
    kind: 'openai_compatible',
    models: [MODEL],
    aliases: { fast: MODEL },
  });
  const far = (await gateway.manage('POST', '/api/projects', { name: 'far' })).id;
  await addProvider({ name: 'of another project', kind: 'openai_compatible', project_ids: [far] });
  const { secret } = await addKey({ config: { providers: [named] } });
  const before = mock.requests.length;
  const openAi = await send('/v1/models', { secret, verb: 'GET' });
  expect(openAi.body.object).toBe('list');
  expect(openAi.body.data.map(({ id }: { id: string }) => id)).toEqual(['fast', MODEL]);
  const anthropic = await send('/v1/models', { secret, verb: 'GET', headers: { 'anthropic-version': '2023-06-01' } });
  expect(anthropic.body).toMatchObject({ has_more: false, first_id: 'fast', last_id: MODEL });
  expect(mock.requests.length).toBe(before);
  const both = await addKey({ config: { providers: [open, named], models_allowed: ['gpt-*'] } });
  const listed = await send('/v1/models', { secret: both.secret, verb: 'GET' });
  expect(listed.body.data.length).toBeGreaterThan(0);
  expect(mock.requests.slice(before).map(({ path }) => path)).toEqual(['/v1/models']);
});

it('lets a page of another origin read what the gateway tells of a request', async () => {
  const { app, secret, send } = gateway;
  const headers = { origin: 'https://app.example.com' };
  const asking = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
  const preflight = await fetch(`${app.address}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: { ...headers, ...asking },
  });
  expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
  const sent = await send('/v1/chat/completions', { secret, body: CHAT, headers });
  const told = [...sent.headers.keys()].filter((name) => name.startsWith('x-langwatch-'));
  expect(told).toHaveLength(6);
  // The seventh comes when a budget is nearly spent.
  const named = [...told, 'x-langwatch-budget-warning', 'retry-after'];
  const exposed = sent.headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
  expect(exposed).toEqual(expect.arrayContaining(named));
});
