/** The public view of the catalogue: fields, results and settings of each evaluator type, and whether it runs here. */

import { catalogue, unavailableReason } from '../evaluators/evaluator-catalogue.ts';
import type { CatalogueEntry, ResultKind, Setting, SettingShape } from '../evaluators/evaluator-settings.ts';
import type { JsonValue } from '../fault.ts';
import { pick } from '../pick.ts';

export type EvaluatorTypeView = {
  readonly entry: CatalogueEntry;
  /** The default of each setting, by key. */
  readonly settings: { readonly [key: string]: Pick<Setting, 'default'> };
  /** A JSON Schema. */
  readonly settingsSchema: JsonSchema;
  /** The environment variables that the type needs. */
  readonly envVars: readonly string[];
  readonly results: Readonly<Partial<Record<ResultKind, string>>>;
  /** Null: the type can be run. */
  readonly unavailableReason: string | null;
};

type JsonSchema = { readonly [keyword: string]: JsonValue };

const NO_MODEL = 'no LLM endpoint is configured (SPANDREL_LLM_BASE_URL)';
const JUDGE_SETTINGS = ['SPANDREL_LLM_BASE_URL', 'SPANDREL_LLM_API_KEY'];

const MEANINGS: { readonly [K in ResultKind]: string } = {
  score: 'A number; what it counts depends on the evaluator.',
  passed: 'Whether the data is as the evaluator wants it.',
  label: 'What the evaluator takes the data for.',
};

/** In the order of the catalogue. `hasModel`: whether a language model is configured. */
export function listEvaluatorTypes(hasModel: boolean): readonly EvaluatorTypeView[] {
  return catalogue.map((entry) => ({
    entry,
    settings: Object.fromEntries(Object.entries(entry.settings).map(([key, known]) => [key, pick(known, ['default'])])),
    settingsSchema: schemaOf(entry),
    envVars: entry.run === 'judge' ? JUDGE_SETTINGS : [],
    results: Object.fromEntries(entry.results.map((result) => [result, MEANINGS[result]])),
    unavailableReason: entry.run === 'judge' && !hasModel ? NO_MODEL : unavailableReason(entry),
  }));
}

function schemaOf({ settings }: CatalogueEntry): JsonSchema {
  const properties = Object.entries(settings).map(([key, { shape, default: value }]): [string, JsonSchema] => [
    key,
    value === null ? schemaOfShape(shape) : { ...schemaOfShape(shape), default: value },
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: Object.fromEntries(properties),
  };
}

function schemaOfShape(shape: SettingShape): JsonSchema {
  switch (shape.kind) {
    case 'any':
      return {};
    case 'string':
      return {
        type: 'string',
        ...(shape.choices && { enum: [...shape.choices] }),
        ...(shape.length && { minLength: shape.length[0], maxLength: shape.length[1] }),
      };
    case 'array':
      return {
        type: 'array',
        items: schemaOfShape(shape.items),
        ...(shape.count && { minItems: shape.count[0], maxItems: shape.count[1] }),
      };
    case 'object': {
      const members = Object.entries(shape.members).map(([key, member]) => [key, schemaOfShape(member)] as const);
      return {
        type: 'object',
        properties: Object.fromEntries(members),
        ...(shape.complete && { required: Object.keys(shape.members) }),
      };
    }
    default:
      return { type: shape.kind };
  }
}
