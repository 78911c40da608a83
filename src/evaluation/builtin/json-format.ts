/** Checks that the output is JSON and satisfies a JSON Schema. */

import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { isMultiple } from './json-multiple.ts';
import { failed, verdictOf } from './outcomes.ts';

export function judgeJson(output: string, { settings }: EvaluationRun): EvaluationOutcome {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch (error) {
    return verdictOf(false, `Invalid JSON: ${messageOf(error)}`);
  }
  const { json_schema: schema } = settings;
  return typeof schema === 'string' ? followSchema(value, schema) : verdictOf(true);
}

function followSchema(value: unknown, schemaText: string): EvaluationOutcome {
  let validate: ValidateFunction;
  try {
    validate = compileSchema(JSON.parse(schemaText));
  } catch (error) {
    return failed('json_schema_error', `Invalid JSON Schema: ${messageOf(error)}`);
  }
  if (validate(value) === true) return verdictOf(true);
  const [first] = validate.errors ?? [];
  const problem = `${first?.instancePath ?? ''} ${first?.message ?? 'does not match'}`.trim();
  return verdictOf(false, `JSON Schema validation failed: ${problem}`);
}

const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

/** Throws for an invalid schema. Nothing is fetched: references outside the schema are refused. */
function compileSchema(schema: unknown): ValidateFunction {
  if (typeof schema !== 'boolean' && !isObject(schema)) throw new Error('a schema is an object or a boolean');
  const draft = isObject(schema) ? schema.$schema : undefined;
  const is07 = typeof draft === 'string' && DRAFT_07.test(draft);
  // Draft 2020-12 applies to every other one, also to those that Ajv does not know.
  if (isObject(schema) && typeof draft === 'string' && !is07) delete schema.$schema;
  removeDialects(schema);
  const ajv = is07 ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  // Draft 4 had `id`; here it is an annotation, which Ajv would refuse.
  ajv.removeKeyword('id').removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: ({ schema: divisor }) => `must be multiple of ${String(divisor)}` },
    validate: (divisor: number, number: number) => isMultiple(number, divisor),
  });
  const validate = ajv.compile(schema);
  if ('$async' in validate) throw new Error(NO_ASYNC);
  return validate;
}

const NO_ASYNC = '$async is not supported';

const OPTIONS: Options = {
  // Unknown keywords and `format` are annotations.
  strict: false,
  validateFormats: false,
  // Otherwise every object would have the members toString and constructor.
  ownProperties: true,
  // Without a logger Ajv writes to the console.
  logger: false,
  code: { regExp: Object.assign(compileSchemaPattern, { code: 'compileSchemaPattern' }) },
};

function compileSchemaPattern(pattern: string): { test(text: string): boolean } {
  return RE2JS.compile(pattern);
}

const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
]);
/** Their members are data or names, which only look like schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'dependentRequired']);

/**
 * Throws for `$async`, a keyword of Ajv: the schema's function would return a promise, which passes everything. Drops
 * `nullable`, which is OpenAPI's: Ajv would follow it, and refuse it where there is no `type`.
 */
function removeDialects(schema: unknown): void {
  if (Array.isArray(schema)) for (const each of schema) removeDialects(each);
  if (!isObject(schema)) return;
  if ('$async' in schema) throw new Error(NO_ASYNC);
  delete schema.nullable;
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA.has(keyword)) continue;
    if (SCHEMAS_BY_NAME.has(keyword) && isObject(value)) removeDialects(Object.values(value));
    else removeDialects(value);
  }
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
