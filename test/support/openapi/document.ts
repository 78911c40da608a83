/** The OpenAPI document as tests read it, with its schemas compiled when they are first needed. */

import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: a document is whatever JSON it is.
type Json = any;

export const OPENAPI: Json = JSON.parse(readFileSync(new URL('../../../gen/openapi.json', import.meta.url), 'utf8'));

export type Check = (value: unknown) => string[];

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let answers: Ajv2020 | null = null;
let requests: Ajv2020 | null = null;
const compiled = new Map<string, Check>();

/** Of an answer, by the JSON pointer of its schema: members that the document does not have are wrong. */
export function answerCheck(pointer: string): Check {
  answers ??= createAjv(closeObjects(OPENAPI));
  return compile(answers, 'answer', pointer);
}

/** Of what is sent: further members are ignored by the server. */
export function requestCheck(pointer: string): Check {
  requests ??= createAjv(OPENAPI);
  return compile(requests, 'request', pointer);
}

function createAjv(document: Json): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false });
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

/** Every object that has properties and says nothing about others has no others. Parts of an `allOf` are no whole object. */
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
