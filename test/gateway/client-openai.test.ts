/** The unmodified npm package openai, through the gateway. */

import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { withoutUsage } from '../support/mock-provider.ts';
import { CHAT, type GatewayFixture, MODEL, startGateway } from './gateway-fixture.ts';
import { collect, type RecordedFetch, recordFetch } from './recorded-fetch.ts';

let gateway: GatewayFixture;
let recorded: RecordedFetch;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => {
  recorded = recordFetch();
  const { app, secret } = gateway;
  client = new OpenAI({ baseURL: `${app.address}/v1`, apiKey: secret, maxRetries: 0, fetch: recorded.fetch });
});
afterAll(() => gateway.close());

const MESSAGES = [{ role: 'user' as const, content: 'Say hello.' }];
const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));
const CALLS = [
  { name: 'get_weather', arguments: '{"city":"Köln"}' },
  { name: 'get_time', arguments: '{}' },
];

/** What the provider sent for the newest request. */
const sent = () => gateway.mock.requests.at(-1)?.sent().toString() ?? '';
/** The body of the newest request as the provider got it. */
const asked = () => JSON.parse(gateway.mock.requests.at(-1)?.body.toString() ?? '');

it('sends the virtual key as a bearer token, and gets the bytes of the provider', async () => {
  const chat = await client.chat.completions.create(CHAT as OpenAI.ChatCompletionCreateParamsNonStreaming);
  expect(chat.choices[0]?.message.content).toBe('Grüße aus 京都');
  expect(chat.usage?.total_tokens).toBe(26);
  const { sentHeaders, text, headers } = recorded.last();
  expect(sentHeaders.get('authorization')).toBe(`Bearer ${gateway.secret}`);
  expect(await text).toBe(sent());
  expect(headers.get('x-langwatch-provider')).toBe('openai');
  expect(asked()).toEqual(CHAT);
});

it('streams chat, without the usage that only the gateway asked for', async () => {
  const stream = await client.chat.completions.create({ model: MODEL, messages: MESSAGES, stream: true });
  const chunks = await collect(stream);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Grüße aus 京都 🍵');
  expect(chunks.every((chunk) => !('usage' in chunk) && chunk.choices.length === 1)).toBe(true);
  expect(asked().stream_options).toEqual({ include_usage: true });
  expect(await recorded.last().text).toBe(withoutUsage(sent()));
});

it('streams chat with its usage to a caller who asks', async () => {
  const stream = await client.chat.completions.create({
    model: MODEL,
    messages: MESSAGES,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await collect(stream);
  expect(chunks.at(-1)?.usage?.total_tokens).toBe(26);
  expect(await recorded.last().text).toBe(sent());
});

it('calls tools in chat, and sends what they return', async () => {
  gateway.mock.next({ tools: true });
  const chat = await client.chat.completions.create({ model: MODEL, messages: MESSAGES, tools: TOOLS });
  const message = chat.choices[0]?.message;
  if (message === undefined) throw new Error('no choice');
  expect(functionsOf(message)).toEqual(CALLS);
  expect(asked().tools).toEqual(TOOLS);
  const results = (message.tool_calls ?? []).map(({ id }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: '7',
  }));
  const said = await client.chat.completions.create({ model: MODEL, messages: [...MESSAGES, message, ...results] });
  expect(said.choices[0]?.message.content).toBe('Grüße aus 京都');
  expect(asked().messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'call_b', content: '7' });
});

it('streams calls of tools in chat', async () => {
  gateway.mock.next({ tools: true });
  const run = client.chat.completions.stream({ model: MODEL, messages: MESSAGES, tools: TOOLS });
  const message = (await run.finalChatCompletion()).choices[0]?.message;
  if (message === undefined) throw new Error('no choice');
  expect(functionsOf(message)).toMatchObject(CALLS);
  expect(await recorded.last().text).toBe(withoutUsage(sent()));
});

it('gets and streams responses, with calls of tools', async () => {
  const response = await client.responses.create({ model: MODEL, input: 'Say hello.' });
  expect(response.output_text).toBe('Grüße aus 京都');
  expect(response.output.find(({ type }) => type === 'function_call')).toMatchObject({ name: 'get_weather' });
  expect(await recorded.last().text).toBe(sent());

  const stream = await client.responses.create({ model: MODEL, input: 'Say hello.', stream: true });
  const events = await collect(stream);
  const texts = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
  expect(texts.join('')).toContain('Grüße');
  expect(events.at(-1)?.type).toBe('response.completed');
  expect(await recorded.last().text).toBe(sent());

  gateway.mock.next({ tools: true });
  const tooled = client.responses.stream({ model: MODEL, input: 'Say hello.' });
  const { output } = await tooled.finalResponse();
  expect(output).toMatchObject([{ type: 'function_call', name: 'get_weather', arguments: '{"city":"Köln"}' }]);
  expect(await recorded.last().text).toBe(sent());
});

it('embeds, in both encodings', async () => {
  const model = 'text-embedding-3-small';
  const floats = await client.embeddings.create({ model, input: ['one', 'two'], encoding_format: 'float' });
  expect(floats.data.map(({ embedding }) => embedding.length)).toEqual([3, 3]);
  expect(await recorded.last().text).toBe(sent());
  // By default the client asks for base64, and decodes it.
  gateway.mock.next({ answer: 'embeddings-base64' });
  const decoded = await client.embeddings.create({ model, input: 'one' });
  expect(asked().encoding_format).toBe('base64');
  expect(decoded.data[0]?.embedding).toEqual([1, 2, 3]);
});

it('lists the models that the key can call', async () => {
  const models = await collect(client.models.list());
  expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining([MODEL, 'text-embedding-3-small']));
});

it('gets the request id of the gateway', async () => {
  const { data, response } = await client.chat.completions.create({ model: MODEL, messages: MESSAGES }).withResponse();
  expect(data.id).toBe('chatcmpl-b2');
  expect(response.headers.get('x-langwatch-gateway-request-id')).toMatch(/^gwreq_/);
});

it("takes the virtual key in Azure's header, too", async () => {
  const { app, secret } = gateway;
  const azure = new OpenAI({
    baseURL: `${app.address}/v1`,
    apiKey: 'unused',
    defaultHeaders: { authorization: null, 'api-key': secret },
    maxRetries: 0,
  });
  const chat = await azure.chat.completions.create({ model: MODEL, messages: MESSAGES });
  expect(chat.choices[0]?.message.content).toBe('Grüße aus 京都');
});

function functionsOf({ tool_calls: calls = [] }: OpenAI.ChatCompletionMessage): unknown[] {
  return calls.map((call) => (call.type === 'function' ? call.function : null));
}
