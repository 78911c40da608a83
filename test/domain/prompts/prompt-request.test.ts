import { afterAll, describe, expect, it } from 'vitest';
import type { ModelProviderRecord } from '../../../src/domain/model-providers/model-provider.ts';
import { NO_SETTINGS, type PromptConfig } from '../../../src/domain/prompts/prompt-config.ts';
import { errorMessageOf, outputOf, requestOf } from '../../../src/domain/prompts/prompt-request.ts';
import { type RenderTask, renderTexts } from '../../../src/domain/prompts/prompt-template.ts';
import { createBuiltinRunner } from '../../../src/evaluation/builtin/runner.ts';

const PROMPT: PromptConfig = {
  ...NO_SETTINGS,
  ...{ prompt: 'Greet.', messages: [], inputs: [], outputs: [], model: 'openai/gpt-5', maxTokens: 9 },
};

type Given = Partial<Pick<ModelProviderRecord, 'name' | 'kind' | 'models'>>;

let made = 0;

function provider(given: Given): ModelProviderRecord {
  made += 1;
  const own = { id: `provider_${made}`, name: 'house', kind: 'openai', models: null, aliases: {}, projectIds: null };
  return { ...own, enabled: true, createdAtMs: made, ...given } as ModelProviderRecord;
}

function ask(model: string, ...given: readonly Given[]) {
  const reach = { config: { modelsAllowed: null, providers: null }, projectId: 'p', providers: given.map(provider) };
  const { kind, body } = requestOf({ ...PROMPT, model }, reach);
  return { kind, body: JSON.parse(body) };
}

describe('a prompt asks', () => {
  const claude = { name: 'claude', kind: 'anthropic' } as const;

  it('the provider with the name of the vendor, and else the first one of its kind', () => {
    expect(ask('openai/gpt-5', claude, { name: 'openai' }).body.model).toBe('openai/gpt-5');
    expect(ask('openai/gpt-5', claude, { name: 'ours' }).body.model).toBe('ours/gpt-5');
    expect(ask('anthropic/claude-5', { name: 'ours' }, claude)).toMatchObject({
      kind: 'messages',
      body: { model: 'claude/claude-5' },
    });
  });

  it('by a bare name, the provider that lists the model before one that is used for all', () => {
    expect(ask('claude-5', {}, { ...claude, models: ['claude-*'] }).kind).toBe('messages');
    expect(ask('gpt-5', {}, claude).kind).toBe('chat');
  });

  it('with the limit of tokens by the name that the provider knows', () => {
    expect(ask('gpt-5', {}).body).toMatchObject({ max_completion_tokens: 9 });
    expect(ask('gpt-5', { kind: 'openai_compatible' }).body).toMatchObject({ max_tokens: 9 });
  });

  it('Claude with the system message as its question where there is no other', () => {
    const { body } = ask('anthropic/claude-5', claude);
    expect(body).toEqual({
      model: 'claude/claude-5',
      messages: [{ role: 'user', content: 'Greet.' }],
      max_tokens: 9,
    });
  });
});

describe('an answer', () => {
  it.each([
    ['chat', { choices: [{ message: { content: 'Hello' } }] }, 'Hello'],
    ['chat', { choices: [{ message: { content: null, refusal: 'No.' } }] }, 'No.'],
    ['chat', { choices: 'none' }, null],
    ['messages', { content: [{ text: 'Hel' }, { type: 'thinking' }, { text: 'lo' }] }, 'Hello'],
    ['messages', null, null],
  ] as const)('of %s has the text of %j', (kind, answer, text) => {
    expect(outputOf(kind, Buffer.from(JSON.stringify(answer)))).toBe(text);
  });

  it('that is not JSON has neither a text nor an error', () => {
    expect([outputOf('chat', Buffer.from('<html>')), errorMessageOf(Buffer.from('<html>'))]).toEqual([null, null]);
  });
});

const SLOW = '{% for i in (1..900) %}{% for j in (1..900) %}{% if i == j %}{% endif %}{% endfor %}{% endfor %}';

describe('a template', () => {
  const request = { tenant: { organizationId: 'o', projectId: 'p' }, isUrgent: false };
  const runner = createBuiltinRunner();
  afterAll(() => runner.close());
  const renderAll = (texts: Pick<RenderTask, 'prompt' | 'messages'>, variables: object = {}) =>
    renderTexts(runner.renderTexts, request, { ...texts, variables: { ...variables } });
  const render = (prompt: string, variables: object = {}) => renderAll({ prompt, messages: [] }, variables);

  it('is Liquid, and a variable without a value is empty', async () => {
    const text = '{% for each in list %}{{ each.name }},{% endfor %}{{ gone }}';
    expect((await render(text, { list: [{ name: 'a' }, { name: 'b' }] })).prompt).toBe('a,b,');
  });

  it.each([
    ['reads no file', '{% include "/etc/passwd" %}'],
    ['reads no file by another word', '{% render "package.json" %}'],
    ['does not run for ever', '{% for i in (1..100000000) %}x{% endfor %}'],
    ['does not grow without bound', '{% for i in (1..2000) %}{{ long }}{% endfor %}'],
    ['is closed', '{% if name %}'],
  ])('%s', async (_name, prompt) => {
    await expect(render(prompt, { long: 'x'.repeat(1_000) })).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('shares its limit of time with the other texts of its prompt, and none of its variables', async () => {
    const messages = Array.from({ length: 200 }, () => ({ role: 'user' as const, content: SLOW }));
    const startedAt = performance.now();
    await expect(renderAll({ prompt: 'Greet.', messages })).rejects.toMatchObject({ code: 'validation_error' });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    const assigning = [{ role: 'user' as const, content: '{{ x }}' }];
    const { messages: rendered } = await renderAll({ prompt: '{% assign x = 1 %}', messages: assigning });
    expect(rendered[0]?.content).toBe('');
  });

  it('that compares long texts holds up nobody else, and is ended', async () => {
    const terms = Array.from({ length: 500 }, () => 'x contains y').join(' or ');
    const variables = { x: 'a'.repeat(120_000), y: `${'a'.repeat(100)}b${'a'.repeat(60_000)}` };
    const before = process.threadCpuUsage();
    const refused = await render(`{% if ${terms} %}{% endif %}`, variables).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'validation_error' });
    expect(JSON.stringify(refused)).toContain('takes longer than 1000 ms');
    expect(process.threadCpuUsage(before).user).toBeLessThan(500_000);
  });

  it('reaches no members but those that are sent', async () => {
    expect((await render('{{ a.constructor }}{{ a.__proto__ }}', { a: {} })).prompt).toBe('');
  });
});
