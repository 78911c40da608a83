// Compiled from src/storage/evaluations/queries-runs.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/evaluations/queries-runs.ts';

export const advanceRun: Compiled<typeof source.advanceRun> = {
  name: 'evaluations-runs.advanceRun',
  text: "update \"evaluator_runs\" set \"status\" = ?, \"cursor\" = ?, \"traces_found\" = ?, \"is_found_exactly\" = ?, \"processed\" = ?, \"skipped\" = ?, \"failed\" = ?, \"error\" = ?, \"updated_at\" = ?, \"leased_until\" = ?, \"failures\" = ? where (\"project_id\" = ? and \"id\" = ? and \"fence\" = ?) and \"status\" = ?",
  cells: (params) => [params.status, params.cursor, params.tracesFound ?? null, Number(params.isFoundExactly), params.processed, params.skipped, params.failed, params.error ?? null, params.updatedAtMs, params.leasedUntilMs, params.failures, params.projectId, params.id, params.fence, "running"],
};

export const cancelRun: Compiled<typeof source.cancelRun> = {
  name: 'evaluations-runs.cancelRun',
  text: "update \"evaluator_runs\" set \"status\" = ?, \"updated_at\" = ? where (\"project_id\" = ? and \"id\" = ?) and \"status\" = ?",
  cells: (params) => ["cancelled", params.updatedAtMs, params.projectId, params.id, "running"],
};

export const countRunning: Compiled<typeof source.countRunning> = {
  name: 'evaluations-runs.countRunning',
  text: "select count(*) as \"count\" from \"evaluator_runs\" where (\"project_id\" = ? and \"status\" = ?)",
  cells: (params) => [params.projectId, "running"],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const findRun: Compiled<typeof source.findRun> = {
  name: 'evaluations-runs.findRun',
  text: "select \"evaluator_runs\".\"project_id\" as \"projectId\", \"evaluator_runs\".\"id\" as \"id\", \"evaluator_runs\".\"evaluator_id\" as \"evaluatorId\", \"evaluator_runs\".\"search\" as \"searchJson\", \"evaluator_runs\".\"status\" as \"status\", \"evaluator_runs\".\"cursor\" as \"cursor\", \"evaluator_runs\".\"traces_found\" as \"tracesFound\", \"evaluator_runs\".\"is_found_exactly\" as \"isFoundExactly\", \"evaluator_runs\".\"processed\" as \"processed\", \"evaluator_runs\".\"skipped\" as \"skipped\", \"evaluator_runs\".\"failed\" as \"failed\", \"evaluator_runs\".\"error\" as \"error\", \"evaluator_runs\".\"created_at\" as \"createdAtMs\", \"evaluator_runs\".\"updated_at\" as \"updatedAtMs\", \"evaluator_runs\".\"fence\" as \"fence\", \"evaluator_runs\".\"failures\" as \"failures\" from \"evaluator_runs\" where (\"project_id\" = ? and \"id\" = ?)",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    evaluatorId: row[2],
    searchJson: row[3],
    status: row[4],
    cursor: row[5],
    tracesFound: row[6],
    isFoundExactly: row[7] === 1,
    processed: row[8],
    skipped: row[9],
    failed: row[10],
    error: row[11],
    createdAtMs: row[12],
    updatedAtMs: row[13],
    fence: row[14],
    failures: row[15],
  }),
};

export const insertRun: Compiled<typeof source.insertRun> = {
  name: 'evaluations-runs.insertRun',
  text: "insert into \"evaluator_runs\" (\"project_id\", \"id\", \"evaluator_id\", \"search\", \"status\", \"cursor\", \"traces_found\", \"is_found_exactly\", \"processed\", \"skipped\", \"failed\", \"error\", \"created_at\", \"updated_at\", \"leased_until\", \"fence\", \"failures\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectId, params.id, params.evaluatorId, params.searchJson, params.status, params.cursor, params.tracesFound ?? null, Number(params.isFoundExactly), params.processed, params.skipped, params.failed, params.error ?? null, params.createdAtMs, params.updatedAtMs, params.leasedUntilMs, params.fence, params.failures],
};

export const leaseRun: Compiled<typeof source.leaseRun> = {
  name: 'evaluations-runs.leaseRun',
  text: "update \"evaluator_runs\" set \"leased_until\" = ?, \"fence\" = ? where (\"project_id\" = ? and \"id\" = ?)",
  cells: (params) => [params.leasedUntilMs, params.fence, params.projectId, params.id],
};

export const listRuns: Compiled<typeof source.listRuns> = {
  name: 'evaluations-runs.listRuns',
  text: "select \"evaluator_runs\".\"project_id\" as \"projectId\", \"evaluator_runs\".\"id\" as \"id\", \"evaluator_runs\".\"evaluator_id\" as \"evaluatorId\", \"evaluator_runs\".\"search\" as \"searchJson\", \"evaluator_runs\".\"status\" as \"status\", \"evaluator_runs\".\"cursor\" as \"cursor\", \"evaluator_runs\".\"traces_found\" as \"tracesFound\", \"evaluator_runs\".\"is_found_exactly\" as \"isFoundExactly\", \"evaluator_runs\".\"processed\" as \"processed\", \"evaluator_runs\".\"skipped\" as \"skipped\", \"evaluator_runs\".\"failed\" as \"failed\", \"evaluator_runs\".\"error\" as \"error\", \"evaluator_runs\".\"created_at\" as \"createdAtMs\", \"evaluator_runs\".\"updated_at\" as \"updatedAtMs\", \"evaluator_runs\".\"fence\" as \"fence\", \"evaluator_runs\".\"failures\" as \"failures\" from \"evaluator_runs\" where \"project_id\" = ? order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.projectId, params.limit],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    evaluatorId: row[2],
    searchJson: row[3],
    status: row[4],
    cursor: row[5],
    tracesFound: row[6],
    isFoundExactly: row[7] === 1,
    processed: row[8],
    skipped: row[9],
    failed: row[10],
    error: row[11],
    createdAtMs: row[12],
    updatedAtMs: row[13],
    fence: row[14],
    failures: row[15],
  }),
};

export const lockIdleRun: Compiled<typeof source.lockIdleRun> = {
  name: 'evaluations-runs.lockIdleRun',
  text: "select \"project_id\" as \"projectId\", \"id\" as \"id\" from \"evaluator_runs\" where \"status\" = 'running' and \"leased_until\" <= ? order by (select max(\"other\".\"leased_until\") as \"servedAtMs\" from \"evaluator_runs\" as \"other\" where \"other\".\"project_id\" = \"evaluator_runs\".\"project_id\"), \"leased_until\" limit ?",
  cells: (params) => [params.nowMs, 1],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
  }),
};

export const removeEndedRuns: Compiled<typeof source.removeEndedRuns> = {
  name: 'evaluations-runs.removeEndedRuns',
  text: "delete from \"evaluator_runs\" where \"project_id\" = ? and \"created_at\" < ? and \"status\" <> ?",
  cells: (params) => [params.projectId, params.beforeMs, "running"],
};
