/** The OpenAPI document for tests; compiles each schema at its first use. */

import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: a document holds arbitrary JSON.
type Json = any;

export const OPENAPI: Json = JSON.parse(readFileSync(new URL('../../../gen/openapi.json', import.meta.url), 'utf8'));

export type Check = (value: unknown) => string[];

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let answers: Ajv2020 | null = null;
let requests: Ajv2020 | null = null;
const compiled = new Map<string, Check>();

/** Checks an answer by the JSON pointer of its schema; rejects members that the schema lacks. */
export function answerCheck(pointer: string): Check {
  answers ??= createAjv(closeObjects(OPENAPI));
  return compile(answers, 'answer', pointer);
}

/** Checks a request; allows extra members, which the server ignores. */
export function requestCheck(pointer: string): Check {
  requests ??= createAjv(OPENAPI);
  return compile(requests, 'request', pointer);
}

function createAjv(document: Json): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    inlineRefs: false,
    // A worker uses each schema a few times only, so optimizing its code takes longer than it saves.
    code: { optimize: false },
  });
  ajv.addFormat('date-time', INSTANT);
  ajv.addFormat('int32', { type: 'number', validate: (value: number) => Math.abs(value) <= 2 ** 31 });
  for (const format of ['int64', 'double']) ajv.addFormat(format, true);
  return ajv.addSchema(document, 'openapi.json');
}

function compile(ajv: Ajv2020, kind: string, pointer: string): Check {
  const key = `${kind} ${pointer}`;
  const known = compiled.get(key);
  if (known) return known;
  const validate: ValidateFunction = ajv.compile({ $ref: `openapi.json${pointer}` });
  const check: Check = (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '(root)'} ${message} ${JSON.stringify(params)}`,
    );
  };
  compiled.set(key, check);
  return check;
}

/** Forbids extra members in objects that list properties, except in parts of an `allOf`. */
function closeObjects(value: Json, isPart = false): Json {
  if (Array.isArray(value)) return value.map((each) => closeObjects(each));
  if (typeof value !== 'object' || value === null) return value;
  const closed = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'allOf' ? (each as Json[]).map((part) => closeObjects(part, true)) : closeObjects(each, isPart),
    ]),
  );
  const isObject = value.type === 'object' && typeof value.properties === 'object';
  return isObject && !isPart && !('additionalProperties' in value)
    ? { ...closed, additionalProperties: false }
    : closed;
}
