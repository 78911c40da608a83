import type { ExperimentRun } from '../../../gen/spandrel/v1/experiments_pb.js';
import { nameControls } from '../design/format.ts';

/** Distinguishes the runs of an experiment: many have its name, so the id follows it. */
export function labelOf({ id, name }: Pick<ExperimentRun, 'id' | 'name'>): string {
  return nameControls(name === '' || name === id ? id : `${name} (${id})`);
}
