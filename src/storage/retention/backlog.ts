/** Counts the traces that are past their term, from the hourly sums of analytics. */

import type { TelemetryRetention, TraceCut } from '../../domain/traces/telemetry-port.ts';
import { hourOf } from '../analytics/hour-changes.ts';
import type { RunQuery } from '../transaction.ts';
import type { RetentionQueries } from './parts.ts';

const PROJECTS_AT_ONCE = 20;
/** Sums of hours stay when their traces are gone, so older ones are not read. */
const HOURS_BACK = 35 * 24;

export function createBacklog(
  { listBacklog }: Pick<RetentionQueries, 'listBacklog'>,
  runQuery: RunQuery,
): TelemetryRetention['backlog'] {
  async function countOf({ storedDays, expiredBeforeMs }: TraceCut): Promise<number> {
    const beforeHour = hourOf(expiredBeforeMs);
    const fromHour = beforeHour - HOURS_BACK;
    let count = 0;
    for (let after = 0; ; ) {
      const rows = await runQuery(listBacklog, { storedDays, fromHour, beforeHour, after, limit: PROJECTS_AT_ONCE });
      for (const { traces } of rows) count += traces;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PROJECTS_AT_ONCE) return count;
      after = last.projectNumber;
    }
  }

  return async (cuts) => {
    let count = 0;
    for (const cut of cuts) count += await countOf(cut);
    return count;
  };
}
