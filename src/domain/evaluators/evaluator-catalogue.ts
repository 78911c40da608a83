/**
 * Every evaluator type as data: its fields, results and settings, in the order in which lists show the types.
 */

import { judgeEntries } from './evaluator-catalogue-judges.ts';
import { unavailableEntries } from './evaluator-catalogue-unavailable.ts';
import {
  type CatalogueEntry,
  type RunKind,
  type SettingSet,
  type SettingShape,
  setting,
  unsetSetting,
} from './evaluator-settings.ts';

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

const contextSettings: SettingSet = {
  distance_measure: setting('levenshtein', oneOf('levenshtein', 'hamming', 'jaro')),
};

function oneOf(...choices: readonly string[]): SettingShape {
  return { kind: 'string', choices };
}

const inProcessEntries: readonly CatalogueEntry[] = [
  {
    id: 'langevals/exact_match',
    name: 'Exact Match Evaluator',
    category: 'quality',
    isGuardrail: false,
    requiredFields: [],
    optionalFields: ['output', 'expected_output'],
    results: ['passed'],
    run: 'in_process',
    settings: { case_sensitive: setting(false), trim_whitespace: setting(true), remove_punctuation: setting(true) },
  },
  {
    id: 'langevals/basic',
    name: 'Custom Basic Evaluator',
    category: 'custom',
    isGuardrail: true,
    requiredFields: [],
    optionalFields: ['input', 'output'],
    results: ['passed'],
    run: 'in_process',
    settings: {
      rules: setting([{ field: 'output', rule: 'not_contains', value: 'artificial intelligence' }], textRules),
    },
  },
  {
    id: 'langevals/competitor_blocklist',
    name: 'Competitor Blocklist',
    category: 'policy',
    isGuardrail: true,
    requiredFields: [],
    optionalFields: ['output', 'input'],
    results: ['score', 'passed'],
    run: 'in_process',
    settings: { competitors: setting(['OpenAI', 'Google', 'Microsoft'], competitorNames) },
  },
  {
    id: 'langevals/valid_format',
    name: 'Valid Format Evaluator',
    category: 'quality',
    isGuardrail: true,
    requiredFields: [],
    optionalFields: ['output'],
    results: ['passed'],
    run: 'in_process',
    settings: {
      format: setting('json', oneOf('json', 'markdown', 'sql', 'python')),
      json_schema: unsetSetting({ kind: 'string' }),
    },
  },
  {
    id: 'ragas/bleu_score',
    name: 'BLEU Score',
    category: 'quality',
    isGuardrail: false,
    requiredFields: ['output', 'expected_output'],
    optionalFields: [],
    results: ['score'],
    run: 'in_process',
    settings: {},
  },
  {
    id: 'ragas/rouge_score',
    name: 'ROUGE Score',
    category: 'quality',
    isGuardrail: false,
    requiredFields: ['output', 'expected_output'],
    optionalFields: [],
    results: ['score'],
    run: 'in_process',
    settings: {
      rouge_type: setting('rouge1', oneOf('rouge1', 'rougeL')),
      measure_type: setting('fmeasure', oneOf('fmeasure', 'precision', 'recall')),
    },
  },
  {
    id: 'ragas/context_precision',
    name: 'Context Precision',
    category: 'rag',
    isGuardrail: false,
    requiredFields: ['contexts', 'expected_contexts'],
    optionalFields: [],
    results: ['score'],
    run: 'in_process',
    settings: contextSettings,
  },
  {
    id: 'ragas/context_recall',
    name: 'Context Recall',
    category: 'rag',
    isGuardrail: false,
    requiredFields: ['contexts', 'expected_contexts'],
    optionalFields: [],
    results: ['score'],
    run: 'in_process',
    settings: contextSettings,
  },
  {
    id: 'ragas/context_f1',
    name: 'Context F1',
    category: 'rag',
    isGuardrail: false,
    requiredFields: ['contexts', 'expected_contexts'],
    optionalFields: [],
    results: ['score'],
    run: 'in_process',
    settings: contextSettings,
  },
  {
    id: 'langwatch/api_keys_and_secrets_detection',
    name: 'API Keys and Secrets Detection',
    category: 'safety',
    isGuardrail: true,
    requiredFields: [],
    optionalFields: ['input', 'output'],
    results: ['score', 'passed'],
    run: 'in_process',
    settings: {},
  },
];

export const catalogue: readonly CatalogueEntry[] = [...inProcessEntries, ...judgeEntries, ...unavailableEntries];

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
