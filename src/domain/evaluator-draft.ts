/** Judges what somebody wants to save as an evaluator, and turns it into what is stored. */

import type { Evaluator, EvaluatorField } from './evaluator.ts';
import { type CatalogueEntry, catalogueIds, findCatalogueEntry } from './evaluator-catalogue.ts';
import { type EvaluatorFieldDraft, inputsOf, judgeFieldList, judgeFields, outputsOf } from './evaluator-fields.ts';
import { judgeSettings, overlaySettings } from './evaluator-settings.ts';
import { REASONS_MAX, type Reason, validationFault } from './fault.ts';
import { MEMBERS_MAX } from './json-scan.ts';
import {
  isBeyondDouble,
  isLosslessArray,
  isLosslessObject,
  jsonTypeOf,
  type LosslessJson,
  type LosslessObject,
  parseLossless,
  readMember,
  stringifyLossless,
} from './lossless-json.ts';
import { choiceReason, countCodePoints, lengthReason, receivedType, typeReason } from './reasons.ts';
import { TOO_WIDE_REASON } from './wide-json.ts';

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

/** The part of an evaluator that its author decides. */
export type EvaluatorContent = Omit<Evaluator, 'id' | 'projectId' | 'slug' | 'createdAtMs' | 'updatedAtMs'>;

/** Throws one validation_error that tells every problem. */
export function judgeDraft(draft: EvaluatorDraft): EvaluatorContent {
  const { content, problems } = readDraft(draft);
  if (problems.length > 0) throw validationFault('json', problems);
  return content;
}

/** Every problem of a draft, none when it can be saved. */
export function draftProblems(draft: EvaluatorDraft): readonly Reason[] {
  return readDraft(draft).problems;
}

function readDraft(draft: EvaluatorDraft): { content: EvaluatorContent; problems: readonly Reason[] } {
  const found: Reason[] = [];
  const type = draft.type ?? 'evaluator';
  const name = judgeName(draft.name, found);
  const config = readConfig(draft.configJson, found);
  const { storedConfig, fields, outputFields } = judgeByType(type, { draft, config, found });
  const content: EvaluatorContent = {
    name,
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

const NAME_LENGTH_MAX = 255;

/** A name as it is stored. */
export function tidyName(sent: string): string {
  return sent.trim().toWellFormed();
}

/** What is wrong with a new name. */
export function nameProblems(name: string): readonly Reason[] {
  const found: Reason[] = [];
  judgeName(name, found);
  refuseUnstorableIn(name, 'name', found);
  return found;
}

/** What is wrong with a part of a config, as far as it can be told without the rest of it. */
export function configProblems(configJson: string | null, type: Evaluator['type']): readonly Reason[] {
  const found: Reason[] = [];
  const config = readConfig(configJson, found);
  if (config === null) return found;
  if (type === 'evaluator') judgeCatalogued(config, { found, isPart: true });
  refuseUnstorableIn(config, 'config', found);
  return found;
}

function judgeName(sent: string | null, found: Reason[]): string {
  if (sent === null) {
    found.push(typeReason('name', 'string', 'undefined'));
    return '';
  }
  const name = tidyName(sent);
  const length = countCodePoints(name);
  if (length < 1 || length > NAME_LENGTH_MAX) found.push(lengthReason('name', `1 to ${NAME_LENGTH_MAX} characters`));
  return name;
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

/** The sent config, empty when none was sent, null when it is no object at all. */
function readConfig(text: string | null, found: Reason[]): LosslessObject | null {
  if (text === null) return {};
  const parsed = parseLossless(text, { depth: CONFIG_DEPTH_MAX, members: MEMBERS_MAX });
  if (parsed.kind === 'value') {
    if (parsed.value === null) return {};
    if (isLosslessObject(parsed.value)) return parsed.value;
    found.push(typeReason('config', 'object', jsonTypeOf(parsed.value)));
  } else found.push(configReasons[parsed.kind]);
  return null;
}

type Judged = {
  readonly storedConfig: LosslessObject;
  readonly fields: readonly EvaluatorField[];
  readonly outputFields: readonly EvaluatorField[];
};

type Judging = { readonly draft: EvaluatorDraft; readonly config: LosslessObject | null; readonly found: Reason[] };

// Stands in where a problem was found: the draft is refused anyway.
const nothing: Judged = { storedConfig: {}, fields: [], outputFields: [] };

function judgeByType(type: Evaluator['type'], judging: Judging): Judged {
  if (type === 'workflow') return judgeWorkflow(judging);
  refuseWorkflowMembers(judging);
  const { config, found } = judging;
  if (config === null) return nothing;
  return type === 'code' ? judgeCode(config, found) : judgeCatalogued(config, { found, isPart: false });
}

function judgeWorkflow({ draft, found }: Judging): Judged {
  if (draft.workflowId === null) found.push(typeReason('workflowId', 'string', 'undefined'));
  else if (draft.workflowId === '') found.push(lengthReason('workflowId', 'at least 1 character'));
  const fields = judgeFields(draft.fields, 'fields', found);
  const outputFields = judgeFields(draft.outputFields, 'outputFields', found);
  return { storedConfig: {}, fields, outputFields };
}

function refuseWorkflowMembers({ draft, found }: Judging): void {
  const sent = [
    ...(['workflowId', 'workflowName', 'workflowIcon'] as const).filter((member) => draft[member] !== null),
    ...(['fields', 'outputFields'] as const).filter((member) => draft[member].length > 0),
  ];
  for (const field of sent) {
    found.push({ field, type: 'custom', message: `${field} can only be set when type is workflow` });
  }
}

/** `isPart`: what the config does not name is known elsewhere. */
type Catalogued = { readonly found: Reason[]; readonly isPart: boolean };

function judgeCatalogued(config: LosslessObject, { found, isPart }: Catalogued): Judged {
  const evaluatorType = readMember(config, 'evaluatorType');
  const entry = isPart && evaluatorType === null ? null : judgeEvaluatorType(evaluatorType, found);
  const onError = judgeOnError(readMember(config, 'onError'), found);
  const settings = readMember(config, 'settings') ?? {};
  if (!isLosslessObject(settings)) {
    found.push(typeReason('config.settings', 'object', jsonTypeOf(settings)));
    return nothing;
  }
  if (entry === null) return nothing;
  judgeSettings(entry.settings, settings, found);
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

function judgeEvaluatorType(sent: LosslessJson, found: Reason[]): CatalogueEntry | null {
  const field = 'config.evaluatorType';
  if (typeof sent !== 'string') {
    found.push(typeReason(field, 'string', receivedType(sent)));
    return null;
  }
  const entry = findCatalogueEntry(sent);
  if (!entry) found.push(choiceReason(field, catalogueIds, sent));
  return entry ?? null;
}

const ON_ERROR_CHOICES = ['pass', 'block'];

function judgeOnError(sent: LosslessJson, found: Reason[]): string | null {
  if (sent === null) return null;
  if (typeof sent !== 'string') found.push(typeReason('config.onError', 'string', jsonTypeOf(sent)));
  else if (ON_ERROR_CHOICES.includes(sent)) return sent;
  else found.push(choiceReason('config.onError', ON_ERROR_CHOICES, sent));
  return null;
}

function judgeCode(config: LosslessObject, found: Reason[]): Judged {
  const code = readMember(config, 'code');
  if (typeof code !== 'string') {
    found.push(typeReason('config.code', 'string', receivedType(code)));
  }
  const inputs = judgeFieldList(readMember(config, 'inputs'), 'config.inputs', found);
  const outputs = judgeFieldList(readMember(config, 'outputs'), 'config.outputs', found);
  return { storedConfig: { code, inputs, outputs }, fields: inputs, outputFields: outputs };
}

function keepText(sent: string | null): string | null {
  return sent === null ? null : sent.toWellFormed();
}

function refuseUnstorable(draft: EvaluatorDraft, config: LosslessObject | null, found: Reason[]): void {
  const { configJson: _, ...members } = draft;
  refuseUnstorableIn(members, '', found);
  if (config) refuseUnstorableIn(config, 'config', found);
}

/** Not every database can hold U+0000, and not every reader a number beyond a double. */
export function refuseUnstorableIn(value: LosslessJson, path: string, found: Reason[]): void {
  if (found.length >= REASONS_MAX) return;
  if (typeof value === 'string') {
    if (value.includes('\0')) found.push(nulReason(path));
  } else if (isBeyondDouble(value)) {
    found.push({ field: path, type: 'too_big', message: `${path} is too large a number` });
  } else if (isLosslessArray(value)) {
    value.forEach((item, index) => {
      refuseUnstorableIn(item, `${path}.${index}`, found);
    });
  } else if (isLosslessObject(value)) {
    // The reason names the object instead: a path must not carry the character it complains about.
    if (Object.keys(value).some((key) => key.includes('\0'))) found.push(nulReason(path));
    for (const [key, member] of Object.entries(value)) {
      if (!key.includes('\0')) refuseUnstorableIn(member, memberPath(path, key), found);
    }
  }
}

// Nesting repeats every name above; whole ones would make a path as long as the body.
const SHOWN_KEY_CHARACTERS_MAX = 100;

function memberPath(path: string, key: string): string {
  const shown = key.length <= SHOWN_KEY_CHARACTERS_MAX ? key : `${key.slice(0, SHOWN_KEY_CHARACTERS_MAX)}…`;
  return path === '' ? shown : `${path}.${shown}`;
}

function nulReason(field: string): Reason {
  return { field, type: 'invalid_format', message: `${field} must not contain the character U+0000` };
}
