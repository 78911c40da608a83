/** The saved evaluators of a project. */

import { type LosslessObject, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import { type Project, tenantOf } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault, type Reason, validationFault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { refuseProblems } from '../reasons.ts';
import { nextUpdateMs, retryStale } from '../record-updates.ts';
import { drawSlug, retryTakenSlugs } from '../slug.ts';
import { type Evaluator, type EvaluatorStore, readStoredObject } from './evaluator.ts';
import {
  configProblems,
  type EvaluatorContent,
  type EvaluatorDraft,
  nameProblems,
  normalizeName,
  validateDraft,
} from './evaluator-draft.ts';
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

export type Evaluators = ReturnType<typeof createEvaluators>;

export function createEvaluators(deps: EvaluatorDeps) {
  return {
    /** By id, or else by slug. Throws evaluator_not_found, also for another project's. */
    get: (project: Project, idOrSlug: string) => findEvaluator(deps.store, project, idOrSlug),
    /** Throws validation_error with every problem of the draft, or evaluator_limit_reached. */
    async create(project: Project, draft: EvaluatorDraft, nowMs: number): Promise<Evaluator> {
      const content = validateDraft(draft);
      await refuseBadPatterns(deps, project, content);
      return await retryTakenSlugs(async () => {
        const evaluator: Evaluator = {
          id: newId('evaluator', deps.random),
          projectId: project.id,
          slug: drawSlug(content.name, 'evaluator', deps.random),
          ...content,
          createdAtMs: nowMs,
          updatedAtMs: nowMs,
        };
        const outcome = await deps.store.insert(evaluator, LIVE_MAX);
        if (outcome === 'limit_reached') throw limitFault();
        return outcome === 'stored' ? evaluator : outcome;
      });
    },
    ...createEvaluatorLists(deps),
    /** Throws validation_error, evaluator_not_found, evaluator_type_immutable. Stores nothing when nothing changes. */
    update: (project: Project, update: EvaluatorUpdate) => updateEvaluator(deps, project, update),
    /** Throws evaluator_not_found. */
    async remove(project: Project, idOrSlug: string, nowMs: number): Promise<void> {
      const { id } = await findEvaluator(deps.store, project, idOrSlug);
      if (!(await deps.store.remove(project.id, id, nowMs))) throw evaluatorNotFound();
    },
  };
}

/** Throws evaluator_not_found. */
export async function findEvaluator(
  store: Pick<EvaluatorStore, 'find'>,
  project: Project,
  idOrSlug: string,
): Promise<Evaluator> {
  if (idOrSlug.includes('\0')) throw nulFault();
  const evaluator = isPossibleId(idOrSlug) ? await store.find(project.id, idOrSlug) : null;
  if (!evaluator) throw evaluatorNotFound();
  return evaluator;
}

async function updateEvaluator(
  deps: EvaluatorDeps,
  project: Project,
  { idOrSlug, change, nowMs }: EvaluatorUpdate,
): Promise<Evaluator> {
  refuseProblems(changeProblems(change));
  return await retryStale('Others keep changing this evaluator; try again.', async () => {
    const stored = await findEvaluator(deps.store, project, idOrSlug);
    const content = mergeChange(stored, change);
    const { name, configJson, fields, outputFields } = content;
    if (name === stored.name && configJson === stored.configJson) return stored;
    if (configJson !== stored.configJson) await refuseBadPatterns(deps, project, content);
    const updatedAtMs = nextUpdateMs(stored, nowMs);
    const evaluator: Evaluator = { ...stored, name, configJson, fields, outputFields, updatedAtMs };
    const outcome = await deps.store.replace(evaluator, stored.updatedAtMs);
    return outcome === 'stored' ? evaluator : outcome;
  });
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

/** Evaluators a project may hold at once. */
const LIVE_MAX = 1000;

export function evaluatorNotFound(): Fault {
  const message = 'Evaluator not found';
  return new Fault('evaluator_not_found', message, { flatError: message });
}

function limitFault(): Fault {
  const message = `The project already holds ${LIVE_MAX} evaluators; delete one before creating another.`;
  return new Fault('evaluator_limit_reached', message);
}

function nulFault(): Fault {
  const message = 'idOrSlug must not contain the character U+0000';
  return validationFault('param', [{ field: 'idOrSlug', type: 'invalid_format', message }]);
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
