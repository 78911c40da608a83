/** Finds the evaluator that a request names directly or through a monitor. */

import type { Project } from '../caller.ts';
import { readStoredObject } from '../evaluators/evaluator.ts';
import { isPossibleId } from '../ids.ts';
import type { MonitorStore } from '../monitors/monitor.ts';
import type { EvaluationRequest } from './evaluation-request.ts';
import {
  type EvaluationTarget,
  findSavedTarget,
  findTarget,
  isOfType,
  overlaySent,
  refuseUnavailable,
  type TargetDeps,
  targetNotFound,
  targetToRun,
} from './evaluation-target.ts';

export type NamedTargetDeps = TargetDeps & { readonly monitors: Pick<MonitorStore, 'find'> };

/**
 * A saved evaluator takes precedence over a monitor of the same name. Null: the request asks for a guardrail, and the
 * monitor is disabled. Throws evaluator_not_found, evaluator_not_runnable, evaluator_unavailable.
 */
export async function findNamedTarget(
  deps: NamedTargetDeps,
  project: Project,
  { evaluator: name, asGuardrail }: Pick<EvaluationRequest, 'evaluator' | 'asGuardrail'>,
): Promise<EvaluationTarget | null> {
  if (name.kind !== 'any' || isOfType(name)) return await findTarget(deps, project, name);
  const saved = await findSavedTarget(deps, project, name.text);
  if (saved !== null) return refuseUnavailable(saved);
  const monitor = isPossibleId(name.text) ? await deps.monitors.find(project.id, name.text) : null;
  if (monitor === null) throw targetNotFound(name);
  if (asGuardrail && !monitor.enabled) return null;
  const evaluator = await deps.evaluators.find(project.id, monitor.evaluatorId);
  if (evaluator === null) throw targetNotFound(name);
  const target = targetToRun(evaluator);
  return { ...target, settings: overlaySent(target.settings, readStoredObject(monitor.parametersJson)) };
}
