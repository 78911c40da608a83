import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExperimentRunSchema } from '../../gen/spandrel/v1/experiments_pb.js';
import { PromptInputType, PromptSchema } from '../../gen/spandrel/v1/prompts_pb.js';
import { problemOf, toContent, toDraft, toVariables, variablesOf } from '../../src/console/prompts/draft.ts';
import { guessMapping, type Plan, planOf, toTarget, valuesOf } from '../../src/console/prompts/evaluation-plan.ts';
import { tracesOf } from '../../src/console/prompts/search.ts';
import { parseQueryLine, sentFilters } from '../../src/console/traces/query-line.ts';

const DRAFT = toDraft(
  create(PromptSchema, {
    prompt: 'You greet {{name}}.',
    model: 'openai/gpt-5',
    temperature: 0.5,
    inputs: [
      { identifier: 'rows', type: PromptInputType.LIST },
      { identifier: 'name', type: PromptInputType.STR },
    ],
    parametersJson: '{}',
  }),
);

describe('the editor of a prompt', () => {
  it('finds the variables of its texts, and keeps those that are only declared', () => {
    const names = variablesOf({ ...DRAFT, system: '{{name}} {{ other }}' });
    expect(names.map(({ name, isUsed }) => [name, isUsed])).toEqual([
      ['name', true],
      ['other', true],
      ['rows', false],
    ]);
  });

  it('unsets a number that was emptied, and sends the others', () => {
    const { temperature, clear } = { temperature: null, ...toContent(DRAFT) };
    expect([temperature, clear]).toEqual([0.5, ['maxTokens']]);
    const emptied = toContent({ ...DRAFT, temperature: ' ', maxTokens: '64' });
    expect(emptied).toMatchObject({ clear: ['temperature'], maxTokens: 64 });
    expect(emptied).not.toHaveProperty('temperature');
  });

  it.each([
    [{ system: ' ' }, 'The system message is empty.'],
    [{ temperature: 'warm' }, 'The temperature is not a number.'],
    [{ maxTokens: '0' }, 'Max tokens is not a whole number from 1.'],
    [{ parameters: '[]' }, 'The parameters are not a JSON object.'],
    [{}, null],
  ])('says what is wrong with %o', (part, said) => {
    expect(problemOf({ ...DRAFT, ...part })).toBe(said);
  });

  it('sends texts as they are, and values of other types as JSON', () => {
    const variables = variablesOf(DRAFT);
    expect(toVariables(variables, { name: '5', rows: '[1, "a"]' })).toEqual({ json: '{"name":"5","rows":[1,"a"]}' });
    expect(toVariables(variables, { rows: '[' })).toBe('The value of rows is not JSON.');
  });
});

const PLAN: Plan = {
  ...{ promptId: 'prompt_1', version: 2, virtualKeyId: 'vk_1', entries: 3 },
  ...{ mapping: { name: 'customer' }, evaluators: [] },
};

describe('the evaluation of a prompt', () => {
  it('maps variables to the columns of their names, and a single one to the input', () => {
    expect(guessMapping(['name', 'input'], ['input', 'name', 'more'])).toEqual({ name: 'name', input: 'input' });
    expect(guessMapping(['question'], ['input', 'expected_output'])).toEqual({ question: 'input' });
    expect(guessMapping(['a', 'b'], ['input'])).toEqual({});
  });

  it('leaves out what an entry does not have', () => {
    expect(valuesOf({ name: 'customer', other: 'gone' }, { customer: ['Ada'] })).toEqual({ name: ['Ada'] });
  });

  it('is read again from its run, and from no other one', () => {
    const target = toTarget(PLAN, 'support/greeting');
    const run = create(ExperimentRunSchema, { targets: [target] });
    expect(planOf(run, PLAN.promptId)).toEqual(PLAN);
    expect(planOf(run, 'prompt_2')).toBeNull();
    const foreign = { ...target, metadataJson: '{"promptId":"prompt_1","entries":"many"}' };
    expect(planOf(create(ExperimentRunSchema, { targets: [foreign] }), PLAN.promptId)).toBeNull();
  });
});

it('the traces of a prompt are found by the filter on its id', () => {
  const { filters, text } = parseQueryLine(tracesOf('prompt_7').q ?? '');
  expect([text, sentFilters(filters)]).toEqual(['', [{ name: 'prompt.id', values: ['prompt_7'] }]]);
});
