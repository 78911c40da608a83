/** The progress of backfills. */

import { leaseMaxMs } from '../../domain/clock.ts';
import type { BackfillStore } from '../../domain/management/backfill.ts';
import type { QueryRunner, Transact } from '../queries.ts';

export type BackfillWriter = {
  readonly leaseBackfill: BackfillStore['lease'];
  readonly advanceBackfill: BackfillStore['advance'];
};

export function createBackfillStore(
  { queries: { backfills }, runQuery }: QueryRunner,
  { leaseBackfill, advanceBackfill }: BackfillWriter,
): BackfillStore {
  return {
    list: () => runQuery(backfills.listBackfills, {}),
    lease: leaseBackfill,
    advance: advanceBackfill,
  };
}

export function createBackfillWriter(transact: Transact): BackfillWriter {
  return {
    leaseBackfill: (names, lease) =>
      transact(async ({ runQuery, change, queries: { backfills } }) => {
        const idle = await runQuery(backfills.lockIdleBackfills, { nowMs: lease.nowMs, leaseMaxMs: leaseMaxMs(lease) });
        const next = idle.find(({ name }) => names.includes(name));
        if (next === undefined) return null;
        const leased = { ...next, fence: next.fence + 1 };
        await change(backfills.leaseBackfill, { ...leased, leasedUntilMs: lease.untilMs });
        return leased;
      }),
    advanceBackfill: (progress) =>
      transact(async ({ change, queries: { backfills } }) => (await change(backfills.advanceBackfill, progress)) > 0),
  };
}
