/** The verbs of management that still run compiled queries: another thread may serve them. */

import { createBackfillWriter } from '../backfills/backfills.ts';
import { createDatasetWriter } from '../datasets/datasets.ts';
import { createRunWriter } from '../evaluations/evaluator-runs.ts';
import { createSpendingWriter } from '../evaluations/judge-spending.ts';
import { createExperimentWriter } from '../experiments/experiments.ts';
import { createMonitorWriter } from '../monitors/monitors.ts';
import type { Transact } from '../queries.ts';
import { createTraceChanges, type Enqueuing } from '../traces/trace-changes.ts';

export type ManagementWriter = ReturnType<typeof createManagementWriter>;

export function createManagementWriter(transact: Transact, enqueuing: Enqueuing) {
  return {
    ...createDatasetWriter(transact),
    ...createExperimentWriter(transact),
    ...createRunWriter(transact),
    ...createSpendingWriter(transact),
    ...createMonitorWriter(transact),
    ...createBackfillWriter(transact),
    ...createTraceChanges(transact, enqueuing),
  };
}
