/** Validates a change of an evaluator, and merges it into the stored one. */

import { type LosslessObject, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import { Fault, type Reason } from '../fault.ts';
import { type Evaluator, readStoredObject } from './evaluator.ts';
import {
  configProblems,
  type EvaluatorContent,
  nameProblems,
  normalizeName,
  validateDraft,
} from './evaluator-draft.ts';

/** Null: not sent. */
export type EvaluatorChange = {
  readonly name: string | null;
  readonly type: Evaluator['type'] | null;
  /** JSON text. */
  readonly configJson: string | null;
};

/** The known members of a config, by evaluator type; others are ignored. */
const CONFIG_MEMBERS: { readonly [T in Evaluator['type']]: readonly string[] } = {
  evaluator: ['evaluatorType', 'settings', 'onError'],
  code: ['code', 'inputs', 'outputs'],
  workflow: [],
};

/** Every problem that does not depend on the stored evaluator. */
export function changeProblems({ name, type, configJson }: EvaluatorChange): readonly Reason[] {
  return [...(name === null ? [] : nameProblems(name)), ...configProblems(configJson, type ?? 'evaluator')];
}

/**
 * The evaluator after the change. Throws evaluator_type_immutable, and validation_error for problems of the merged
 * evaluator.
 */
export function mergeChange(stored: Evaluator, change: EvaluatorChange): EvaluatorContent {
  const sent = sentMembers(stored.type, change.configJson);
  refuseOtherType(stored, change.type, sent);
  const name = change.name === null ? stored.name : normalizeName(change.name);
  // A stored config may predate a rule: it is validated again only when the change touches it.
  if (Object.keys(sent).length === 0) return { ...stored, name };
  // Only workflows define fields themselves, and a workflow has no config to send.
  const config = { ...readStoredObject(stored.configJson), ...sent };
  return validateDraft({ ...stored, name, configJson: stringifyLossless(config), fields: [], outputFields: [] });
}

/** Null counts as not sent. */
function sentMembers(type: Evaluator['type'], configJson: string | null): LosslessObject {
  const config = configJson === null ? {} : readStoredObject(configJson);
  const members = CONFIG_MEMBERS[type].map((name) => [name, readMember(config, name)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== null));
}

function refuseOtherType(stored: Evaluator, type: Evaluator['type'] | null, sent: LosslessObject): void {
  if (type !== null && type !== stored.type) throw immutableFault(stored.type);
  const known = readMember(readStoredObject(stored.configJson), 'evaluatorType');
  const wanted = readMember(sent, 'evaluatorType');
  if (wanted !== null && wanted !== known) throw immutableFault(String(known));
}

function immutableFault(current: string): Fault {
  const message = `evaluatorType cannot be changed after creation. Current type: "${current}"`;
  return new Fault('evaluator_type_immutable', message, { flatError: message });
}
