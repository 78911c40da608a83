import { describe, expect, it } from 'vitest';
import type { MetricsDraft } from '../../../../src/domain/traces/collector/collector-draft.ts';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';
import { draftOf } from './spans.ts';

type Attributes = { readonly [key: string]: LosslessJson };

function metricsOf(attributes: Attributes, scope = ''): Partial<MetricsDraft> {
  const { metrics } = draftOf(attributes, { scope: { name: scope, version: '' } });
  const entries = Object.entries((metrics ?? {}) as MetricsDraft).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

describe('each convention counts cached tokens in its own way', () => {
  const claude = { 'gen_ai.request.model': 'claude-sonnet-4-5', 'gen_ai.provider.name': 'anthropic' };
  const counts = { promptTokens: 1000, cacheReadInputTokens: 400, cacheCreationInputTokens: 300 };
  const genAi = { 'gen_ai.usage.input_tokens': 1000 };
  const dotted = {
    ...genAi,
    'gen_ai.usage.cache_read.input_tokens': 400,
    'gen_ai.usage.cache_creation.input_tokens': 300,
  };
  const underscored = {
    ...genAi,
    'gen_ai.usage.cache_read_input_tokens': 400,
    'gen_ai.usage.cache_creation_input_tokens': 300,
  };

  it.each<readonly [name: string, attributes: Attributes, scope: string, isInPrompt: boolean | undefined]>([
    ['OpenTelemetry, also for Claude', { ...claude, ...dotted }, '', true],
    [
      'the Anthropic SDK',
      {
        ...claude,
        ...genAi,
        'gen_ai.usage.cache_read.input_tokens': 400,
        'gen_ai.usage.cache_write.input_tokens': 300,
      },
      '@anthropic-ai/sdk',
      true,
    ],
    [
      'OpenInference',
      {
        'llm.token_count.prompt': 1000,
        'llm.token_count.prompt_details.cache_input': 400,
        'llm.token_count.prompt_details.cache_write': 300,
      },
      '',
      true,
    ],
    [
      'the AI SDK',
      {
        'ai.operationId': 'ai.generateText.doGenerate',
        ...genAi,
        'ai.usage.inputTokens': 1000,
        'ai.usage.inputTokenDetails.cacheReadTokens': 400,
        'ai.usage.inputTokenDetails.cacheWriteTokens': 300,
      },
      'ai',
      true,
    ],
    [
      'pydantic-ai',
      {
        ...genAi,
        'gen_ai.usage.details.cache_read_tokens': 400,
        'gen_ai.usage.details.cache_write_tokens': 300,
      },
      'pydantic-ai',
      true,
    ],
    [
      'LangSmith',
      { ...genAi, 'gen_ai.usage.input_token_details': '{"cache_read":400,"cache_creation":300}' },
      'langsmith',
      true,
    ],
    [
      'Langfuse, whose counts exclude each other',
      {
        'langfuse.observation.usage_details':
          '{"input":300,"cache_read_input_tokens":400,"cache_creation_input_tokens":300}',
      },
      'langfuse-sdk',
      true,
    ],
    ['Traceloop for Anthropic in JavaScript', { ...claude, ...dotted }, '@traceloop/instrumentation-anthropic', false],
    [
      'Traceloop for Anthropic in Python',
      { ...claude, ...underscored },
      'opentelemetry.instrumentation.anthropic',
      true,
    ],
    ['the names of OpenLLMetry with Claude', { ...claude, ...underscored }, '', false],
    ['the same with another model', { 'gen_ai.request.model': 'gpt-5', ...underscored }, '', undefined],
    [
      'Claude Code',
      { input_tokens: 1000, cache_read_tokens: 400, cache_creation_tokens: 300 },
      'com.anthropic.claude_code.tracing',
      false,
    ],
  ])('%s', (_, attributes, scope, isInPrompt) => {
    const flag = isInPrompt === undefined ? {} : { cachedTokensInPrompt: isInPrompt };
    expect(metricsOf(attributes, scope)).toEqual({ ...counts, ...flag });
  });

  it('earlier names of OpenTelemetry do not tell', () => {
    for (const name of ['gen_ai.usage.cached_input_tokens', 'gen_ai.usage.cached_tokens']) {
      expect(metricsOf({ ...genAi, [name]: 400 })).toEqual({ promptTokens: 1000, cacheReadInputTokens: 400 });
    }
  });

  it('what the sender says about it wins', () => {
    expect(metricsOf({ ...dotted, 'spandrel.cached_tokens_in_prompt': false })).toMatchObject({
      cachedTokensInPrompt: false,
    });
  });
});

describe('counts come from one convention', () => {
  it('and are never mixed with those of another', () => {
    expect(metricsOf({ 'gen_ai.usage.input_tokens': 10, 'llm.token_count.completion': 20 })).toEqual({
      promptTokens: 10,
    });
    expect(metricsOf({ 'langwatch.metrics': '{"promptTokens":1}', 'gen_ai.usage.output_tokens': 2 })).toEqual({
      promptTokens: 1,
    });
  });

  it('a cost alone in langwatch.metrics leaves the counts to others', () => {
    expect(metricsOf({ 'langwatch.metrics': '{"cost":0.5}', 'gen_ai.usage.output_tokens': 2 })).toEqual({
      cost: 0.5,
      completionTokens: 2,
    });
  });

  it('that of the instrumentation first', () => {
    const both = { 'gen_ai.usage.input_tokens': 10, 'llm.token_count.prompt': 20 };
    expect(metricsOf(both)).toMatchObject({ promptTokens: 10 });
    expect(metricsOf({ ...both, 'openinference.span.kind': 'LLM' })).toMatchObject({ promptTokens: 20 });
  });

  it.each<readonly [name: string, attributes: Attributes, expected: Partial<MetricsDraft>]>([
    ['embeddings of the AI SDK', { 'ai.usage.tokens': 28 }, { promptTokens: 28, cachedTokensInPrompt: true }],
    [
      'reasoning of the AI SDK',
      { 'ai.usage.outputTokens': 200, 'ai.usage.outputTokenDetails.reasoningTokens': 64 },
      { completionTokens: 200, reasoningTokens: 64, cachedTokensInPrompt: true },
    ],
    [
      'llm.usage',
      { 'llm.usage.prompt_tokens': 5, 'llm.usage.completion_tokens': 7 },
      { promptTokens: 5, completionTokens: 7 },
    ],
    [
      'Langfuse',
      {
        'langfuse.observation.usage_details':
          '{"input":600,"input_cached_tokens":400,"output":136,"output_reasoning_tokens":64,"total":1200}',
        'langfuse.observation.cost_details': '{"total":0.0003}',
      },
      {
        promptTokens: 1000,
        cacheReadInputTokens: 400,
        completionTokens: 200,
        reasoningTokens: 64,
        cost: 0.0003,
        cachedTokensInPrompt: true,
        others: { total_tokens: 1200 },
      },
    ],
    ['LiteLLM', { 'gen_ai.cost.total_cost': 0.25 }, { cost: 0.25 }],
  ])('%s', (_, attributes, expected) => {
    expect(metricsOf(attributes)).toEqual(expected);
  });

  it('a sum with a figure that cannot be read is left out as a whole', () => {
    const { promptTokens, completionTokens } = metricsOf({
      'langfuse.observation.usage_details': '{"input":600,"input_cached_tokens":"many","output":"5"}',
    });
    expect(promptTokens).toMatchObject({ path: 'metrics.prompt_tokens', reason: 'must be a number' });
    expect(completionTokens).toBe(5);
  });
});

describe('what a price depends on beside the counts', () => {
  const othersOf = (attributes: Attributes) => metricsOf(attributes).others;

  it('audio', () => {
    const tokens = { input_audio_tokens: 1000, output_audio_tokens: 500 };
    expect(
      othersOf({
        'llm.token_count.prompt': 1034,
        'llm.token_count.prompt_details.audio': 1000,
        'llm.token_count.completion_details.audio': '500',
      }),
    ).toEqual(tokens);
    expect(
      othersOf({
        'gen_ai.usage.details.input_audio_tokens': 1000,
        'gen_ai.usage.details.output_audio_tokens': 500,
      }),
    ).toEqual(tokens);
  });

  it('the lifetime of cache writes', () => {
    const details = { cache_creation: 0, ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 };
    expect(metricsOf({ 'gen_ai.usage.input_token_details': JSON.stringify(details) })).toMatchObject({
      cacheCreationInputTokens: 300,
      others: { cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 } },
    });
  });

  it('the total, where it tells whether reasoning is part of the completion', () => {
    const total = { 'llm.token_count.total': 900, 'llm.token_count.completion': 500 };
    expect(othersOf(total)).toBeUndefined();
    expect(othersOf({ ...total, 'llm.token_count.completion_details.reasoning': 300 })).toEqual({ total_tokens: 900 });
  });

  it('the tier that served the call, else the one that was asked for', () => {
    const asked = { 'gen_ai.openai.request.service_tier': 'auto' };
    expect(othersOf(asked)).toEqual({ service_tier: 'auto' });
    expect(othersOf({ ...asked, 'openai.response.service_tier': 'flex' })).toEqual({ service_tier: 'flex' });
    expect(othersOf({ 'openai.request.service_tier': 5 })).toBeUndefined();
  });

  it('what langwatch.metrics says of the same wins', () => {
    const own = { 'langwatch.metrics': '{"service_tier":"batch"}', 'openai.request.service_tier': 'flex' };
    expect(othersOf(own)).toEqual({ service_tier: 'batch' });
  });

  it('is left out by name where it cannot be read', () => {
    const { metrics, dropped } = draftOf({
      'llm.token_count.prompt': 5,
      'llm.token_count.prompt_details.audio': 'many',
    });
    expect(metrics).toMatchObject({ promptTokens: 5, others: undefined });
    expect(dropped).toMatchObject([{ path: 'metrics.input_audio_tokens', reason: 'must be a number' }]);
  });
});
