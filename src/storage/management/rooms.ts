/** The rooms of management. Each is written once over the object mapper, and serves every database. */

import { createBackfillStore } from './backfills.ts';
import { createDatasetStore } from './datasets.ts';
import { createRunStore } from './evaluator-runs.ts';
import { createEvaluatorStore } from './evaluators.ts';
import { createExperimentRoom } from './experiments.ts';
import { createSpendingStore } from './judge-spending.ts';
import type { Units } from './units.ts';

export type Rooms = ReturnType<typeof createRooms>;

export function createRooms(units: Units) {
  return {
    backfills: createBackfillStore(units),
    datasets: createDatasetStore(units),
    evaluatorRuns: createRunStore(units),
    evaluators: createEvaluatorStore(units),
    experiments: createExperimentRoom(units),
    judgeSpending: createSpendingStore(units),
  };
}
