/** Validates a draft of an evaluator, and converts it to what is stored. */

import { parseLossless } from '../../json/bounded-json.ts';
import { MEMBERS_MAX } from '../../json/json-scan.ts';
import {
  isArray,
  isBeyondDouble,
  isObject,
  jsonTypeOf,
  type LosslessJson,
  type LosslessObject,
  readMember,
  stringifyLossless,
} from '../../json/lossless-json.ts';
import { TOO_WIDE_REASON } from '../../json/wide-json.ts';
import { REASONS_MAX, type Reason, validationFault } from '../fault.ts';
import { choiceReason, lengthReason, receivedType, typeReason } from '../reasons.ts';
import { nameProblems, normalizeName } from '../resources.ts';
import type { Evaluator, EvaluatorField } from './evaluator.ts';
import { catalogueIds, findCatalogueEntry } from './evaluator-catalogue.ts';
import {
  type EvaluatorFieldDraft,
  inputsOf,
  outputsOf,
  validateFieldList,
  validateFields,
} from './evaluator-fields.ts';
import { type CatalogueEntry, IN_CONFIG, overlaySettings, validateSettings } from './evaluator-settings.ts';

/** An evaluator as sent; null: not sent. */
export type EvaluatorDraft = {
  readonly name: string | null;
  readonly type: Evaluator['type'] | null;
  /** JSON text. */
  readonly configJson: string | null;
  readonly workflowId: string | null;
  readonly workflowName: string | null;
  readonly workflowIcon: string | null;
  readonly copiedFromEvaluatorId: string | null;
  readonly fields: readonly EvaluatorFieldDraft[];
  readonly outputFields: readonly EvaluatorFieldDraft[];
};

/** The members of an evaluator that its author chooses. */
export type EvaluatorContent = Omit<Evaluator, 'id' | 'projectId' | 'slug' | 'createdAtMs' | 'updatedAtMs'>;

/** Throws one validation_error with every problem. */
export function validateDraft(draft: EvaluatorDraft): EvaluatorContent {
  const { content, problems } = readDraft(draft);
  if (problems.length > 0) throw validationFault('json', problems);
  return content;
}

/** Every problem of a draft; empty when it can be saved. */
export function draftProblems(draft: EvaluatorDraft): readonly Reason[] {
  return readDraft(draft).problems;
}

function readDraft(draft: EvaluatorDraft): { content: EvaluatorContent; problems: readonly Reason[] } {
  const found: Reason[] = [...nameProblems(draft.name)];
  const type = draft.type ?? 'evaluator';
  const config = readConfig(draft.configJson, found);
  const { storedConfig, fields, outputFields } = validateByType(type, { draft, config, found });
  const content: EvaluatorContent = {
    name: normalizeName(draft.name ?? ''),
    type,
    configJson: stringifyLossless(storedConfig),
    workflowId: keepText(draft.workflowId),
    workflowName: keepText(draft.workflowName),
    workflowIcon: keepText(draft.workflowIcon),
    copiedFromEvaluatorId: keepText(draft.copiedFromEvaluatorId),
    fields,
    outputFields,
  };
  refuseUnstorable(draft, config, found);
  return { content, problems: found };
}

/** The problems of a partial config. */
export function configProblems(configJson: string | null, type: Evaluator['type']): readonly Reason[] {
  const found: Reason[] = [];
  const config = readConfig(configJson, found);
  if (config === null) return found;
  if (type === 'evaluator') validateCatalogued(config, { found, isPart: true });
  refuseUnstorableIn(config, 'config', found);
  return found;
}

// A request body may nest 128 levels, and the config is a member of it.
const CONFIG_DEPTH_MAX = 127;

const configReasons = {
  not_json: { field: 'config', type: 'invalid_format', message: 'config must be valid JSON', expected: 'JSON' },
  too_deep: {
    field: 'config',
    type: 'too_big',
    message: `config must not nest deeper than ${CONFIG_DEPTH_MAX} levels`,
    expected: CONFIG_DEPTH_MAX,
  },
  too_wide: { field: 'config', type: 'too_big', message: `config ${TOO_WIDE_REASON}`, expected: MEMBERS_MAX },
} as const satisfies Record<string, Reason>;

/** The sent config; empty when none was sent, null when it is not an object. */
function readConfig(text: string | null, found: Reason[]): LosslessObject | null {
  if (text === null) return {};
  const parsed = parseLossless(text, { depth: CONFIG_DEPTH_MAX, members: MEMBERS_MAX });
  if (parsed.kind === 'value') {
    if (parsed.value === null) return {};
    if (isObject(parsed.value)) return parsed.value;
    found.push(typeReason('config', 'object', jsonTypeOf(parsed.value)));
  } else found.push(configReasons[parsed.kind]);
  return null;
}

type ValidatedConfig = {
  readonly storedConfig: LosslessObject;
  readonly fields: readonly EvaluatorField[];
  readonly outputFields: readonly EvaluatorField[];
};

type ConfigValidation = {
  readonly draft: EvaluatorDraft;
  readonly config: LosslessObject | null;
  readonly found: Reason[];
};

// A placeholder after a problem: the draft is refused anyway.
const nothing: ValidatedConfig = { storedConfig: {}, fields: [], outputFields: [] };

function validateByType(type: Evaluator['type'], validation: ConfigValidation): ValidatedConfig {
  if (type === 'workflow') return validateWorkflow(validation);
  refuseWorkflowMembers(validation);
  const { config, found } = validation;
  if (config === null) return nothing;
  return type === 'code' ? validateCode(config, found) : validateCatalogued(config, { found, isPart: false });
}

function validateWorkflow({ draft, found }: ConfigValidation): ValidatedConfig {
  if (draft.workflowId === null) found.push(typeReason('workflowId', 'string', 'undefined'));
  else if (draft.workflowId === '') found.push(lengthReason('workflowId', 'at least 1 character'));
  const fields = validateFields(draft.fields, 'fields', found);
  const outputFields = validateFields(draft.outputFields, 'outputFields', found);
  return { storedConfig: {}, fields, outputFields };
}

function refuseWorkflowMembers({ draft, found }: ConfigValidation): void {
  const sent = [
    ...(['workflowId', 'workflowName', 'workflowIcon'] as const).filter((member) => draft[member] !== null),
    ...(['fields', 'outputFields'] as const).filter((member) => draft[member].length > 0),
  ];
  for (const field of sent) {
    found.push({ field, type: 'custom', message: `${field} can only be set when type is workflow` });
  }
}

/** `isPart`: missing members come from the stored config. */
type Catalogued = { readonly found: Reason[]; readonly isPart: boolean };

function validateCatalogued(config: LosslessObject, { found, isPart }: Catalogued): ValidatedConfig {
  const evaluatorType = readMember(config, 'evaluatorType');
  const entry = isPart && evaluatorType === null ? null : validateEvaluatorType(evaluatorType, found);
  const onError = validateOnError(readMember(config, 'onError'), found);
  const settings = readMember(config, 'settings') ?? {};
  if (!isObject(settings)) {
    found.push(typeReason('config.settings', 'object', jsonTypeOf(settings)));
    return nothing;
  }
  if (entry === null) return nothing;
  validateSettings(entry.settings, settings, { path: IN_CONFIG, found });
  return {
    storedConfig: {
      evaluatorType: entry.id,
      settings: overlaySettings(entry.settings, settings),
      ...(onError === null ? {} : { onError }),
    },
    fields: inputsOf(entry),
    outputFields: outputsOf(entry),
  };
}

function validateEvaluatorType(sent: LosslessJson, found: Reason[]): CatalogueEntry | null {
  const field = 'config.evaluatorType';
  if (typeof sent !== 'string') {
    found.push(typeReason(field, 'string', receivedType(sent)));
    return null;
  }
  const entry = findCatalogueEntry(sent);
  if (entry) return entry;
  const reason = choiceReason(field, catalogueIds, sent);
  found.push({ ...reason, message: `${reason.message}; GET /api/evaluations/list lists them all` });
  return null;
}

const ON_ERROR_CHOICES = ['pass', 'block'];

function validateOnError(sent: LosslessJson, found: Reason[]): string | null {
  if (sent === null) return null;
  if (typeof sent !== 'string') found.push(typeReason('config.onError', 'string', jsonTypeOf(sent)));
  else if (ON_ERROR_CHOICES.includes(sent)) return sent;
  else found.push(choiceReason('config.onError', ON_ERROR_CHOICES, sent));
  return null;
}

function validateCode(config: LosslessObject, found: Reason[]): ValidatedConfig {
  const code = readMember(config, 'code');
  if (typeof code !== 'string') {
    found.push(typeReason('config.code', 'string', receivedType(code)));
  }
  const inputs = validateFieldList(readMember(config, 'inputs'), 'config.inputs', found);
  const outputs = validateFieldList(readMember(config, 'outputs'), 'config.outputs', found);
  return { storedConfig: { code, inputs, outputs }, fields: inputs, outputFields: outputs };
}

function keepText(sent: string | null): string | null {
  return sent === null ? null : sent.toWellFormed();
}

function refuseUnstorable(draft: EvaluatorDraft, config: LosslessObject | null, found: Reason[]): void {
  const { configJson: _, name: __, ...members } = draft;
  refuseUnstorableIn(members, '', found);
  if (config) refuseUnstorableIn(config, 'config', found);
}

/** PostgreSQL cannot store U+0000, and many JSON readers cannot hold numbers beyond a double. */
export function refuseUnstorableIn(value: LosslessJson, path: string, found: Reason[]): void {
  if (found.length >= REASONS_MAX) return;
  if (typeof value === 'string') {
    if (value.includes('\0')) found.push(nulReason(path));
  } else if (isBeyondDouble(value)) {
    found.push({ field: path, type: 'too_big', message: `${path} is too large a number` });
  } else if (isArray(value)) {
    value.forEach((item, index) => {
      refuseUnstorableIn(item, `${path}.${index}`, found);
    });
  } else if (isObject(value)) {
    // The reason names the object, because a path must not contain U+0000 itself.
    if (Object.keys(value).some((key) => key.includes('\0'))) found.push(nulReason(path));
    for (const [key, member] of Object.entries(value)) {
      if (!key.includes('\0')) refuseUnstorableIn(member, memberPath(path, key), found);
    }
  }
}

// A path repeats the names of every level; whole names could make it as long as the body.
const SHOWN_KEY_CHARACTERS_MAX = 100;

function memberPath(path: string, key: string): string {
  const shown = key.length <= SHOWN_KEY_CHARACTERS_MAX ? key : `${key.slice(0, SHOWN_KEY_CHARACTERS_MAX)}…`;
  return path === '' ? shown : `${path}.${shown}`;
}

function nulReason(field: string): Reason {
  return { field, type: 'invalid_format', message: `${field} must not contain the character U+0000` };
}
