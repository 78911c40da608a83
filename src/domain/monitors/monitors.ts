/** The monitors of a project. */

import { type LosslessObject, stringifyLossless } from '../../json/lossless-json.ts';
import { type Project, tenantOf } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { targetToRun } from '../evaluations/evaluation-target.ts';
import type { EvaluationJobStore } from '../evaluations/jobs.ts';
import { type Evaluator, type EvaluatorStore, readStoredObject } from '../evaluators/evaluator.ts';
import { type CatalogueEntry, validateSettings } from '../evaluators/evaluator-settings.ts';
import { evaluatorRules } from '../evaluators/evaluators.ts';
import { type CheckPatterns, patternProblems } from '../evaluators/text-rules.ts';
import type { Reason } from '../fault.ts';
import { choiceReason, refuseProblems } from '../reasons.ts';
import { byLastUpdate, normalizeName, resourceRules } from '../resources.ts';
import type { Mappings, Monitor, MonitorStore } from './monitor.ts';
import { type MonitorDraft, monitorProblems, newMonitorProblems, readParts } from './monitor-draft.ts';

type MonitorDeps = {
  readonly store: MonitorStore;
  readonly jobs: Pick<EvaluationJobStore, 'countsOf'>;
  readonly evaluators: Pick<EvaluatorStore, 'find'>;
  readonly checkPatterns: CheckPatterns;
  readonly random: RandomBytes;
};

type MonitorUpdate = { readonly idOrSlug: string; readonly change: MonitorDraft; readonly nowMs: number };

/** Counting more jobs of a kind would take long. */
const BACKLOG_COUNT_MAX = 10_000;

const rules = resourceRules({
  noun: 'monitor',
  liveMax: 100,
  atLimit: 'delete one before creating another',
  isFlat: true,
});

export type Monitors = ReturnType<typeof createMonitors>;

export function createMonitors(deps: MonitorDeps) {
  return {
    /** By id, or else by slug. Throws monitor_not_found, also for another project's. */
    get: (project: Project, idOrSlug: string) => rules.find(deps.store, project, idOrSlug),
    /** All monitors of the project: the last updated first, then by id. */
    list: async ({ id }: Project) => (await deps.store.list(id)).toSorted(byLastUpdate),
    /** The evaluations by monitors that the project has open. */
    backlog: ({ number: projectNumber }: Project, nowMs: number) =>
      deps.jobs.countsOf({ projectNumber, nowMs, countMax: BACKLOG_COUNT_MAX }),
    /**
     * Throws validation_error, evaluator_not_found, evaluator_not_runnable, evaluator_unavailable,
     * monitor_limit_reached.
     */
    create: (project: Project, draft: MonitorDraft, nowMs: number) => createMonitor(deps, { project, draft, nowMs }),
    /** Throws what create throws, and monitor_not_found. Stores nothing when nothing changes. */
    update: (project: Project, update: MonitorUpdate) => updateMonitor(deps, project, update),
    /** Returns its id. Throws monitor_not_found. */
    remove: (project: Project, idOrSlug: string, nowMs: number) =>
      rules.remove(deps.store, project, { idOrSlug, nowMs }),
  };
}

type Creation = { readonly project: Project; readonly draft: MonitorDraft; readonly nowMs: number };

async function createMonitor(deps: MonitorDeps, { project, draft, nowMs }: Creation): Promise<Monitor> {
  const { name, evaluatorId } = draft;
  refuseProblems(newMonitorProblems(draft));
  const { preconditions, mappings, parameters } = readParts(draft);
  const evaluator = await evaluatorRules.find(deps.evaluators, project, evaluatorId ?? '');
  const content = {
    name: normalizeName(name ?? ''),
    enabled: draft.enabled ?? true,
    sample: draft.sample ?? 1,
    preconditions: preconditions ?? [],
    mappings: mappings ?? {},
    executionMode: draft.executionMode ?? 'ON_MESSAGE',
    ...(await fitTo(deps, project, { evaluator, mappings: mappings ?? {}, parameters: parameters ?? {} })),
  } as const;
  return await rules.create(deps, { project, content, nowMs }, async (monitor) =>
    requireEvaluator(await deps.store.insert(monitor, { liveMax: rules.liveMax })),
  );
}

async function updateMonitor(deps: MonitorDeps, project: Project, { change, ...named }: MonitorUpdate) {
  const { find, replace } = deps.store;
  const store = {
    find,
    replace: async (...args: Parameters<typeof replace>) => requireEvaluator(await replace(...args)),
  };
  refuseProblems(monitorProblems(change));
  return await rules.change(store, { project, ...named }, (stored) => merge(deps, project, { stored, change }));
}

/** Throws evaluator_not_found where the evaluator was deleted meanwhile. */
function requireEvaluator<Outcome extends string>(outcome: Outcome): Exclude<Outcome, 'evaluator_gone'> {
  if (outcome === 'evaluator_gone') throw evaluatorRules.notFound();
  return outcome as Exclude<Outcome, 'evaluator_gone'>;
}

type Change = { readonly stored: Monitor; readonly change: MonitorDraft };

async function merge(deps: MonitorDeps, project: Project, { stored, change }: Change): Promise<Monitor> {
  const { preconditions, mappings, parameters } = readParts(change);
  const plain: Monitor = {
    ...stored,
    name: change.name === null ? stored.name : normalizeName(change.name),
    enabled: change.enabled ?? stored.enabled,
    sample: change.sample ?? stored.sample,
    preconditions: preconditions ?? stored.preconditions,
    mappings: mappings ?? stored.mappings,
    executionMode: change.executionMode ?? stored.executionMode,
  };
  // Stored settings may predate a rule: they are validated again only when the update touches them.
  if (change.evaluatorId === null && mappings === null && parameters === null) return plain;
  const evaluator = await evaluatorRules.find(deps.evaluators, project, change.evaluatorId ?? stored.evaluatorId);
  return {
    ...plain,
    ...(await fitTo(deps, project, {
      evaluator,
      mappings: plain.mappings,
      parameters: parameters ?? readStoredObject(stored.parametersJson),
    })),
  };
}

type Fitting = {
  readonly evaluator: Evaluator;
  readonly mappings: Monitor['mappings'];
  readonly parameters: LosslessObject;
};
type Fitted = Pick<Monitor, 'evaluatorId' | 'checkType' | 'parametersJson'>;

/** Throws evaluator_not_runnable, evaluator_unavailable, validation_error. */
async function fitTo(
  { checkPatterns }: MonitorDeps,
  project: Project,
  { evaluator, ...sent }: Fitting,
): Promise<Fitted> {
  const { entry } = targetToRun(evaluator);
  const { parameters: settings } = sent;
  refuseProblems(fitProblems(entry, sent));
  const subject = { tenant: tenantOf(project), isUrgent: false, evaluatorType: entry.id };
  refuseProblems(await patternProblems(checkPatterns, { ...subject, settings, path: 'parameters' }));
  return { evaluatorId: evaluator.id, checkType: entry.id, parametersJson: stringifyLossless(sent.parameters) };
}

/** Every mapping must name a field of the evaluator, and every known setting must have its shape. */
function fitProblems(
  { requiredFields, optionalFields, settings }: CatalogueEntry,
  { mappings, parameters }: { readonly mappings: Mappings; readonly parameters: LosslessObject },
): readonly Reason[] {
  const found: Reason[] = [];
  const fields = [...requiredFields, ...optionalFields];
  for (const name of Object.keys(mappings)) {
    if (!fields.includes(name)) found.push(choiceReason('mappings', fields, name));
  }
  validateSettings(settings, parameters, { path: 'parameters', found });
  return found;
}
