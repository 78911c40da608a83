import { describe, expect, it } from 'vitest';
import { listNameForms } from '../../../src/domain/pricing/name-forms.ts';
import { createPricing } from '../../../src/domain/pricing/pricing.ts';
import { pricing, registry } from '../../support/pricing.ts';

describe('model names', () => {
  it.each([
    ['gpt-4o', 'OpenAI', 'openai', 'gpt-4o'],
    ['GPT-4o', null, 'openai', 'gpt-4o'],
    ['gpt-4o', 'azure.ai.openai', 'openai', 'gpt-4o'],
    ['o1', 'azure', 'azure', 'o1'],
    ['azure/o1', null, 'azure', 'o1'],
    ['o1', null, 'openai', 'o1'],
    ['claude-sonnet-4-5', 'vertex_ai', 'google', 'claude-sonnet-4-5'],
    ['claude-sonnet-4-5@20250929', 'vertex_ai', 'google', 'claude-sonnet-4-5'],
    ['claude-sonnet-4-5', 'unheard-of', 'anthropic', 'claude-sonnet-4-5'],
    ['xai/grok-4', null, 'x-ai', 'grok-4-0709'],
    ['us.amazon.nova-lite-v1:0', null, 'aws', 'amazon.nova-lite-v1:0'],
    ['eu.meta.llama3-2-3b-instruct-v1:0', 'bedrock', 'aws', 'meta.llama3-2-3b-instruct-v1:0'],
    ['bedrock/amazon.nova-pro-v1:0', null, 'aws', 'amazon.nova-pro-v1:0'],
    ['global.anthropic.claude-sonnet-4-6-v1:0', null, 'aws', 'global.anthropic.claude-sonnet-4-6-v1:0'],
    ['anthropic.claude-3-haiku-20240307-v1:0', null, 'aws', 'regional.anthropic.claude-3-haiku-20240307-v1:0'],
    ['openai.gpt-5.5', null, 'aws', 'openai.gpt-5.5'],
    ['meta-llama/llama-3.3-70b-instruct', null, 'openrouter', 'meta-llama/llama-3.3-70b-instruct'],
    ['openrouter/openai/gpt-4o', null, 'openrouter', 'openai/gpt-4o'],
    ['openai/gpt-4o', 'openrouter', 'openrouter', 'openai/gpt-4o'],
    ['some/proxy/openai/gpt-4o', null, 'openai', 'gpt-4o'],
    ['gpt-5.2-0315', null, 'openai', 'gpt-5.2'],
    ['gpt-4-0613', null, 'openai', 'gpt-4'],
    ['deepseek-r1:8b', null, 'deepseek', 'deepseek-reasoner'],
    ['ft:gpt-4o-mini-2024-07-18:acme::abc', null, 'openai', 'ft:gpt-4o-mini'],
    ['openai/ft:gpt-4o-2024-08-06:acme::abc', null, 'openai', 'ft:gpt-4o'],
    ['ft:gpt-3.5-turbo-0125:acme::abc', null, 'openai', 'ft:gpt-3.5-turbo-'],
    ['ft:gpt-4-0613:acme::abc', 'openai', 'openai', 'gpt-4'],
  ])('%s of %s is %s %s', (model, vendor, provider, id) => {
    expect(pricing.match(model, vendor, 0)).toMatchObject({ source: 'registry', provider, id });
  });

  it.each([
    ['', null],
    ['/', null],
    ['gpt', null],
    ['us.', null],
    ['@cf/nothing', null],
    ['constructor', '__proto__'],
    [`${'a/'.repeat(200)}gpt-5-foo`, null],
  ])('%s of %s has no price', (model, vendor) => {
    expect(pricing.match(model, vendor, 0)).toBeNull();
  });

  it.each([
    ['ft:gpt-4.1-mini-2025-04-14:acme::abc', null],
    ['openai/ft:gpt-5:acme::abc', null],
    ['ft:openai/gpt-5', null],
    ['ft:gemini-1.5-pro:acme', 'google'],
  ])('%s of %s is a fine-tune without a price of its own', (model, vendor) => {
    expect(pricing.match(model, vendor, 0)).toBeNull();
  });

  it.each([
    'ollama',
    'Ollama',
    'ollama_chat',
    'vllm',
    'hosted_vllm',
    'lmstudio',
    'LM Studio',
    'llama.cpp',
    'llama_cpp',
    'tgi',
    'sglang',
    'huggingface local',
    'localai',
  ])('of %s run on a machine of the user, and have no listed price', (vendor) => {
    expect(pricing.match('deepseek-r1:8b', vendor, 0)).toBeNull();
    expect(pricing.match(`${vendor}/deepseek-r1:8b`, null, 0)).toBeNull();
  });

  it('reach OpenRouter unasked only with their maker in front', () => {
    expect(pricing.match('x/meta-llama/llama-3.3-70b-instruct', null, 0)).toBeNull();
    expect(pricing.match('llama-3.3-70b-instruct', null, 0)).toBeNull();
  });

  it('lose at most six suffixes, one at a time', () => {
    expect(pricing.match(`gpt-5${'-v1'.repeat(6)}`, null, 0)?.matchedForm).toBe('gpt-5');
    expect(pricing.match(`gpt-5${'-v1'.repeat(7)}`, null, 0)).toBeNull();
  });

  it('are tried whole, then without their path, then without suffixes', () => {
    expect(listNameForms('A/us.Meta.m-v1:0').map(({ text }) => text)).toEqual([
      'a/us.meta.m-v1:0',
      'us.meta.m-v1:0',
      'meta.m-v1:0',
      'm-v1:0',
      'a/us.meta.m-v1',
      'a/us.meta.m',
      'us.meta.m-v1',
      'us.meta.m',
      'meta.m-v1',
      'meta.m',
      'm-v1',
      'm',
    ]);
  });

  it.each([
    ['m-2025-01-31', 'm'],
    ['m-20250131', 'm'],
    ['m@x:y-v2', 'm'],
    ['m-v12', 'm'],
    ['m-0131', 'm'],
    ['m-0229', 'm'],
    ['m-0230', 'm-0230'],
    ['m-0431', 'm-0431'],
    ['m-1301', 'm-1301'],
    ['m-0100', 'm-0100'],
    ['m-0001', 'm-0001'],
    ['m-0315-v1', 'm'],
    ['m-0315:free', 'm-0315:free'],
    ['m:beta', 'm'],
    ['m:a:free', 'm:a:free'],
    ['m-2025-1-31', 'm-2025-1-31'],
    ['m-2025013', 'm-2025013'],
    ['m-v', 'm-v'],
    ['@m-v2', '@m'],
    ['-v2', '-v2'],
  ])('%s is at its shortest %s', (model, shortest) => {
    expect(listNameForms(model).at(-1)?.text).toBe(shortest);
  });

  it('answer the same however many other names came between', () => {
    const fresh = createPricing(registry);
    const first = fresh.match('openai/gpt-5', null, 0);
    for (let index = 0; index < 10_000; index += 1) fresh.match(`model-${index}`, `vendor-${index % 7}`, 0);
    expect(fresh.match('openai/gpt-5', null, 0)).toEqual(first);
    expect(fresh.match('gpt-5', 'azure', 0)?.provider).toBe('openai');
  });
});
