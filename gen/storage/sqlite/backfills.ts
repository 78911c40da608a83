// Compiled from src/storage/backfills/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/backfills/queries.ts';

export const advanceBackfill: Compiled<typeof source.advanceBackfill> = {
  name: 'backfills.advanceBackfill',
  text: "update \"backfills\" set \"cursor\" = ?, \"rows_done\" = ?, \"finished_at\" = ?, \"leased_until\" = ? where (\"name\" = ? and \"fence\" = ?)",
  cells: (params) => [params.cursor, params.rowsDone, params.finishedAtMs ?? null, 0, params.name, params.fence],
};

export const leaseBackfill: Compiled<typeof source.leaseBackfill> = {
  name: 'backfills.leaseBackfill',
  text: "update \"backfills\" set \"fence\" = ?, \"leased_until\" = ? where \"name\" = ?",
  cells: (params) => [params.fence, params.leasedUntilMs, params.name],
};

export const listBackfills: Compiled<typeof source.listBackfills> = {
  name: 'backfills.listBackfills',
  text: "select \"backfills\".\"name\" as \"name\", \"backfills\".\"cursor\" as \"cursor\", \"backfills\".\"rows_done\" as \"rowsDone\", \"backfills\".\"finished_at\" as \"finishedAtMs\", \"backfills\".\"fence\" as \"fence\" from \"backfills\" order by \"name\"",
  cells: () => [],
  row: (row: any) => ({
    name: row[0],
    cursor: row[1],
    rowsDone: row[2],
    finishedAtMs: row[3],
    fence: row[4],
  }),
};

export const lockIdleBackfills: Compiled<typeof source.lockIdleBackfills> = {
  name: 'backfills.lockIdleBackfills',
  text: "select \"backfills\".\"name\" as \"name\", \"backfills\".\"cursor\" as \"cursor\", \"backfills\".\"rows_done\" as \"rowsDone\", \"backfills\".\"finished_at\" as \"finishedAtMs\", \"backfills\".\"fence\" as \"fence\" from \"backfills\" where \"finished_at\" is null and (\"leased_until\" <= ? or \"leased_until\" > ?) order by \"name\"",
  cells: (params) => [params.nowMs, params.leaseMaxMs],
  row: (row: any) => ({
    name: row[0],
    cursor: row[1],
    rowsDone: row[2],
    finishedAtMs: row[3],
    fence: row[4],
  }),
};
