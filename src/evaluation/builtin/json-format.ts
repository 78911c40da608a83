/** Checks that the output is JSON and satisfies a JSON Schema. */

import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
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
  if (validate(value)) return verdictOf(true);
  const [first] = validate.errors ?? [];
  const problem = `${first?.instancePath ?? ''} ${first?.message ?? 'does not match'}`.trim();
  return verdictOf(false, `JSON Schema validation failed: ${problem}`);
}

const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

/** Throws for an invalid schema. Nothing is fetched: references outside the schema are refused. */
function compileSchema(schema: unknown): ValidateFunction {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema))) {
    throw new Error('a schema is an object or a boolean');
  }
  const draft = typeof schema === 'object' && '$schema' in schema ? String(schema.$schema) : '';
  const ajv = DRAFT_07.test(draft) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  return ajv.compile(schema);
}

const OPTIONS: Options = {
  // Unknown keywords and `format` are annotations.
  strict: false,
  validateFormats: false,
  // Without a logger Ajv writes to the console.
  logger: false,
  code: { regExp: Object.assign(compileSchemaPattern, { code: 'compileSchemaPattern' }) },
};

function compileSchemaPattern(pattern: string): { test(text: string): boolean } {
  return RE2JS.compile(pattern);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
