/** Converts the JSON that was sent into the fields that evaluators read. */

import { isArray, isObject } from '../../json/free-json.ts';
import { type LosslessJson, type LosslessObject, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import type { CatalogueEntry } from '../evaluators/evaluator-settings.ts';
import type { ConversationTurn, EvaluationRun, EvaluationValue } from './outcome.ts';

type Shape = 'text' | 'texts' | 'turns';

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  ['contexts', 'texts'],
  ['expected_contexts', 'texts'],
  ['candidates', 'texts'],
  ['conversation', 'turns'],
]);

/** The fields of the evaluator in their shapes. Null counts as not sent; other members are left out. */
export function readData(
  { requiredFields, optionalFields }: CatalogueEntry,
  sent: LosslessObject,
): EvaluationRun['data'] {
  const data: { [field: string]: EvaluationValue } = {};
  for (const field of [...requiredFields, ...optionalFields]) {
    const value = readMember(sent, field);
    if (value !== null) data[field] = toShape(value, SHAPES.get(field) ?? 'text');
  }
  return data;
}

/** The first required field that is missing. */
export function findMissingField({ requiredFields }: CatalogueEntry, data: EvaluationRun['data']): string | null {
  return requiredFields.find((field) => !Object.hasOwn(data, field)) ?? null;
}

/** The message for a missing field. */
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

/** Retrieved documents are often objects with a `content` member. */
function toItemText(item: LosslessJson): string {
  const content = isObject(item) ? readMember(item, 'content') : null;
  return toText(content ?? item);
}

function toTurn(item: LosslessJson): ConversationTurn {
  if (!isObject(item)) return { input: toText(item), output: '' };
  return { input: toText(readMember(item, 'input') ?? ''), output: toText(readMember(item, 'output') ?? '') };
}
