/** What a request for an evaluation names: an evaluator, or a monitor that stands for its own. */

import type { Project } from '../caller.ts';
import type { MonitorStore } from '../monitors/monitor-store.ts';
import { readParameters, targetToRun } from '../monitors/monitored-evaluator.ts';
import type { EvaluationRequest } from './evaluation-request.ts';
import {
  type EvaluationTarget,
  findSavedTarget,
  findTarget,
  isNameable,
  isOfType,
  overlaySent,
  refuseUnavailable,
  type TargetDeps,
  targetNotFound,
} from './evaluation-target.ts';

export type NamedTargetDeps = TargetDeps & { readonly monitors: Pick<MonitorStore, 'find'> };

/**
 * A saved evaluator comes before a monitor of the same name. Null: a monitor that is disabled, and would be a guardrail.
 * Throws evaluator_not_found, evaluator_not_runnable, evaluator_unavailable.
 */
export async function findNamedTarget(
  deps: NamedTargetDeps,
  project: Project,
  { evaluator: name, asGuardrail }: Pick<EvaluationRequest, 'evaluator' | 'asGuardrail'>,
): Promise<EvaluationTarget | null> {
  if (name.kind !== 'any' || isOfType(name)) return await findTarget(deps, project, name);
  const saved = await findSavedTarget(deps, project, name.text);
  if (saved !== null) return refuseUnavailable(saved);
  const monitor = isNameable(name.text) ? await deps.monitors.find(project.id, name.text) : null;
  if (monitor === null) throw targetNotFound(name);
  if (asGuardrail && !monitor.enabled) return null;
  const evaluator = await deps.evaluators.find(project.id, monitor.evaluatorId);
  if (evaluator === null) throw targetNotFound(name);
  const target = targetToRun(evaluator);
  return { ...target, settings: overlaySent(target.settings, readParameters(monitor.parametersJson)) };
}
