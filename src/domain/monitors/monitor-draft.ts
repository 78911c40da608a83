/** Validates a draft of a monitor, except for the rules that depend on its evaluator. */

import { parseLossless } from '../../json/bounded-json.ts';
import { parseFreeJson } from '../../json/free-json.ts';
import {
  isObject,
  jsonTypeOf,
  type LosslessJson,
  type LosslessObject,
  type RawNumber,
  readMember,
} from '../../json/lossless-json.ts';
import { refuseUnstorableIn } from '../evaluators/evaluator-draft.ts';
import type { Reason } from '../fault.ts';
import { choiceReason, countCodePoints, lengthReason, typeReason } from '../reasons.ts';
import { nameProblems } from '../resources.ts';
import {
  type ExecutionMode,
  type Mappings,
  type Precondition,
  type PreconditionValue,
  readSource,
  SOURCES_TEXT,
} from './monitor.ts';

/** A monitor as sent; null: not sent. JSON of any shape is text. */
export type MonitorDraft = {
  readonly name: string | null;
  readonly evaluatorId: string | null;
  readonly enabled: boolean | null;
  readonly sample: number | null;
  readonly preconditions: readonly PreconditionDraft[] | null;
  readonly mappingsJson: string | null;
  readonly parametersJson: string | null;
  readonly executionMode: ExecutionMode | null;
  readonly level: string | null;
};

export type PreconditionDraft = {
  readonly field: string;
  readonly rule: string | null;
  readonly valueJson: string | null;
};

/** The members that need parsing; null: not sent. */
type ParsedParts = {
  readonly preconditions: readonly Precondition[] | null;
  readonly mappings: Mappings | null;
  readonly parameters: LosslessObject | null;
};

const PRECONDITIONS_MAX = 20;
const MAPPINGS_MAX = 20;
const TEXT_LENGTH_MAX = 1_000;
/** The monitors of a project are read together. */
const PARAMETERS_MAX_BYTES = 65_536;
const DEPTH_MAX = 64;
const METADATA = /^metadata\..+/su;

/** Every problem of a draft that does not depend on the evaluator. */
export function monitorProblems(draft: MonitorDraft): readonly Reason[] {
  return readDraft(draft).problems;
}

/** The same for a new monitor, which needs a name and an evaluator. */
export function newMonitorProblems(draft: MonitorDraft): readonly Reason[] {
  const missing = (['name', 'evaluatorId'] as const).filter((field) => draft[field] === null);
  return [...missing.map((field) => typeReason(field, 'string', 'undefined')), ...monitorProblems(draft)];
}

/** Only for a draft without problems. */
export function readParts(draft: MonitorDraft): ParsedParts {
  return readDraft(draft).parts;
}

function readDraft(draft: MonitorDraft): { readonly parts: ParsedParts; readonly problems: readonly Reason[] } {
  const problems: Reason[] = draft.name === null ? [] : [...nameProblems(draft.name)];
  if (draft.evaluatorId?.includes('\0')) {
    problems.push({ field: 'evaluatorId', type: 'invalid_format', message: 'evaluatorId must not contain U+0000' });
  }
  validateSample(draft.sample, problems);
  const parts: ParsedParts = {
    preconditions: draft.preconditions === null ? null : validatePreconditions(draft.preconditions, problems),
    mappings: draft.mappingsJson === null ? null : validateMappings(draft.mappingsJson, problems),
    parameters: draft.parametersJson === null ? null : validateParameters(draft.parametersJson, problems),
  };
  if (draft.level !== null && draft.level !== 'trace') problems.push(choiceReason('level', ['trace'], draft.level));
  return { parts, problems };
}

function validateSample(sample: number | null, found: Reason[]): void {
  if (sample === null || (sample >= 0 && sample <= 1)) return;
  const isSmall = sample < 0;
  const message = `sample must be ${isSmall ? 'at least 0' : 'at most 1'}`;
  found.push({ field: 'sample', type: isSmall ? 'too_small' : 'too_big', message, expected: isSmall ? 0 : 1 });
}

function validatePreconditions(drafts: readonly PreconditionDraft[], found: Reason[]): readonly Precondition[] {
  if (drafts.length > PRECONDITIONS_MAX) {
    found.push(lengthReason('preconditions', `at most ${PRECONDITIONS_MAX} items`));
    return [];
  }
  return drafts.flatMap((draft, index) => {
    const value = validatePrecondition(draft, `preconditions.${index}`, found);
    return value === null ? [] : [{ field: draft.field, value }];
  });
}

function validatePrecondition(draft: PreconditionDraft, path: string, found: Reason[]): PreconditionValue | null {
  const { field, rule, valueJson } = draft;
  if (field !== 'span.type' && field !== 'label' && !METADATA.test(field)) {
    found.push(choiceReason(`${path}.field`, ['span.type', 'label', 'metadata.<key>'], field));
  }
  validateText(field, `${path}.field`, found);
  if (rule !== null && rule !== 'is') found.push(choiceReason(`${path}.rule`, ['is'], rule));
  const json = valueJson ?? 'null';
  const parsed = parseLossless(json, { depth: 1 });
  const value = parsed.kind === 'value' ? parsed.value : null;
  const type = parsed.kind === 'value' ? jsonTypeOf(parsed.value) : 'object';
  if (typeof value === 'string') {
    validateText(value, `${path}.value`, found);
    return value;
  }
  if (typeof value === 'boolean') return value;
  if (type === 'number') {
    refuseUnstorableIn(value, `${path}.value`, found);
    // Spells numbers as the metadata of traces is read, so that equal ones compare equal.
    return parseFreeJson(json) as number | RawNumber;
  }
  found.push(typeReason(`${path}.value`, 'string, number or boolean', type === 'null' ? 'undefined' : type));
  return null;
}

function validateText(text: string, path: string, found: Reason[]): void {
  if (countCodePoints(text) > TEXT_LENGTH_MAX) found.push(lengthReason(path, `at most ${TEXT_LENGTH_MAX} characters`));
  refuseUnstorableIn(text, path, found);
}

function validateMappings(json: string, found: Reason[]): Mappings {
  const sent = readObject(json, 'mappings', found);
  const names = Object.keys(sent).filter((name) => sent[name] !== null);
  if (names.length > MAPPINGS_MAX) {
    found.push(lengthReason('mappings', `at most ${MAPPINGS_MAX} members`));
    return {};
  }
  const mapped = names.map((name): [string, string] => {
    validateText(name, 'mappings', found);
    return [name, validateSource(readMember(sent, name), `mappings.${name}`, found)];
  });
  return Object.fromEntries(mapped);
}

function validateSource(value: LosslessJson, path: string, found: Reason[]): string {
  const source = isObject(value) ? readMember(value, 'source') : value;
  if (typeof source !== 'string') {
    found.push(typeReason(path, 'string', jsonTypeOf(source)));
    return '';
  }
  validateText(source, path, found);
  if (readSource(source) === null) {
    found.push({ field: path, type: 'invalid_format', message: `${path} must be ${SOURCES_TEXT}` });
  }
  return source;
}

function validateParameters(json: string, found: Reason[]): LosslessObject {
  if (Buffer.byteLength(json) > PARAMETERS_MAX_BYTES) {
    const message = `parameters must take at most ${PARAMETERS_MAX_BYTES} bytes; larger settings belong to the evaluator`;
    found.push({ field: 'parameters', type: 'too_big', message, expected: PARAMETERS_MAX_BYTES });
    return {};
  }
  const parameters = readObject(json, 'parameters', found);
  refuseUnstorableIn(parameters, 'parameters', found);
  return parameters;
}

function readObject(json: string, field: string, found: Reason[]): LosslessObject {
  const parsed = parseLossless(json, { depth: DEPTH_MAX, members: 10_000 });
  if (parsed.kind !== 'value') {
    const message = `${field} must be JSON of at most ${DEPTH_MAX} levels and 10000 members`;
    found.push({ field, type: 'invalid_format', message });
    return {};
  }
  if (isObject(parsed.value)) return parsed.value;
  if (parsed.value !== null) found.push(typeReason(field, 'object', jsonTypeOf(parsed.value)));
  return {};
}
