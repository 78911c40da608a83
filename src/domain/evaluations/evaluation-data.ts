/** What evaluators read, made of whatever JSON was sent for it. */

import type { CatalogueEntry } from '../evaluator-catalogue.ts';
import { isArray, isObject } from '../free-json.ts';
import { type LosslessJson, type LosslessObject, readMember, stringifyLossless } from '../lossless-json.ts';
import type { ConversationTurn, EvaluationRun, EvaluationValue } from './outcome.ts';

type Shape = 'text' | 'texts' | 'turns';

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  ['contexts', 'texts'],
  ['expected_contexts', 'texts'],
  ['candidates', 'texts'],
  ['conversation', 'turns'],
]);

/** The fields that the evaluator reads, as it wants them. What is null was not sent; what it does not read is left out. */
export function readData(
  { requiredFields, optionalFields }: CatalogueEntry,
  sent: LosslessObject,
): EvaluationRun['data'] {
  const fields = [...requiredFields, ...optionalFields].flatMap((field): [string, EvaluationValue][] => {
    const value = readMember(sent, field);
    return value === null ? [] : [[field, toShape(value, SHAPES.get(field) ?? 'text')]];
  });
  return Object.fromEntries(fields);
}

/** The first required field that is not there. */
export function findMissingField({ requiredFields }: CatalogueEntry, data: EvaluationRun['data']): string | null {
  return requiredFields.find((field) => !Object.hasOwn(data, field)) ?? null;
}

/** Why an evaluator without the field does not run. */
export function missingFieldText(field: string, { name }: CatalogueEntry): string {
  return `${field} is required for ${name} evaluator`;
}

function toShape(value: LosslessJson, shape: Shape): EvaluationValue {
  if (shape === 'text') return toText(value);
  const items = isArray(value) ? value : [value];
  return shape === 'texts' ? items.map(toItemText) : items.map(toTurn);
}

function toText(value: LosslessJson): string {
  return typeof value === 'string' ? value : stringifyLossless(value);
}

/** Documents of retrieval often come with more than their content. */
function toItemText(item: LosslessJson): string {
  const content = isObject(item) ? readMember(item, 'content') : null;
  return toText(content ?? item);
}

function toTurn(item: LosslessJson): ConversationTurn {
  if (!isObject(item)) return { input: toText(item), output: '' };
  return { input: toText(readMember(item, 'input') ?? ''), output: toText(readMember(item, 'output') ?? '') };
}
