/** The verbs of management that still run compiled queries: another thread may serve them. */

import { createBackfillWriter } from '../backfills/backfills.ts';
import type { Transact } from '../queries.ts';
import { createTraceChanges, type Enqueuing } from '../traces/trace-changes.ts';

export type ManagementWriter = ReturnType<typeof createManagementWriter>;

export function createManagementWriter(transact: Transact, enqueuing: Enqueuing) {
  return {
    ...createBackfillWriter(transact),
    ...createTraceChanges(transact, enqueuing),
  };
}
