import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../clients/provider.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type ClientName, runClient } from './run-client.ts';
import { readTrace } from './sending.ts';

let app: TestApp;
let openAi: Provider;
beforeAll(async () => {
  app = await startApp();
  openAi = await startProvider();
});
afterAll(async () => {
  openAi.close();
  await app.close();
});

const WHO = { user_id: 'user-42', thread_id: 'conversation-7', plan: 'pro', seats: 3 };
const USAGE = { prompt_tokens: 1000, completion_tokens: 200, reasoning_tokens: 64, cache_read_input_tokens: 400 };
const COST = 0.00056;
const NUMBER = expect.any(Number);

const AGENT = {
  name: 'invoke_agent planner',
  metadata: { ...WHO, team: 'growth', labels: ['beta', 'paris'] },
  models: ['gpt-5-mini-2025-08-07'],
  input: { value: 'A day in Paris?' },
  output: { value: 'Begin at the Louvre.' },
  metrics: { ...USAGE, total_cost: COST, first_token_ms: NUMBER, unpriced_spans: 0 },
  error: { message: 'no room left', stacktrace: ['RangeError: no room left'] },
  spans: [
    { type: 'agent', name: 'invoke_agent planner', parent_id: null, kind: 'SPAN_KIND_SERVER' },
    {
      type: 'llm',
      vendor: 'openai',
      model: 'gpt-5-mini-2025-08-07',
      params: { temperature: 0.2, max_tokens: 256, stop: ['END'] },
      metrics: { ...USAGE, cost: COST, cost_source: 'registry' },
      timestamps: { first_token_at: NUMBER },
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 1000 },
      resource_attributes: { 'service.name': 'travel-agent', team: 'growth' },
      scope: { name: 'travel-agent', version: '1.2.0' },
      events: [{ name: 'gen_ai.content.chunk', attributes: { index: 0 } }, { name: 'gen_ai.content.chunk' }],
    },
    {
      type: 'tool',
      input: { type: 'json', value: { city: 'Paris', nights: 1 } },
      error: { message: 'no room left' },
      status: { code: 'STATUS_CODE_ERROR', message: 'booking failed' },
      links: [{ attributes: { reason: 'asked for by' } }],
    },
  ],
};

const EXPECTED: { readonly [N in ClientName]: object } = {
  'opentelemetry-json': AGENT,
  'opentelemetry-protobuf': AGENT,
  'opentelemetry-grpc': AGENT,
  langwatch: {
    name: 'answer question',
    metadata: { ...WHO, customer_id: 'customer-1', labels: ['beta', 'support'] },
    input: { value: 'How do I reset my password?' },
    output: { value: 'Open the settings.' },
    metrics: { prompt_tokens: 1000, completion_tokens: 200, total_cost: 0.25, first_token_ms: NUMBER },
    error: { message: 'no ticket system' },
    evaluations: [{ name: 'Helpful', passed: true, score: 0.9, label: 'good', details: 'short', status: 'processed' }],
    spans: [
      { type: 'workflow', input: { type: 'text', value: 'How do I reset my password?' } },
      { type: 'rag', contexts: [{ document_id: 'article-1', chunk_id: 'chunk-1', content: 'Open the settings.' }] },
      {
        type: 'llm',
        model: 'gpt-5-mini-2025-08-07',
        metrics: { cost: 0.25, cost_source: 'explicit' },
        output: { type: 'chat_messages', value: [{ role: 'assistant', content: 'Open the settings.' }] },
      },
      { type: 'tool', error: { message: 'no ticket system' } },
    ],
  },
  openinference: {
    name: 'weather',
    metadata: { ...WHO, labels: ['beta', 'weather'] },
    input: { value: 'Rain in Oslo?' },
    output: { value: 'Take an umbrella.' },
    metrics: { ...USAGE, total_cost: COST },
    spans: [
      { type: 'chain' },
      {
        type: 'llm',
        vendor: 'openai',
        model: 'gpt-5-mini-2025-08-07',
        params: { temperature: 0.2 },
        metrics: { ...USAGE, cached_tokens_in_prompt: true, cost: COST },
        input: { type: 'chat_messages', value: [{ role: 'system' }, { role: 'user', content: 'Rain in Oslo?' }] },
        output: {
          type: 'chat_messages',
          value: [
            {
              role: 'assistant',
              tool_calls: [{ id: 'call-1', function: { name: 'forecast', arguments: '{"city":"Oslo"}' } }],
            },
          ],
        },
      },
      { type: 'llm', output: { type: 'chat_messages', value: [{ role: 'assistant', content: 'It will rain.' }] } },
      { type: 'component', model: 'text-embedding-3-small', input: { type: 'text', value: 'Rain in Oslo?' } },
    ],
  },
  'vercel-ai': {
    name: 'cook',
    metadata: { ...WHO, labels: ['beta', 'recipes'] },
    input: { value: 'What can I make?' },
    // The client makes four calls and an embedding. Outer spans repeat their usage, which counts once.
    metrics: { prompt_tokens: 4009, completion_tokens: 800, reasoning_tokens: 192, first_token_ms: NUMBER },
    error: { message: 'the stove is out' },
    spans: [
      { type: 'span', name: 'cook' },
      {
        type: 'agent',
        name: 'ai.generateText',
        metrics: { prompt_tokens: 2000, completion_tokens: 400 },
        output: { type: 'text', value: 'Make soup.' },
      },
      {
        type: 'llm',
        name: 'ai.generateText.doGenerate',
        vendor: 'openai',
        model: 'gpt-5-mini',
        metrics: { ...USAGE, cost: COST },
        input: { type: 'chat_messages' },
        output: {
          type: 'chat_messages',
          value: [{ role: 'assistant', content: null, tool_calls: [{ function: { name: 'pantry' } }] }],
        },
      },
      {
        type: 'tool',
        name: 'pantry',
        input: { type: 'json', value: { shelf: 2 } },
        output: { type: 'json', value: { shelf: 2, holds: ['leek'] } },
      },
      { type: 'llm', output: { type: 'text', value: 'Make soup.' } },
      { type: 'agent', name: 'ai.streamText', metrics: { prompt_tokens: 1000 } },
      { type: 'llm', name: 'ai.streamText.doStream', timestamps: { first_token_at: NUMBER } },
      { type: 'agent', name: 'ai.generateObject', output: { type: 'json', value: { dish: 'soup' } } },
      { type: 'llm', name: 'ai.generateObject.doGenerate' },
      { type: 'component', name: 'ai.embed', model: 'text-embedding-3-small', metrics: { prompt_tokens: 9 } },
      { type: 'component', name: 'ai.embed.doEmbed', metrics: { prompt_tokens: 9, cost: 1.8e-7 } },
      { type: 'agent', name: 'ai.generateText', error: { message: 'the stove is out' } },
      { type: 'llm', name: 'ai.generateText.doGenerate', error: { message: 'the stove is out' } },
    ],
  },
};

it.each(Object.entries(EXPECTED))('what %s sends is read back complete', async (name, expected) => {
  const to = { address: app.address, key: app.projectKey, openAiUrl: openAi.address };
  const traceId = await runClient(name as ClientName, to);
  expect(await readTrace(app, traceId)).toMatchObject(expected);
});
