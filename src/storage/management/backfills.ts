/** The progress of backfills. */

import { LockMode } from '@mikro-orm/core';
import type { BackfillStore } from '../../domain/management/backfill.ts';
import { BackfillRow } from '../entities/schema.ts';
import { plain, type Units, unleased } from './units.ts';

export function createBackfillStore({ read, transact }: Units): BackfillStore {
  return {
    list: () =>
      read(async (em) => {
        const all = await em.findAll(BackfillRow, { orderBy: { name: 'asc' } });
        return all.map((backfill) => plain(backfill, 'leasedUntilMs'));
      }),
    lease: (names, lease) =>
      transact(async ({ em }) => {
        const idle = { name: { $in: [...names] }, finishedAtMs: null, ...unleased(lease) };
        // Waits for no other process: a locked row is one that another process is leasing.
        const lockMode = LockMode.PESSIMISTIC_PARTIAL_WRITE;
        const backfill = await em.findOne(BackfillRow, idle, { orderBy: { name: 'asc' }, lockMode });
        if (backfill === null) return null;
        backfill.fence += 1;
        backfill.leasedUntilMs = lease.untilMs;
        return plain(backfill, 'leasedUntilMs');
      }),
    advance: ({ name, fence, cursor, rowsDone, finishedAtMs }) =>
      transact(async ({ em }) => {
        const done = { cursor, rowsDone, finishedAtMs, leasedUntilMs: 0 };
        return (await em.nativeUpdate(BackfillRow, { name, fence }, done)) > 0;
      }),
  };
}
