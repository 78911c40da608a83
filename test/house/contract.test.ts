/** What holds for every message of the contract. */

import { readdirSync } from 'node:fs';
import { type DescField, type DescFile, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { restName } from '../../src/rpc/rest-shape.ts';

const GENERATED = new URL('../../gen/spandrel/v1/', import.meta.url);

const modules = await Promise.all(
  readdirSync(GENERATED)
    .filter((name) => name.endsWith('_pb.js'))
    .map((name): Promise<{ readonly [name: string]: unknown }> => import(new URL(name, GENERATED).href)),
);
const files = modules.flatMap((module) => Object.values(module).filter(isFile));
const fields = files.flatMap(({ messages }) => messages.flatMap(fieldsOf));

function isFile(value: unknown): value is DescFile {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'file';
}

function fieldsOf({ fields: own, nestedMessages }: DescMessage): readonly DescField[] {
  return [...own, ...nestedMessages.flatMap(fieldsOf)];
}

function namesOf(found: readonly DescField[]): readonly string[] {
  return found.map((field) => `${field.parent.name}.${field.name}`);
}

/** Generated Python reads a field by its own name, so these would need getattr. */
const PYTHON_KEYWORDS: ReadonlySet<string> = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
/** How fields that hold an instant are called, here or over REST. */
const INSTANT = /^(from|to|start|end|begin)$|_(at|from|to|seen|since|until)$/;

describe('the contract', () => {
  it('has fields to judge', () => {
    expect(fields.length).toBeGreaterThan(500);
  });

  it('names no field like a keyword of Python', () => {
    expect(namesOf(fields.filter(({ name }) => PYTHON_KEYWORDS.has(name)))).toEqual([]);
  });

  it('has every instant as a Timestamp and not as a number', () => {
    const numbers = fields.filter(({ scalar }) => scalar === ScalarType.INT64 || scalar === ScalarType.INT32);
    expect(namesOf(numbers.filter((field) => INSTANT.test(field.name) || INSTANT.test(restName(field))))).toEqual([]);
  });
});
