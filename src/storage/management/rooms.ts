/** The rooms of management. Each is written once over the object mapper, and serves every database. */

import { EvaluatorRunRow } from '../entities/evaluations.ts';
import { TraceDeletionRow } from '../entities/traces.ts';
import { createAuditLog } from './audit.ts';
import { createBackfillStore } from './backfills.ts';
import { createBudgetRecords } from './budgets.ts';
import { createCommit } from './commits.ts';
import { createDashboardStore } from './dashboards.ts';
import { createDatasetRoom } from './datasets.ts';
import { createWebhookRoom } from './endpoints.ts';
import { createEvaluatorStore } from './evaluators.ts';
import { createExperimentRoom } from './experiments.ts';
import { createSpendingStore } from './judge-spending.ts';
import { createKeyRecords, createSessionRecords } from './keys.ts';
import { createMonitorRoom } from './monitors.ts';
import {
  createClockRecords,
  createInstallationStore,
  createOrganizationReader,
  createProjectSettings,
} from './organization.ts';
import { createPriceOverrides } from './pricing.ts';
import { createPromptStore } from './prompts.ts';
import { createReceipts } from './receipts.ts';
import { createSavedViewStore } from './saved-views.ts';
import { createSealedStore } from './sealed-values.ts';
import { createRunStore, createShareStore } from './traces.ts';
import { createTriggerRoom } from './triggers.ts';
import type { Units } from './units.ts';
import { createModelProviders, createVirtualKeys } from './virtual-keys.ts';

export type Rooms = ReturnType<typeof createRooms>;

export function createRooms(units: Units) {
  return {
    backfills: createBackfillStore(units),
    dashboards: createDashboardStore(units),
    datasets: createDatasetRoom(units),
    evaluatorRuns: createRunStore(units, EvaluatorRunRow),
    traceDeletions: createRunStore(units, TraceDeletionRow),
    traceShares: createShareStore(units),
    savedViews: createSavedViewStore(units),
    evaluators: createEvaluatorStore(units),
    experiments: createExperimentRoom(units),
    judgeSpending: createSpendingStore(units),
    monitors: createMonitorRoom(units),
    prompts: createPromptStore(units),
    triggers: createTriggerRoom(units),
    webhooks: createWebhookRoom(units),
    installation: createInstallationStore(units),
    sealed: createSealedStore(units),
    projects: createProjectSettings(units),
    clock: createClockRecords(units),
    management: {
      ...createOrganizationReader(units),
      ...createKeyRecords(units),
      ...createSessionRecords(units),
      ...createPriceOverrides(units),
      ...createBudgetRecords(units),
      ...createModelProviders(units),
      ...createVirtualKeys(units),
      ...createAuditLog(units),
      ...createReceipts(units),
      commit: createCommit(units),
    },
  };
}
