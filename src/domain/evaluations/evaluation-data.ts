/** Converts the JSON that was sent into the fields that evaluators read. */

import { hasMorePartsThan, isArray, isObject } from '../../json/free-json.ts';
import { type LosslessJson, type LosslessObject, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import { catalogue } from '../evaluators/evaluator-catalogue.ts';
import type { CatalogueEntry } from '../evaluators/evaluator-settings.ts';
import { Fault } from '../fault.ts';
import { suggestName } from '../nearest-match.ts';
import { cutToCharacters } from '../text-limits.ts';
import type { ConversationTurn, EvaluationRun, EvaluationValue } from './outcome.ts';

type Shape = 'text' | 'texts' | 'turns';

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  ['contexts', 'texts'],
  ['expected_contexts', 'texts'],
  ['candidates', 'texts'],
  ['conversation', 'turns'],
]);

/** Members of `data` that name the trace of the result; no evaluator reads them. */
const TRACE_MEMBERS = ['trace_id', 'span_id'];
const KNOWN_MEMBERS = [...new Set([...catalogue.flatMap(fieldsOf), ...TRACE_MEMBERS])];
const SHOWN_NAME_CHARACTERS_MAX = 100;
const ITEMS_MAX = 10_000;
/** Items and members of one field, at any depth: making a text of them takes the event loop. */
const PARTS_MAX = 100_000;

function fieldsOf({ requiredFields, optionalFields }: CatalogueEntry): readonly string[] {
  return [...requiredFields, ...optionalFields];
}

/**
 * Throws invalid_data where the evaluator would judge nothing of what was sent: a guardrail must not pass a text that a
 * misspelled member hides from it. Null: no data was sent.
 */
export function refuseUnreadData(entry: CatalogueEntry, sent: LosslessObject | null): void {
  const fields = fieldsOf(entry);
  const reads = `${entry.id} reads ${fields.join(', ')}`;
  if (sent === null) throw new Fault('invalid_data', `data is required; ${reads}`);
  const names = Object.keys(sent).filter((name) => readMember(sent, name) !== null);
  const unknown = names.find((name) => !KNOWN_MEMBERS.includes(name));
  if (unknown !== undefined) {
    const shown = cutToCharacters(unknown, SHOWN_NAME_CHARACTERS_MAX);
    throw new Fault(
      'invalid_data',
      `data.${shown} is not a known field${suggestName(unknown, KNOWN_MEMBERS)}; ${reads}`,
    );
  }
  if (fields.length > 0 && !fields.some((field) => names.includes(field))) {
    throw new Fault('invalid_data', `data must have a field that the evaluator reads; ${reads}`);
  }
}

/** What is wrong with the size of a field that the evaluator reads; null: nothing. */
export function sizeProblem(entry: CatalogueEntry, sent: LosslessObject): string | null {
  for (const field of fieldsOf(entry)) {
    const value = readMember(sent, field);
    if (SHAPES.has(field) && isArray(value) && value.length > ITEMS_MAX) {
      return `${field} has more than ${ITEMS_MAX} items`;
    }
    if (hasMorePartsThan(value, PARTS_MAX)) return `${field} has more than ${PARTS_MAX} items and members`;
  }
  return null;
}

/** The fields of the evaluator in their shapes. Null counts as not sent; other members are left out. */
export function readData(entry: CatalogueEntry, sent: LosslessObject): EvaluationRun['data'] {
  const data: { [field: string]: EvaluationValue } = {};
  for (const field of fieldsOf(entry)) {
    const value = readMember(sent, field);
    if (value !== null) data[field] = readField(field, value);
  }
  return data;
}

/** A value in the shape of the field. */
export function readField(field: string, value: LosslessJson): EvaluationValue {
  return toShape(value, SHAPES.get(field) ?? 'text');
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
