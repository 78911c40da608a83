/** The unmodified npm package @anthropic-ai/sdk, through the gateway. */

import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type GatewayFixture, startGateway } from './gateway-fixture.ts';
import { collect, type RecordedFetch, recordFetch } from './recorded-fetch.ts';

let gateway: GatewayFixture;
let recorded: RecordedFetch;
let client: Anthropic;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => {
  recorded = recordFetch();
  const { app, secret } = gateway;
  client = new Anthropic({ baseURL: app.address, apiKey: secret, maxRetries: 0, fetch: recorded.fetch });
});
afterAll(() => gateway.close());

const ASKED = {
  model: 'claude-opus-4-8',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'Say hello.' }],
};
const TOOLS = [
  { name: 'get_weather', input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } } },
];

const seen = () => gateway.mock.requests.at(-1);
const sent = () => seen()?.sent().toString() ?? '';

it('sends the virtual key as a bearer token, and gets the bytes of the provider', async () => {
  const message = await client.messages.create(ASKED);
  expect(message.content).toMatchObject([
    { type: 'thinking' },
    { type: 'text', text: 'Grüße aus 京都' },
    { type: 'tool_use', name: 'get_weather', input: { city: 'Köln' } },
  ]);
  expect(message.usage).toMatchObject({ input_tokens: 25, output_tokens: 23 });
  const { sentHeaders, text } = recorded.last();
  expect(sentHeaders.get('authorization')).toBe(`Bearer ${gateway.secret}`);
  expect(await text).toBe(sent());
  expect(seen()?.headers['x-api-key']).toBe('sk-of-the-provider-1234');
  expect(seen()?.headers['anthropic-version']).toBe(sentHeaders.get('anthropic-version'));
  expect(JSON.parse(seen()?.body.toString() ?? '')).toEqual(ASKED);
});

it('may send the virtual key as x-api-key, as its earlier versions do', async () => {
  const earlier = new Anthropic({
    baseURL: gateway.app.address,
    apiKey: null,
    defaultHeaders: { 'x-api-key': gateway.secret },
    maxRetries: 0,
    fetch: recorded.fetch,
  });
  expect((await earlier.messages.create(ASKED)).role).toBe('assistant');
  expect(recorded.last().sentHeaders.get('x-api-key')).toBe(gateway.secret);
  expect(recorded.last().sentHeaders.has('authorization')).toBe(false);
});

it('passes the query and the beta headers of the caller on', async () => {
  const asked = { ...ASKED, betas: ['token-efficient-tools-2025-02-19'] };
  await client.beta.messages.create(asked, { query: { beta: 'true' } });
  expect(seen()?.headers['anthropic-beta']).toContain('token-efficient-tools-2025-02-19');
  expect(seen()?.path).toBe('/v1/messages?beta=true');
  expect(await recorded.last().text).toBe(sent());
});

it('streams messages', async () => {
  const stream = await client.messages.create({ ...ASKED, stream: true });
  const events = await collect(stream);
  expect(events.at(0)?.type).toBe('message_start');
  expect(events.at(-1)?.type).toBe('message_stop');
  expect(await recorded.last().text).toBe(sent());

  const run = client.messages.stream(ASKED);
  expect(await run.finalText()).toContain('Grüße');
  expect(await recorded.last().text).toBe(sent());
});

it('streams calls of tools, and sends what they return', async () => {
  gateway.mock.next({ tools: true });
  const run = client.messages.stream({ ...ASKED, tools: TOOLS });
  const message = await run.finalMessage();
  expect(message.stop_reason).toBe('tool_use');
  expect(message.content).toMatchObject([{ type: 'tool_use', id: 'toolu_01', input: { city: 'Köln' } }]);
  expect(await recorded.last().text).toBe(sent());

  const result = { type: 'tool_result' as const, tool_use_id: 'toolu_01', content: '7' };
  const messages = [
    ...ASKED.messages,
    { role: 'assistant' as const, content: message.content },
    { role: 'user' as const, content: [result] },
  ];
  expect((await client.messages.create({ ...ASKED, tools: TOOLS, messages })).role).toBe('assistant');
  expect(JSON.parse(seen()?.body.toString() ?? '').messages.at(-1).content).toEqual([result]);
});

it('counts tokens, and lists the models that the key can call', async () => {
  const { max_tokens: _, ...counted } = ASKED;
  expect(await client.messages.countTokens(counted)).toEqual(JSON.parse(sent()));
  const page = await client.models.list();
  expect(page.data.map(({ id }) => id)).toContain('claude-sonnet-4-5-20250929');
  expect(page.data[0]).toMatchObject({ type: 'model', display_name: expect.any(String) });
});
