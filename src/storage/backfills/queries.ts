/** Queries of the progress of backfills. */

import type { Backfill } from '../../domain/management/backfill.ts';
import { change, query } from '../queries.ts';

export const listBackfills = query<Record<never, never>>()((db, _, { find }) =>
  find(db, 'Backfill', {}, 'leasedUntilMs').orderBy('name'),
);

type Idle = { readonly nowMs: number; readonly leaseMaxMs: number };

/** Waits for no other process: a locked row is one that another process is leasing. */
export const lockIdleBackfills = query<Idle>()((db, { nowMs, leaseMaxMs }, { lockAvailable, find }) =>
  lockAvailable(
    find(db, 'Backfill', {}, 'leasedUntilMs')
      .where('finishedAtMs', 'is', null)
      .where(({ eb, or }) => or([eb('leasedUntilMs', '<=', nowMs), eb('leasedUntilMs', '>', leaseMaxMs)]))
      .orderBy('name'),
  ),
);

type Lease = { readonly name: string; readonly fence: number; readonly leasedUntilMs: number };

export const leaseBackfill = change<Lease>((db, { name, fence, leasedUntilMs }, { update }) =>
  update(db, 'Backfill', { name }).set({ fence, leasedUntilMs }),
);

export const advanceBackfill = change<Backfill>((db, { name, fence, cursor, rowsDone, finishedAtMs }, { update }) =>
  update(db, 'Backfill', { name, fence }).set({ cursor, rowsDone, finishedAtMs, leasedUntilMs: 0 }),
);
