/**
 * Every evaluator type as data: its fields, results and settings, in the order in which lists show the types.
 */

import { unavailableEntries } from './evaluator-catalogue-unavailable.ts';
import {
  type CatalogueEntry,
  type DeclaredEntry,
  type RunKind,
  type SettingSet,
  type SettingShape,
  setting,
  unsetSetting,
} from './evaluator-settings.ts';

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

/** Their own settings come after those that all share. */
const judgeEntries: readonly Omit<DeclaredEntry, 'run'>[] = [
  {
    id: 'langevals/llm_boolean',
    name: 'LLM-as-a-Judge Boolean Evaluator',
    description: 'Asks a language model a question about the data that is answered with yes or no.',
    category: 'custom',
    isGuardrail: true,
    optionalFields: ['input', 'output', 'contexts'],
    results: ['passed'],
    settings: { prompt: setting('Judge whether the output answers the input correctly and completely.') },
  },
  {
    id: 'langevals/llm_score',
    name: 'LLM-as-a-Judge Score Evaluator',
    description: 'Asks a language model for a score of the data.',
    category: 'custom',
    optionalFields: ['input', 'output', 'contexts'],
    results: ['score'],
    settings: { prompt: setting('Rate from 0 to 1 how well the output answers the input.') },
  },
  {
    id: 'langevals/llm_category',
    name: 'LLM-as-a-Judge Category Evaluator',
    description: 'Asks a language model which category the data belongs to.',
    category: 'custom',
    optionalFields: ['input', 'output', 'contexts'],
    results: ['label'],
    settings: {
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

/** The entry with that id, if there is one. */
export function findCatalogueEntry(id: string): CatalogueEntry | undefined {
  return entriesById.get(id);
}

const textRules: SettingShape = {
  kind: 'array',
  count: [0, 100],
  items: {
    kind: 'object',
    complete: true,
    members: {
      field: oneOf('input', 'output'),
      rule: oneOf('contains', 'not_contains', 'matches_regex', 'not_matches_regex'),
      value: { kind: 'string', length: [1, 10_000] },
    },
  },
};

const competitorNames: SettingShape = {
  kind: 'array',
  count: [1, 1000],
  items: { kind: 'string', length: [1, 255], trimmed: true },
};

const contextEntry = {
  category: 'rag',
  requiredFields: ['contexts', 'expected_contexts'],
  results: ['score'],
  settings: { distance_measure: setting('levenshtein', oneOf('levenshtein', 'hamming', 'jaro')) },
} as const;

function oneOf(...choices: readonly string[]): SettingShape {
  return { kind: 'string', choices };
}

const inProcessEntries: readonly Omit<DeclaredEntry, 'run'>[] = [
  {
    id: 'langevals/exact_match',
    name: 'Exact Match Evaluator',
    description: 'Tells whether the output is the expected output, as a number or as a text.',
    category: 'quality',
    optionalFields: ['output', 'expected_output'],
    results: ['passed'],
    settings: { case_sensitive: setting(false), trim_whitespace: setting(true), remove_punctuation: setting(true) },
  },
  {
    id: 'langevals/basic',
    name: 'Custom Basic Evaluator',
    description: 'Checks the input and the output by rules: texts they hold, and regular expressions they match.',
    category: 'custom',
    isGuardrail: true,
    optionalFields: ['input', 'output'],
    results: ['passed'],
    settings: {
      rules: setting([{ field: 'output', rule: 'not_contains', value: 'artificial intelligence' }], textRules),
    },
  },
  {
    id: 'langevals/competitor_blocklist',
    name: 'Competitor Blocklist',
    description: 'Finds names that must not be mentioned.',
    category: 'policy',
    isGuardrail: true,
    optionalFields: ['output', 'input'],
    results: ['score', 'passed'],
    settings: { competitors: setting(['OpenAI', 'Google', 'Microsoft'], competitorNames) },
  },
  {
    id: 'langevals/valid_format',
    name: 'Valid Format Evaluator',
    description: 'Tells whether the output is valid JSON, Markdown or SQL.',
    category: 'quality',
    isGuardrail: true,
    optionalFields: ['output'],
    results: ['passed'],
    settings: {
      format: setting('json', oneOf('json', 'markdown', 'sql', 'python')),
      json_schema: unsetSetting({ kind: 'string' }),
    },
  },
  {
    id: 'ragas/bleu_score',
    name: 'BLEU Score',
    description: 'Compares the words of the output with those of the expected output, as BLEU does for translations.',
    category: 'quality',
    requiredFields: ['output', 'expected_output'],
    results: ['score'],
  },
  {
    id: 'ragas/rouge_score',
    name: 'ROUGE Score',
    description: 'Compares the words of the output with those of the expected output, as ROUGE does for summaries.',
    category: 'quality',
    requiredFields: ['output', 'expected_output'],
    results: ['score'],
    settings: {
      rouge_type: setting('rouge1', oneOf('rouge1', 'rougeL')),
      measure_type: setting('fmeasure', oneOf('fmeasure', 'precision', 'recall')),
    },
  },
  {
    ...contextEntry,
    id: 'ragas/context_precision',
    name: 'Context Precision',
    description: 'Tells how high the relevant contexts stand among those that were retrieved.',
  },
  {
    ...contextEntry,
    id: 'ragas/context_recall',
    name: 'Context Recall',
    description: 'Tells how many of the expected contexts were retrieved.',
  },
  {
    ...contextEntry,
    id: 'ragas/context_f1',
    name: 'Context F1',
    description: 'Weighs precision and recall of the retrieved contexts in one score.',
  },
  {
    id: 'langwatch/api_keys_and_secrets_detection',
    name: 'API Keys and Secrets Detection',
    description: 'Finds keys, tokens and passwords in the input and the output.',
    category: 'safety',
    isGuardrail: true,
    optionalFields: ['input', 'output'],
    results: ['score', 'passed'],
  },
];

const declaredEntries: readonly DeclaredEntry[] = [
  ...inProcessEntries.map((entry) => ({ ...entry, run: 'in_process' as const })),
  ...judgeEntries.map(({ settings, ...entry }) => ({
    ...entry,
    run: 'judge' as const,
    settings: { ...sharedSettings, ...settings },
  })),
  ...unavailableEntries,
];

export const catalogue: readonly CatalogueEntry[] = declaredEntries.map((entry) => ({
  isGuardrail: false,
  requiredFields: [],
  optionalFields: [],
  settings: {},
  ...entry,
}));

export const catalogueIds: readonly string[] = catalogue.map((entry) => entry.id);

const entriesById: ReadonlyMap<string, CatalogueEntry> = new Map(catalogue.map((entry) => [entry.id, entry]));

const REASONS: { readonly [K in RunKind]: string | null } = {
  in_process: null,
  judge: null,
  local_model: 'needs a local detection model',
  cloud: 'needs a cloud service',
  embeddings: 'needs an embeddings model',
  not_implemented: 'not implemented in this version',
};

/** Null for a type that this server can run, given a language model where it needs one. */
export function unavailableReason({ run }: CatalogueEntry): string | null {
  return REASONS[run];
}
