/** The unmodified npm packages ai, @ai-sdk/openai and @ai-sdk/anthropic, through the gateway. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLAUDE, type GatewayFixture, MODEL, startGateway } from './gateway-fixture.ts';
import { collect, type RecordedFetch, recordFetch } from './recorded-fetch.ts';

let gateway: GatewayFixture;
let recorded: RecordedFetch;
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  gateway = await startGateway();
});
beforeEach(() => {
  recorded = recordFetch();
});
afterAll(() => gateway.close());

function optionsOf(apiKey = gateway.secret) {
  return { baseURL: `${gateway.app.address}/v1`, apiKey, fetch: recorded.fetch };
}

const MODELS = [
  ['responses', () => createOpenAI(optionsOf()).responses(MODEL), 'authorization'],
  ['chat', () => createOpenAI(optionsOf()).chat(MODEL), 'authorization'],
  ['messages', () => createAnthropic(optionsOf())(CLAUDE), 'x-api-key'],
] as const;

const seen = () => gateway.mock.requests.at(-1);
const sent = () => seen()?.sent().toString() ?? '';

const PROMPT = { prompt: 'Say hello.', maxRetries: 0 };
const TOOLS = {
  get_weather: tool({
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
    execute: async ({ city }) => `rain in ${city}`,
  }),
  get_time: tool({ inputSchema: jsonSchema({ type: 'object', properties: {} }), execute: async () => '12:00' }),
};

describe.each(MODELS)('its model of %s', (route, modelOf, header) => {
  it('generates text from the bytes of the provider', async () => {
    const { text, usage } = await generateText({ ...PROMPT, model: modelOf() });
    expect(text).toContain('Grüße aus 京都');
    expect(usage.outputTokens).toBeGreaterThan(0);
    const { sentHeaders, text: body } = recorded.last();
    expect(sentHeaders.get(header)).toContain(gateway.secret);
    expect(await body).toBe(sent());
  });

  it('streams text', async () => {
    const { textStream, finishReason } = streamText({ ...PROMPT, model: modelOf() });
    expect((await collect(textStream)).join('')).toContain('Grüße aus 京都');
    expect(await finishReason).not.toBe('error');
    expect(await recorded.last().text).toBe(sent());
  });

  it('streams calls of tools, runs them, and sends what they return', async () => {
    gateway.mock.next({ tools: true });
    const run = streamText({ ...PROMPT, model: modelOf(), tools: TOOLS, stopWhen: stepCountIs(2) });
    await run.consumeStream();
    const [first] = await run.steps;
    expect(first?.toolResults[0]).toMatchObject({ toolName: 'get_weather', output: 'rain in Köln' });
    expect(recorded.exchanges).toHaveLength(2);
    expect(seen()?.body.toString()).toContain('rain in Köln');
    for (const { status } of recorded.exchanges) expect(status).toBe(200);
  });

  it('tells why the gateway refuses', async () => {
    const { id, secret } = await gateway.addKey();
    await gateway.manage('POST', `/api/gateway/v1/virtual-keys/${id}/disable`, {});
    const models = {
      responses: createOpenAI(optionsOf(secret)).responses(MODEL),
      chat: createOpenAI(optionsOf(secret)).chat(MODEL),
      messages: createAnthropic(optionsOf(secret))(CLAUDE),
    };
    const error = await generateText({ ...PROMPT, model: models[route] }).catch((thrown: unknown) => thrown);
    if (!APICallError.isInstance(error)) throw error;
    expect([error.statusCode, error.isRetryable, error.message]).toEqual([403, false, 'The virtual key is disabled.']);
    expect(error.responseBody).toContain('virtual_key_disabled');
  });

  it('fails where the provider breaks a stream off', async () => {
    gateway.mock.next({ breaksAfterBytes: 1_500 });
    const errors: unknown[] = [];
    const run = streamText({ ...PROMPT, model: modelOf(), onError: ({ error }) => void errors.push(error) });
    await run.consumeStream();
    expect(JSON.stringify(errors)).toContain('The connection to the provider broke');
  });
});

it('embeds', async () => {
  const model = createOpenAI(optionsOf()).embedding('text-embedding-3-small');
  const { embeddings, usage } = await embedMany({ model, values: ['one', 'two'], maxRetries: 0 });
  expect(embeddings.map(({ length }) => length)).toEqual([3, 3]);
  expect(usage.tokens).toBe(8);
  expect(await recorded.last().text).toBe(sent());
});
