/** The monitors of a project. */

import { type LosslessObject, stringifyLossless } from '../../json/lossless-json.ts';
import { type Project, tenantOf } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { targetToRun } from '../evaluations/evaluation-target.ts';
import type { EvaluationJobStore } from '../evaluations/jobs.ts';
import { type Evaluator, type EvaluatorStore, readStoredObject } from '../evaluators/evaluator.ts';
import { normalizeName } from '../evaluators/evaluator-draft.ts';
import { type CatalogueEntry, validateSettings } from '../evaluators/evaluator-settings.ts';
import { evaluatorNotFound, findEvaluator } from '../evaluators/evaluators.ts';
import { type CheckPatterns, patternProblems } from '../evaluators/text-rules.ts';
import { Fault, type Reason } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { choiceReason, refuseProblems } from '../reasons.ts';
import { byLastUpdate, nextUpdateMs, retryStale } from '../record-updates.ts';
import { drawSlug, retryTakenSlugs } from '../slug.ts';
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
/** Monitors a project may hold at once. */
const LIVE_MAX = 100;

export type Monitors = ReturnType<typeof createMonitors>;

export function createMonitors(deps: MonitorDeps) {
  return {
    /** By id, or else by slug. Throws monitor_not_found, also for another project's. */
    get: (project: Project, idOrSlug: string) => findMonitor(deps, project, idOrSlug),
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
    async remove(project: Project, idOrSlug: string, nowMs: number): Promise<string> {
      const { id } = await findMonitor(deps, project, idOrSlug);
      if (!(await deps.store.remove(project.id, id, nowMs))) throw notFoundFault();
      return id;
    },
  };
}

type Creation = { readonly project: Project; readonly draft: MonitorDraft; readonly nowMs: number };

async function createMonitor(deps: MonitorDeps, { project, draft, nowMs }: Creation): Promise<Monitor> {
  const { name, evaluatorId } = draft;
  refuseProblems(newMonitorProblems(draft));
  const { preconditions, mappings, parameters } = readParts(draft);
  const evaluator = await findEvaluator(deps.evaluators, project, evaluatorId ?? '');
  const content = {
    name: normalizeName(name ?? ''),
    enabled: draft.enabled ?? true,
    sample: draft.sample ?? 1,
    preconditions: preconditions ?? [],
    mappings: mappings ?? {},
    executionMode: draft.executionMode ?? 'ON_MESSAGE',
    ...(await fitTo(deps, project, { evaluator, mappings: mappings ?? {}, parameters: parameters ?? {} })),
  } as const;
  return await retryTakenSlugs(async () => {
    const monitor: Monitor = {
      id: newId('monitor', deps.random),
      projectId: project.id,
      slug: drawSlug(content.name, 'monitor', deps.random),
      ...content,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const outcome = await deps.store.insert(monitor, { liveMax: LIVE_MAX });
    if (outcome === 'limit_reached') throw limitFault();
    if (outcome === 'evaluator_gone') throw evaluatorNotFound();
    return outcome === 'stored' ? monitor : outcome;
  });
}

async function updateMonitor(deps: MonitorDeps, project: Project, update: MonitorUpdate): Promise<Monitor> {
  const { idOrSlug, change, nowMs } = update;
  refuseProblems(monitorProblems(change));
  return await retryStale('Others keep changing this monitor; try again.', async () => {
    const stored = await findMonitor(deps, project, idOrSlug);
    const next = await merge(deps, project, { stored, change });
    if (JSON.stringify(next) === JSON.stringify(stored)) return stored;
    const monitor: Monitor = { ...next, updatedAtMs: nextUpdateMs(stored, nowMs) };
    const outcome = await deps.store.replace(monitor, stored.updatedAtMs);
    if (outcome === 'evaluator_gone') throw evaluatorNotFound();
    return outcome === 'stored' ? monitor : outcome;
  });
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
  const evaluator = await findEvaluator(deps.evaluators, project, change.evaluatorId ?? stored.evaluatorId);
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

async function findMonitor({ store }: MonitorDeps, project: Project, idOrSlug: string): Promise<Monitor> {
  const monitor = isPossibleId(idOrSlug) ? await store.find(project.id, idOrSlug) : null;
  if (!monitor) throw notFoundFault();
  return monitor;
}

function notFoundFault(): Fault {
  const message = 'Monitor not found';
  return new Fault('monitor_not_found', message, { flatError: message });
}

function limitFault(): Fault {
  const message = `The project already holds ${LIVE_MAX} monitors; delete one before creating another.`;
  return new Fault('monitor_limit_reached', message);
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
