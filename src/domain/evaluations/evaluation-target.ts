/** Finds the evaluator that a request names, and the settings of its run. */

import { isObject, parseFreeJson } from '../../json/free-json.ts';
import { type LosslessObject, readMember } from '../../json/lossless-json.ts';
import type { PermitRequest } from '../../scheduling/tenant-semaphore.ts';
import type { Project } from '../caller.ts';
import { type Evaluator, type EvaluatorStore, readStoredObject } from '../evaluators/evaluator.ts';
import { findCatalogueEntry, unavailableReason } from '../evaluators/evaluator-catalogue.ts';
import { type CatalogueEntry, IN_CONFIG, overlaySettings, validateSettings } from '../evaluators/evaluator-settings.ts';
import { type CheckPatterns, patternProblems } from '../evaluators/text-rules.ts';
import { Fault, type Reason } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import type { MonitorStore } from '../monitors/monitor.ts';
import { cutToCharacters } from '../text-limits.ts';
import type { EvaluationRequest, EvaluatorName, OnError } from './evaluation-request.ts';

export type EvaluationTarget = {
  readonly entry: CatalogueEntry;
  /** The default name and evaluator id of results. */
  readonly name: string;
  readonly evaluatorId: string;
  /** Saved settings, which override the defaults of the type. */
  readonly settings: LosslessObject;
  readonly onError: OnError;
};

export type TargetDeps = { readonly evaluators: Pick<EvaluatorStore, 'find'> };

const NAME_CHARACTERS_MAX = 200;

/** Throws evaluator_not_found, evaluator_not_runnable, evaluator_unavailable. */
export async function findTarget(deps: TargetDeps, project: Project, name: EvaluatorName): Promise<EvaluationTarget> {
  return refuseUnavailable(await findKnownTarget(deps, project, name));
}

/** The same, also of a type that this server cannot run. Throws evaluator_not_found, evaluator_not_runnable. */
async function findKnownTarget(deps: TargetDeps, project: Project, name: EvaluatorName): Promise<EvaluationTarget> {
  const target = isOfType(name) ? targetOfType(name.text) : await findSavedTarget(deps, project, name.text);
  if (target === null) throw targetNotFound(name);
  return target;
}

/** Whether the name can only be a catalogue id. */
function isOfType({ kind, text }: EvaluatorName): boolean {
  return kind === 'type' || (kind === 'any' && text.includes('/'));
}

/** Throws evaluator_unavailable. */
export function refuseUnavailable(target: EvaluationTarget): EvaluationTarget {
  const reason = unavailableReason(target.entry);
  if (reason === null) return target;
  throw new Fault('evaluator_unavailable', `${target.entry.id} is not available: ${reason}`);
}

/** The target of a saved evaluator. Throws evaluator_not_runnable. */
function targetOfEvaluator({ id, name, type, configJson }: Evaluator): EvaluationTarget {
  const config = parseFreeJson(configJson);
  const read = (member: string) => (isObject(config) ? readMember(config, member) : null);
  const entry = findCatalogueEntry(String(read('evaluatorType')));
  if (type !== 'evaluator' || entry === undefined) {
    throw new Fault('evaluator_not_runnable', `Evaluators of type ${type} cannot be run by this server`);
  }
  const settings = read('settings');
  return {
    entry,
    name,
    evaluatorId: id,
    settings: isObject(settings) ? settings : {},
    onError: read('onError') === 'block' ? 'block' : 'pass',
  };
}

/** The same, for an evaluator that this server can run. Throws evaluator_not_runnable, evaluator_unavailable. */
export function targetToRun(evaluator: Evaluator): EvaluationTarget {
  return refuseUnavailable(targetOfEvaluator(evaluator));
}

/** The settings of a run. Throws invalid_settings. */
export function settingsOfRun({ entry, settings }: EvaluationTarget, sent: LosslessObject): LosslessObject {
  const whole = overlaySettings(entry.settings, overlaySent(settings, sent));
  const found: Reason[] = [];
  validateSettings(entry.settings, whole, { path: IN_CONFIG, found });
  refuseSettings(entry, found);
  return whole;
}

/** Null counts as not sent. */
function overlaySent(settings: LosslessObject, sent: LosslessObject): LosslessObject {
  return { ...settings, ...Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null)) };
}

type SettingsOfRun = PermitRequest & {
  readonly entry: CatalogueEntry;
  readonly settings: LosslessObject;
};

/** Checks the patterns of settings whose shapes were validated. Throws invalid_settings. */
export async function refuseBadPatterns(
  checkPatterns: CheckPatterns,
  { tenant, isUrgent, entry, settings }: SettingsOfRun,
): Promise<void> {
  const subject = { tenant, isUrgent, evaluatorType: entry.id, settings, path: IN_CONFIG };
  refuseSettings(entry, await patternProblems(checkPatterns, subject));
}

function refuseSettings(entry: CatalogueEntry, [first]: readonly Reason[]): void {
  if (first === undefined) return;
  throw new Fault('invalid_settings', `Invalid settings for ${entry.id} evaluator: ${spellReason(first)}`);
}

function targetOfType(id: string): EvaluationTarget | null {
  const entry = findCatalogueEntry(id);
  return entry ? { entry, name: entry.name, evaluatorId: entry.id, settings: {}, onError: 'pass' } : null;
}

/** A saved evaluator by id or slug; null: there is none. Throws evaluator_not_runnable. */
async function findSavedTarget(
  { evaluators }: TargetDeps,
  project: Project,
  text: string,
): Promise<EvaluationTarget | null> {
  if (!isPossibleId(text)) return null;
  const evaluator = await evaluators.find(project.id, text);
  return evaluator && targetOfEvaluator(evaluator);
}

function targetNotFound({ kind, text }: EvaluatorName): Fault {
  const about = kind === 'saved' ? 'Evaluator not found with slug or id' : 'Evaluator not found';
  const message = `${about}: ${cutToCharacters(text, NAME_CHARACTERS_MAX)}`;
  return new Fault('evaluator_not_found', message, { flatError: message });
}

/** The path inside the settings, then the problem. */
function spellReason({ field, message }: Reason): string {
  const reason = message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
  return `${field.replace(`${IN_CONFIG}.`, '')}: ${reason}`;
}

export type NamedTargetDeps = TargetDeps & { readonly monitors: Pick<MonitorStore, 'find'> };

/**
 * A saved evaluator takes precedence over a monitor of the same name. Null: the request asks for a guardrail, and the
 * monitor is disabled. This server may be unable to run the type. Throws evaluator_not_found, evaluator_not_runnable.
 */
export async function findNamedTarget(
  deps: NamedTargetDeps,
  project: Project,
  { evaluator: name, asGuardrail }: Pick<EvaluationRequest, 'evaluator' | 'asGuardrail'>,
): Promise<EvaluationTarget | null> {
  if (name.kind !== 'any' || isOfType(name)) return await findKnownTarget(deps, project, name);
  const saved = await findSavedTarget(deps, project, name.text);
  if (saved !== null) return saved;
  const monitor = isPossibleId(name.text) ? await deps.monitors.find(project.id, name.text) : null;
  if (monitor === null) throw targetNotFound(name);
  if (asGuardrail && !monitor.enabled) return null;
  const evaluator = await deps.evaluators.find(project.id, monitor.evaluatorId);
  if (evaluator === null) throw targetNotFound(name);
  const target = targetOfEvaluator(evaluator);
  return { ...target, settings: overlaySent(target.settings, readStoredObject(monitor.parametersJson)) };
}
