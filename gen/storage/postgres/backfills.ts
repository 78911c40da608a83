// Compiled from src/storage/backfills/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/backfills/queries.ts';

export const advanceBackfill: Compiled<typeof source.advanceBackfill> = {
  name: 'backfills.advanceBackfill',
  text: "update \"backfills\" set \"cursor\" = $1, \"rows_done\" = $2, \"finished_at\" = $3, \"leased_until\" = $4 where (\"name\" = $5 and \"fence\" = $6)",
  cells: (params) => [params.cursor, params.rowsDone, params.finishedAtMs ?? null, 0, params.name, params.fence],
};

export const leaseBackfill: Compiled<typeof source.leaseBackfill> = {
  name: 'backfills.leaseBackfill',
  text: "update \"backfills\" set \"fence\" = $1, \"leased_until\" = $2 where \"name\" = $3",
  cells: (params) => [params.fence, params.leasedUntilMs, params.name],
};

export const listBackfills: Compiled<typeof source.listBackfills> = {
  name: 'backfills.listBackfills',
  text: "select \"backfills\".\"name\" as \"name\", \"backfills\".\"cursor\" as \"cursor\", \"backfills\".\"rows_done\" as \"rowsDone\", \"backfills\".\"finished_at\" as \"finishedAtMs\", \"backfills\".\"fence\" as \"fence\" from \"backfills\" order by \"name\"",
  cells: () => [],
  row: (row) => row,
};

export const lockIdleBackfills: Compiled<typeof source.lockIdleBackfills> = {
  name: 'backfills.lockIdleBackfills',
  text: "select \"backfills\".\"name\" as \"name\", \"backfills\".\"cursor\" as \"cursor\", \"backfills\".\"rows_done\" as \"rowsDone\", \"backfills\".\"finished_at\" as \"finishedAtMs\", \"backfills\".\"fence\" as \"fence\" from \"backfills\" where \"finished_at\" is null and (\"leased_until\" <= $1 or \"leased_until\" > $2) order by \"name\" for update skip locked",
  cells: (params) => [params.nowMs, params.leaseMaxMs],
  row: (row) => row,
};
