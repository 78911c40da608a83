import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { attributes, id, readTrace, send, type Value } from './sending.ts';

type Said = { readonly [key: string]: Value };
/** The name of a case, what the span says, its cost in USD, and the scope of its instrumentation. */
type Case = readonly [name: string, said: Said, costUsd: number, scope?: { name: string; version?: string }];

const NANO = BigInt(Date.now()) * 1_000_000n;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(() => app.close());

async function spanOf(said: Said, scope: { name: string; version?: string } = { name: 'tests' }) {
  const traceId = hex(32);
  const span = {
    traceId: id(traceId),
    spanId: id(hex(16)),
    name: 'chat',
    startTimeUnixNano: NANO,
    attributes: attributes(said),
  };
  const report = await send(app, 'protobuf', { resourceSpans: [{ scopeSpans: [{ scope, spans: [span] }] }] });
  expect(report).toEqual({ rejectedSpans: 0, errorMessage: '' });
  const { spans } = await readTrace(app, traceId);
  return spans[0];
}

function itCosts(cases: readonly Case[]): void {
  for (const [name, said, costUsd, scope] of cases) {
    it(name, async () => {
      expect((await spanOf(said, scope)).metrics.cost).toBe(costUsd);
    });
  }
}

const json = JSON.stringify;
const CLAUDE = 'claude-sonnet-4-5';

describe('Langfuse', () => {
  const generation = (model: string, usage: object): Said => ({
    'langfuse.observation.type': 'generation',
    'langfuse.observation.model.name': model,
    'langfuse.observation.usage_details': json(usage),
  });

  itCosts([
    [
      'usage of OpenAI responses',
      generation('gpt-4o', {
        input_tokens: 10_000,
        output_tokens: 100,
        total_tokens: 10_100,
        input_tokens_details: { cached_tokens: 9000 },
      }),
      0.01475,
    ],
    [
      'usage of OpenAI completions',
      generation('gpt-4o', {
        prompt_tokens: 10_000,
        completion_tokens: 0,
        total_tokens: 10_000,
        prompt_tokens_details: { cached_tokens: 9000 },
      }),
      0.01375,
    ],
    [
      'writes of LangChain by their lifetime',
      generation(CLAUDE, {
        input: 100,
        output: 200,
        total: 1500,
        input_cache_read: 600,
        input_cache_creation: 0,
        input_ephemeral_5m_input_tokens: 600,
      }),
      0.00573,
    ],
    [
      'writes of an hour',
      generation(CLAUDE, { input: 100, output: 0, input_ephemeral_1h_input_tokens: 10_000 }),
      0.0603,
    ],
    [
      'modalities of Gemini',
      generation('gemini-2.5-flash', {
        input: 0,
        output: 0,
        total: 1200,
        input_modality_1: 1000,
        output_modality_1: 200,
      }),
      0.0008,
    ],
    [
      'answers of Anthropic as they are',
      generation(CLAUDE, { input_tokens: 100, output_tokens: 200, cache_read_input_tokens: 600 }),
      0.00348,
    ],
  ]);
});

describe('the AI SDK', () => {
  const call = (model: string, provider: string, usage: Said): Said => ({
    'ai.operationId': 'ai.generateText.doGenerate',
    'ai.model.id': model,
    'ai.model.provider': provider,
    'gen_ai.system': provider,
    'gen_ai.request.model': model,
    ...usage,
  });
  const claude = (usage: Said) => call(CLAUDE, 'anthropic.messages', usage);
  const metadata = (usage: object): Said => ({ 'ai.response.providerMetadata': json({ anthropic: { usage } }) });
  const cached = { 'ai.usage.inputTokens': 10_000, 'ai.usage.cachedInputTokens': 9000, 'ai.usage.outputTokens': 100 };
  const ofSdk6 = {
    'ai.usage.inputTokenDetails.noCacheTokens': 1000,
    'ai.usage.inputTokenDetails.cacheReadTokens': 9000,
  };

  itCosts([
    ['version 5 passes on what Anthropic says', claude(cached), 0.0342],
    [
      'as it does with Bedrock',
      call('us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'amazon-bedrock', cached),
      0.03762,
    ],
    ['version 6 sends totals', claude({ ...cached, ...ofSdk6 }), 0.0072],
    ['so does version 5 with other providers', call('gpt-4o', 'openai.responses', cached), 0.01475],
    [
      'version 6, where it has no details',
      claude({ ...cached, ...metadata({ input_tokens: 1000, cache_read_input_tokens: 9000 }) }),
      0.0072,
    ],
    [
      'version 5 with the same of Anthropic',
      claude({ ...cached, ...metadata({ input_tokens: 10_000, cache_read_input_tokens: 9000 }) }),
      0.0342,
    ],
    [
      'a provider of version 5 under version 6',
      claude({
        ...cached,
        'ai.usage.inputTokenDetails.cacheReadTokens': 9000,
        ...metadata({ input_tokens: 10_000, cache_read_input_tokens: 9000 }),
      }),
      0.0342,
    ],
    [
      'reads and writes that only the provider tells of',
      claude({
        'ai.usage.inputTokens': 100,
        'ai.usage.outputTokens': 200,
        ...metadata({ input_tokens: 100, cache_read_input_tokens: 600, cache_creation_input_tokens: 300 }),
      }),
      0.004605,
    ],
    [
      'the same of Bedrock',
      call('us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'amazon-bedrock', {
        'ai.usage.inputTokens': 100,
        'ai.usage.outputTokens': 200,
        'ai.usage.cachedInputTokens': 600,
        'ai.response.providerMetadata': json({ bedrock: { usage: { cacheWriteInputTokens: 300 } } }),
      }),
      0.0050655,
    ],
    [
      'writes of an hour',
      claude({
        'ai.usage.inputTokens': 10_100,
        'ai.usage.inputTokenDetails.noCacheTokens': 100,
        'ai.usage.inputTokenDetails.cacheReadTokens': 0,
        'ai.usage.inputTokenDetails.cacheWriteTokens': 10_000,
        ...metadata({
          input_tokens: 100,
          cache_creation_input_tokens: 10_000,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 10_000 },
        }),
      }),
      0.0603,
    ],
    [
      'the tier of OpenAI',
      call('gpt-5', 'openai.responses', {
        'ai.usage.inputTokens': 1000,
        'ai.usage.outputTokens': 100,
        'ai.response.providerMetadata': json({ openai: { serviceTier: 'flex' } }),
      }),
      0.001125,
    ],
  ]);
});

describe('names of OpenTelemetry', () => {
  const usage = (model: string, counts: Said): Said => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': model,
    ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [`gen_ai.usage.${name}`, count])),
  });

  itCosts([
    ...['cached_input_tokens', 'cached_tokens'].flatMap((read) =>
      ['cache_creation.input_tokens', 'cache_creation_input_tokens'].map(
        (write): Case => [
          `${read} beside ${write}`,
          usage('gpt-4o', { input_tokens: 10_000, [read]: 9000, [write]: 0 }),
          0.01375,
        ],
      ),
    ),
    [
      'reasoning beside the names of OpenLLMetry',
      usage('gpt-4o', {
        input_tokens: 10_000,
        output_tokens: 100,
        'reasoning.output_tokens': 300,
        total_tokens: 10_400,
        cache_read_input_tokens: 0,
      }),
      0.029,
    ],
    [
      'audio of Mastra',
      usage('gpt-audio-mini', {
        input_tokens: 1034,
        audio_input_tokens: 1000,
        output_tokens: 534,
        audio_output_tokens: 500,
      }),
      0.020102,
    ],
    [
      'writes of an hour of Mastra',
      usage(CLAUDE, {
        input_tokens: 10_100,
        'cache_creation.input_tokens': 10_000,
        'cache_creation.1h_input_tokens': 10_000,
        'cache_creation.5m_input_tokens': 0,
      }),
      0.0603,
    ],
  ]);
});

describe('OpenLLMetry', () => {
  const usage = (model: string, vendor: string, counts: Said): Said => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': vendor,
    'gen_ai.request.model': model,
    ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [`gen_ai.usage.${name}`, count])),
  });
  const read = { input_tokens: 10_000, 'cache_read.input_tokens': 9000 };
  const javascript = (version: string) => ({ name: '@traceloop/instrumentation-anthropic', version });
  const gemini = { input_tokens: 100, output_tokens: 500, total_tokens: 900 };

  itCosts([
    [
      'Bedrock in Python',
      usage('us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'aws.bedrock', { ...read, output_tokens: 200 }),
      0.03927,
      { name: 'opentelemetry.instrumentation.bedrock', version: '0.62.1' },
    ],
    [
      'Claude under LlamaIndex in Python',
      usage(CLAUDE, 'anthropic', read),
      0.0327,
      { name: 'opentelemetry.instrumentation.llamaindex' },
    ],
    [
      'another model under LlamaIndex',
      usage('gpt-4o', 'openai', read),
      0.01375,
      { name: 'opentelemetry.instrumentation.llamaindex' },
    ],
    ['Anthropic in JavaScript, up to 0.27', usage(CLAUDE, 'anthropic', read), 0.0327, javascript('0.27.0')],
    ['and without a version', usage(CLAUDE, 'anthropic', read), 0.0327, javascript('')],
    ['and after it', usage(CLAUDE, 'anthropic', read), 0.0057, javascript('0.28.0')],
    [
      'thoughts of Gemini',
      usage('gemini-2.5-flash', 'gcp.gen_ai', gemini),
      0.00203,
      { name: 'opentelemetry.instrumentation.google_generativeai' },
    ],
    [
      'thoughts of Gemini in JavaScript',
      usage('gemini-2.5-flash', 'Google', gemini),
      0.00203,
      { name: '@traceloop/instrumentation-vertexai' },
    ],
    ['a total of another vendor, which says nothing', usage('gpt-4o', 'openai', gemini), 0.00525],
    [
      'a total of Claude at Google, which has the cached tokens',
      usage(CLAUDE, 'gcp.vertex_ai', { ...gemini, cache_read_input_tokens: 300 }),
      0.00789,
    ],
  ]);
});
