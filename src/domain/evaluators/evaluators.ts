/** The saved evaluators of a project. */

import { type LosslessObject, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import { type Project, tenantOf } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault, type Reason, validationFault } from '../fault.ts';
import { refuseProblems } from '../reasons.ts';
import { nameProblems, normalizeName, resourceRules } from '../resources.ts';
import { type Evaluator, type EvaluatorStore, readStoredObject } from './evaluator.ts';
import { configProblems, type EvaluatorContent, type EvaluatorDraft, validateDraft } from './evaluator-draft.ts';
import { createEvaluatorLists } from './evaluator-lists.ts';
import { IN_CONFIG } from './evaluator-settings.ts';
import { type CheckPatterns, patternProblems } from './text-rules.ts';

export { draftProblems, type EvaluatorDraft } from './evaluator-draft.ts';
export type { EvaluatorFieldDraft } from './evaluator-fields.ts';

type EvaluatorDeps = {
  readonly store: EvaluatorStore;
  readonly random: RandomBytes;
  readonly checkPatterns: CheckPatterns;
  readonly cursors: CursorCodec;
};

type EvaluatorUpdate = {
  readonly idOrSlug: string;
  readonly change: EvaluatorChange;
  readonly nowMs: number;
};

export const evaluatorRules = resourceRules({
  noun: 'evaluator',
  liveMax: 1000,
  atLimit: 'delete one before creating another',
  isFlat: true,
  checkId(idOrSlug) {
    if (!idOrSlug.includes('\0')) return;
    const message = 'idOrSlug must not contain the character U+0000';
    throw validationFault('param', [{ field: 'idOrSlug', type: 'invalid_format', message }]);
  },
});

export type Evaluators = ReturnType<typeof createEvaluators>;

export function createEvaluators(deps: EvaluatorDeps) {
  const { store } = deps;
  return {
    /** By id, or else by slug. Throws evaluator_not_found, also for another project's. */
    get: (project: Project, idOrSlug: string) => evaluatorRules.find(store, project, idOrSlug),
    /** Throws validation_error with every problem of the draft, or evaluator_limit_reached. */
    async create(project: Project, draft: EvaluatorDraft, nowMs: number): Promise<Evaluator> {
      const content = validateDraft(draft);
      await refuseBadPatterns(deps, project, content);
      return await evaluatorRules.create(deps, { project, content, nowMs }, (evaluator) =>
        store.insert(evaluator, evaluatorRules.liveMax),
      );
    },
    ...createEvaluatorLists(deps),
    /** Throws validation_error, evaluator_not_found, evaluator_type_immutable. Stores nothing when nothing changes. */
    async update(project: Project, { change, ...named }: EvaluatorUpdate): Promise<Evaluator> {
      refuseProblems(changeProblems(change));
      return await evaluatorRules.change(store, { project, ...named }, async (stored: Evaluator) => {
        const content = mergeChange(stored, change);
        const { name, configJson, fields, outputFields } = content;
        if (name === stored.name && configJson === stored.configJson) return stored;
        if (configJson !== stored.configJson) await refuseBadPatterns(deps, project, content);
        return { ...stored, name, configJson, fields, outputFields };
      });
    },
    /** Throws evaluator_not_found. */
    remove: (project: Project, idOrSlug: string, nowMs: number) =>
      evaluatorRules.remove(store, project, { idOrSlug, nowMs }),
  };
}

/** Throws validation_error. */
async function refuseBadPatterns(
  { checkPatterns }: EvaluatorDeps,
  project: Project,
  { type, configJson }: EvaluatorContent,
) {
  if (type !== 'evaluator') return;
  const { evaluatorType, settings } = JSON.parse(configJson) as { evaluatorType: string; settings: LosslessObject };
  const request = { tenant: tenantOf(project), isUrgent: false };
  refuseProblems(await patternProblems(checkPatterns, { ...request, evaluatorType, settings, path: IN_CONFIG }));
}

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
function mergeChange(stored: Evaluator, change: EvaluatorChange): EvaluatorContent {
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
