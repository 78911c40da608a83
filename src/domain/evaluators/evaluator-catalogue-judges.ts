/** The evaluator types that ask a language model for the verdict. */

import { type DeclaredEntry, type SettingSet, type SettingShape, setting, unsetSetting } from './evaluator-settings.ts';

/** The settings of every judge; the default model is that of the server. */
const sharedSettings: SettingSet = {
  model: unsetSetting({ kind: 'string' }),
  temperature: unsetSetting({ kind: 'number' }),
  max_tokens: unsetSetting({ kind: 'integer' }),
  prompt: unsetSetting({ kind: 'string' }),
};

function listOf(members: readonly string[], count: readonly [min: number, max: number]): SettingShape {
  const shapes = members.map((member): [string, SettingShape] => [member, { kind: 'string' }]);
  return { kind: 'array', count, items: { kind: 'object', complete: true, members: Object.fromEntries(shapes) } };
}

export const judgeEntries: readonly Omit<DeclaredEntry, 'run'>[] = [
  {
    id: 'langevals/llm_boolean',
    name: 'LLM-as-a-Judge Boolean Evaluator',
    description: 'Asks a language model a question about the data that is answered with yes or no.',
    category: 'custom',
    isGuardrail: true,
    optionalFields: ['input', 'output', 'contexts'],
    results: ['passed'],
    settings: {
      ...sharedSettings,
      prompt: setting('Judge whether the output answers the input correctly and completely.'),
    },
  },
  {
    id: 'langevals/llm_score',
    name: 'LLM-as-a-Judge Score Evaluator',
    description: 'Asks a language model for a score of the data.',
    category: 'custom',
    optionalFields: ['input', 'output', 'contexts'],
    results: ['score'],
    settings: { ...sharedSettings, prompt: setting('Rate from 0 to 1 how well the output answers the input.') },
  },
  {
    id: 'langevals/llm_category',
    name: 'LLM-as-a-Judge Category Evaluator',
    description: 'Asks a language model which category the data belongs to.',
    category: 'custom',
    optionalFields: ['input', 'output', 'contexts'],
    results: ['label'],
    settings: {
      ...sharedSettings,
      prompt: setting('Choose the one category that fits best.'),
      categories: setting(
        [
          { name: 'smalltalk', description: 'Casual conversation' },
          { name: 'question', description: 'A request for information or help' },
        ],
        listOf(['name', 'description'], [2, 50]),
      ),
    },
  },
  {
    id: 'langevals/llm_answer_match',
    name: 'LLM Answer Match',
    description: 'Asks a language model whether the output says the same as the expected output.',
    category: 'quality',
    optionalFields: ['input', 'output', 'expected_output'],
    results: ['passed'],
    settings: {
      ...sharedSettings,
      prompt: setting(
        'Decide whether the output gives the same answer to the input as the expected output. Ignore wording.',
      ),
    },
  },
  {
    id: 'langevals/off_topic',
    name: 'Off Topic Evaluator',
    description: 'Asks a language model whether the input is about one of the allowed topics.',
    category: 'policy',
    isGuardrail: true,
    requiredFields: ['input'],
    results: ['score', 'passed', 'label'],
    settings: {
      ...sharedSettings,
      allowed_topics: setting(
        [
          { topic: 'simple_chat', description: 'Small talk with the user' },
          { topic: 'company', description: 'Questions about the company and its products' },
        ],
        listOf(['topic', 'description'], [1, 50]),
      ),
    },
  },
  {
    id: 'ragas/rubrics_based_scoring',
    name: 'Rubrics Based Scoring',
    description: 'Asks a language model which of several described grades the output deserves.',
    category: 'quality',
    requiredFields: ['input', 'output'],
    optionalFields: ['expected_output'],
    results: ['score'],
    settings: {
      ...sharedSettings,
      rubrics: setting(
        [
          { description: 'entirely wrong' },
          { description: 'mostly wrong' },
          { description: 'partly right' },
          { description: 'mostly right' },
          { description: 'fully right' },
        ],
        listOf(['description'], [2, 10]),
      ),
    },
  },
];
