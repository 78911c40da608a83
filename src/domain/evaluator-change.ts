/** Judges what somebody wants to change of an evaluator, and merges it into what is stored. */

import type { Evaluator } from './evaluator.ts';
import { configProblems, type EvaluatorContent, judgeDraft, nameProblems, tidyName } from './evaluator-draft.ts';
import { Fault, type Reason } from './fault.ts';
import {
  isLosslessObject,
  type LosslessObject,
  parseLossless,
  readMember,
  stringifyLossless,
} from './lossless-json.ts';

/** Null: not sent. */
export type EvaluatorChange = {
  readonly name: string | null;
  readonly type: Evaluator['type'] | null;
  /** JSON text. */
  readonly configJson: string | null;
};

/** The members of a config, by the type it belongs to; all others are ignored. */
const CONFIG_MEMBERS: { readonly [T in Evaluator['type']]: readonly string[] } = {
  evaluator: ['evaluatorType', 'settings', 'onError'],
  code: ['code', 'inputs', 'outputs'],
  workflow: [],
};

/** Every problem that can be told without the evaluator. */
export function changeProblems({ name, type, configJson }: EvaluatorChange): readonly Reason[] {
  return [...(name === null ? [] : nameProblems(name)), ...configProblems(configJson, type ?? 'evaluator')];
}

/**
 * What the evaluator is once it is changed. Throws evaluator_type_immutable, and validation_error for what is wrong
 * together with what is stored.
 */
export function mergeChange(stored: Evaluator, change: EvaluatorChange): EvaluatorContent {
  const sent = sentMembers(stored.type, change.configJson);
  refuseOtherType(stored, change.type, sent);
  const name = change.name === null ? stored.name : tidyName(change.name);
  // What is stored is not judged again for the sake of a name: it may be older than a rule.
  if (Object.keys(sent).length === 0) return { ...stored, name };
  // Only the fields of a workflow are its own, and no config is sent for one.
  const config = { ...readObject(stored.configJson), ...sent };
  return judgeDraft({ ...stored, name, configJson: stringifyLossless(config), fields: [], outputFields: [] });
}

/** Null stands for what is not sent. */
function sentMembers(type: Evaluator['type'], configJson: string | null): LosslessObject {
  const config = configJson === null ? {} : readObject(configJson);
  const members = CONFIG_MEMBERS[type].map((name) => [name, readMember(config, name)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== null));
}

function refuseOtherType(stored: Evaluator, type: Evaluator['type'] | null, sent: LosslessObject): void {
  if (type !== null && type !== stored.type) throw immutableFault(stored.type);
  const known = readMember(readObject(stored.configJson), 'evaluatorType');
  const wanted = readMember(sent, 'evaluatorType');
  if (wanted !== null && wanted !== known) throw immutableFault(String(known));
}

function immutableFault(current: string): Fault {
  const message = `evaluatorType cannot be changed after creation. Current type: "${current}"`;
  return new Fault('evaluator_type_immutable', message, { flatError: message });
}

/** Only for text that was judged before: empty for anything but an object. */
function readObject(text: string): LosslessObject {
  const parsed = parseLossless(text, { depth: Number.POSITIVE_INFINITY });
  return parsed.kind === 'value' && isLosslessObject(parsed.value) ? parsed.value : {};
}
