/** The inputs and outputs of evaluators, from the catalogue or as their authors declare them. */

import { isArray, isObject, jsonTypeOf, type LosslessJson, readMember } from '../../json/lossless-json.ts';
import type { Reason } from '../fault.ts';
import { lengthReason, receivedType, typeReason } from '../reasons.ts';
import type { EvaluatorField } from './evaluator.ts';
import type { CatalogueEntry } from './evaluator-settings.ts';

/** An input or output as sent; null: not sent. */
export type EvaluatorFieldDraft = {
  readonly identifier: string;
  readonly type: string | null;
  readonly optional: boolean | null;
};

const LIST_FIELDS: ReadonlySet<string> = new Set(['contexts', 'expected_contexts', 'conversation', 'candidates']);

/** The inputs of a catalogue entry, required fields first. */
export function inputsOf(entry: CatalogueEntry): EvaluatorField[] {
  const describe = (identifier: string, optional: boolean): EvaluatorField => {
    return { identifier, type: LIST_FIELDS.has(identifier) ? 'list' : 'str', optional };
  };
  return [
    ...entry.requiredFields.map((identifier) => describe(identifier, false)),
    ...entry.optionalFields.map((identifier) => describe(identifier, true)),
  ];
}

const RESULT_TYPES = { score: 'float', passed: 'bool', label: 'str' } as const;

/** The outputs of a catalogue entry; all possible ones where the entry declares none. */
export function outputsOf(entry: CatalogueEntry): EvaluatorField[] {
  return (['score', 'passed', 'label'] as const)
    .filter((result) => entry.results.length === 0 || entry.results.includes(result))
    .map((result) => ({ identifier: result, type: RESULT_TYPES[result], optional: false }));
}

/** Inputs or outputs of one evaluator. */
const FIELDS_MAX = 200;

/** The fields of a list as sent; null: not sent. */
export function validateFieldList(sent: LosslessJson, path: string, found: Reason[]): EvaluatorField[] {
  if (sent === null) return [];
  if (!isArray(sent)) {
    found.push(typeReason(path, 'array', jsonTypeOf(sent)));
    return [];
  }
  if (isTooLong(sent, path, found)) return [];
  return validateFields(
    sent.map((item, index) => readFieldDraft(item, `${path}.${index}`, found)),
    path,
    found,
  );
}

/** The stored fields; the reasons of a null draft are already in `found`. */
export function validateFields(
  drafts: readonly (EvaluatorFieldDraft | null)[],
  path: string,
  found: Reason[],
): EvaluatorField[] {
  if (isTooLong(drafts, path, found)) return [];
  return drafts.map((draft, index) => validateField(draft, `${path}.${index}`, found));
}

function isTooLong(items: readonly unknown[], path: string, found: Reason[]): boolean {
  if (items.length <= FIELDS_MAX) return false;
  found.push(lengthReason(path, `at most ${FIELDS_MAX} items`));
  return true;
}

/** Null where the item cannot be read as a field; the reason is then in `found`. */
function readFieldDraft(item: LosslessJson, path: string, found: Reason[]): EvaluatorFieldDraft | null {
  if (!isObject(item)) {
    found.push(typeReason(path, 'object', jsonTypeOf(item)));
    return null;
  }
  const identifier = readMember(item, 'identifier');
  const type = readMember(item, 'type');
  const optional = readMember(item, 'optional');
  if (typeof identifier !== 'string') {
    found.push(typeReason(`${path}.identifier`, 'string', receivedType(identifier)));
  }
  if (type !== null && typeof type !== 'string') found.push(typeReason(`${path}.type`, 'string', jsonTypeOf(type)));
  if (optional !== null && typeof optional !== 'boolean') {
    found.push(typeReason(`${path}.optional`, 'boolean', jsonTypeOf(optional)));
  }
  if (typeof identifier !== 'string') return null;
  return {
    identifier,
    type: typeof type === 'string' ? type : null,
    optional: typeof optional === 'boolean' ? optional : null,
  };
}

function validateField(draft: EvaluatorFieldDraft | null, path: string, found: Reason[]): EvaluatorField {
  if (draft?.identifier === '') found.push(lengthReason(`${path}.identifier`, 'at least 1 character'));
  return {
    identifier: (draft?.identifier ?? '').toWellFormed(),
    type: (draft?.type ?? 'str').toWellFormed(),
    optional: draft?.optional ?? false,
  };
}
