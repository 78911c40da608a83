import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideSync, differencesOf, normalizeConfig } from '../../../src/domain/prompts/comparison.ts';
import { NO_SETTINGS, type PromptConfig } from '../../../src/domain/prompts/prompt-config.ts';
import { templateVariables } from '../../../src/domain/prompts/template-variables.ts';

const NAMES = ['input', 'name', 'topic', 'x1', 'long_name'] as const;
const text = fc
  .array(
    fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom(...NAMES.map((name) => `{{ ${name} }}`), '{{', '}}', '{%')),
  )
  .map((parts) => parts.join(' '));
const inputs = fc.uniqueArray(
  fc.record({ identifier: fc.constantFrom(...NAMES), type: fc.constantFrom('str' as const, 'float' as const) }),
  { selector: ({ identifier }) => identifier },
);
const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });

const config: fc.Arbitrary<PromptConfig> = fc.record({
  prompt: text,
  messages: fc.array(fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: text }), {
    maxLength: 3,
  }),
  inputs,
  outputs: fc.constant([{ identifier: 'output', type: 'str' as const, jsonSchemaJson: null }]),
  model: fc.constantFrom('a', 'b'),
  temperature: fc.constantFrom(null, 0, 1),
  maxTokens: fc.constantFrom(null, 1),
  ...Object.fromEntries(
    Object.keys(NO_SETTINGS)
      .filter((name) => name !== 'temperature' && name !== 'maxTokens')
      .map((name) => [name, fc.constant(null)]),
  ),
}) as never;

const content = fc.record({ config, parametersJson: json.map((value) => JSON.stringify(value)) });

describe('contents', () => {
  it('are compared in a form that comparing does not change', () => {
    fc.assert(
      fc.property(config, (any) => {
        const once = normalizeConfig(any);
        expect(normalizeConfig(once)).toEqual(once);
        expect(differencesOf({ config: any, parametersJson: '{}' }, { config: once, parametersJson: '{}' })).toEqual(
          [],
        );
      }),
    );
  });

  it('are equal in any order of the inputs and of the members of their parameters', () => {
    fc.assert(
      fc.property(content, ({ config: any, parametersJson }) => {
        const members = Object.entries(JSON.parse(parametersJson)).reverse();
        // A member of this name would set the prototype.
        fc.pre(members.every(([name]) => name !== '__proto__'));
        const other = {
          config: { ...any, inputs: any.inputs.toReversed() },
          parametersJson: JSON.stringify(Object.fromEntries(members)),
        };
        expect(differencesOf({ config: any, parametersJson }, other)).toEqual([]);
      }),
    );
  });

  it('are equal with the system prompt in the messages', () => {
    fc.assert(
      fc.property(content, ({ config: any, parametersJson }) => {
        const system = { role: 'system' as const, content: any.prompt };
        const lifted = { ...any, prompt: '', messages: [system, ...any.messages] };
        expect(differencesOf({ config: lifted, parametersJson }, { config: any, parametersJson })).toEqual([]);
      }),
    );
  });

  it('have all variables of their texts among their inputs, sorted, with input first', () => {
    fc.assert(
      fc.property(config, (any) => {
        const { inputs: complete } = normalizeConfig(any);
        const names = complete.map(({ identifier }) => identifier);
        const texts = [any.prompt, ...any.messages.map((message) => message.content)];
        expect(new Set(names)).toEqual(
          new Set([...any.inputs.map(({ identifier }) => identifier), ...texts.flatMap(templateVariables)]),
        );
        const others = names.filter((name) => name !== 'input');
        expect(names).toEqual([...(names.includes('input') ? ['input'] : []), ...others.toSorted()]);
        for (const sent of any.inputs) expect(complete).toContainEqual(sent);
      }),
    );
  });

  it('that differ say so from both sides', () => {
    fc.assert(
      fc.property(content, content, (one, another) => {
        expect(differencesOf(one, another).length === 0).toBe(differencesOf(another, one).length === 0);
      }),
    );
  });
});

describe('a sync', () => {
  const facts = fc.record({
    local: content,
    localVersion: fc.constantFrom(null, 0, 1, 2, 3),
    newest: content.map((each) => ({ ...each, version: 2 })),
    base: fc.option(content),
  });

  it('never replaces a version that the file was not made from', () => {
    fc.assert(
      fc.property(facts, (asked) => {
        const { action } = decideSync(asked);
        expect(action === 'updated').toBe(
          asked.localVersion === 2 && differencesOf(asked.local, asked.newest).length > 0,
        );
      }),
    );
  });

  it('has nothing to do for the content of the newest version, or of the version that the file was made from', () => {
    fc.assert(
      fc.property(facts, ({ newest, base, ...asked }) => {
        expect(decideSync({ ...asked, newest, base, local: newest, localVersion: 2 })).toEqual({
          action: 'up_to_date',
        });
        if (base === null) return;
        expect(decideSync({ ...asked, newest, base, local: base, localVersion: 1 })).toEqual({ action: 'up_to_date' });
      }),
    );
  });

  it('finds a conflict in everything else', () => {
    fc.assert(
      fc.property(facts, (asked) => {
        const isBehind = asked.localVersion !== null && asked.localVersion < 2 && asked.base !== null;
        fc.pre(
          asked.localVersion !== 2 && !(isBehind && asked.base && differencesOf(asked.local, asked.base).length === 0),
        );
        const differences = differencesOf(asked.local, asked.newest);
        expect(decideSync(asked)).toEqual({ action: 'conflict', differences });
      }),
    );
  });
});

describe('template variables', () => {
  it.each([
    ['Hello {{ name | upcase }}, {{user.city}}!', ['name', 'user']],
    ['{% for item in items %}{{ item.text }}{% endfor %}', ['items']],
    ["{% if tone == 'formal' and age > 3 %}{{ tone }}{% endif %}", ['tone', 'age']],
    ['{% assign greeting = "Hi" %}{{ greeting }} {{ name }}', ['name']],
    ['{{ a }}{{a}} {{ b', ['a']],
    ['{{ "text" }} {{ 5 }} {{ true }} {{}} {{{x}}}', []],
    ['{{ one\n}} {{ two }}', ['two']],
  ])('of %s are %o', (template, names) => {
    expect(templateVariables(template)).toEqual(names);
  });

  it('are found in time that grows with the text alone', () => {
    for (const part of ['{{', '{%', '{{ a }', '{{{%', '}}{{']) {
      const startedMs = performance.now();
      templateVariables(part.repeat(200_000));
      expect(performance.now() - startedMs).toBeLessThan(5_000);
    }
  });
});
