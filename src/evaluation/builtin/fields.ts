/** Reads the data and settings of a run; a missing field counts as empty. */

import type { EvaluationRun } from '../../domain/evaluations/outcome.ts';

export function textOf(run: EvaluationRun, field: string): string {
  const value = run.data[field];
  return typeof value === 'string' ? value : '';
}

export function textsOf(run: EvaluationRun, field: string): readonly string[] {
  const value = run.data[field] ?? [];
  if (typeof value === 'string') return [value];
  return value.filter((item) => typeof item === 'string');
}

export function isOn(run: EvaluationRun, setting: string): boolean {
  return run.settings[setting] === true;
}
