// Compiled from src/storage/evaluations/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { boolArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/evaluations/queries.ts';

export const advanceRun: Compiled<typeof source.advanceRun> = {
  name: 'evaluations.advanceRun',
  text: "update \"evaluator_runs\" set \"status\" = $1, \"cursor\" = $2, \"traces_found\" = $3, \"is_found_exactly\" = $4, \"processed\" = $5, \"skipped\" = $6, \"failed\" = $7, \"error\" = $8, \"updated_at\" = $9, \"leased_until\" = $10, \"failures\" = $11 where (\"project_id\" = $12 and \"id\" = $13 and \"fence\" = $14) and \"status\" = $15",
  cells: (params) => [params.status, params.cursor, params.tracesFound ?? null, params.isFoundExactly, params.processed, params.skipped, params.failed, params.error ?? null, params.updatedAtMs, params.leasedUntilMs, params.failures, params.projectId, params.id, params.fence, "running"],
};

export const cancelRun: Compiled<typeof source.cancelRun> = {
  name: 'evaluations.cancelRun',
  text: "update \"evaluator_runs\" set \"status\" = $1, \"updated_at\" = $2 where (\"project_id\" = $3 and \"id\" = $4) and \"status\" = $5",
  cells: (params) => ["cancelled", params.updatedAtMs, params.projectId, params.id, "running"],
};

export const claimJobs: Compiled<typeof source.claimJobs> = {
  name: 'evaluations.claimJobs',
  text: "update \"evaluation_jobs\" set \"fence\" = \"given\".\"v3\", \"due_at\" = \"given\".\"v4\", \"failures\" = \"given\".\"v5\" from unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::int[]) as given (v0, v1, v2, v3, v4, v5) where (\"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\" and \"source_id\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId), int8Array(rows, (params) => params.fence), int8Array(rows, (params) => params.dueAtMs), int4Array(rows, (params) => params.failures)],
};

export const correctDue: Compiled<typeof source.correctDue> = {
  name: 'evaluations.correctDue',
  text: "update \"evaluation_jobs\" set \"due_at\" = $1 where \"project_number\" = $2 and \"due_at\" > $3",
  cells: (params) => [params.nowMs, params.projectNumber, params.dueMaxMs],
};

export const countBetween: Compiled<typeof source.countBetween> = {
  name: 'evaluations.countBetween',
  text: "select count(*) as \"count\", count(*) filter(where \"some\".\"claim\" <> 0) as \"leased\", min(\"some\".\"place\") as \"oldestDueAtMs\" from (select \"due_at\" as \"place\", \"fence\" as \"claim\" from \"evaluation_jobs\" where \"project_number\" = $1 and \"due_at\" >= $2 and \"due_at\" <= $3 order by \"due_at\" limit $4) as \"some\"",
  cells: (params) => [params.projectNumber, params.fromMs, params.untilMs, params.countMax],
  row: (row) => row,
};

export const countJobs: Compiled<typeof source.countJobs> = {
  name: 'evaluations.countJobs',
  text: "select count(*) as \"count\" from (select \"project_number\" as \"projectNumber\" from \"evaluation_jobs\" limit $1) as \"some\"",
  cells: (params) => [params.countMax],
  row: (row) => row,
};

export const countRunning: Compiled<typeof source.countRunning> = {
  name: 'evaluations.countRunning',
  text: "select count(*) as \"count\" from \"evaluator_runs\" where (\"project_id\" = $1 and \"status\" = $2)",
  cells: (params) => [params.projectId, "running"],
  row: (row) => row,
};

export const countRunsSince: Compiled<typeof source.countRunsSince> = {
  name: 'evaluations.countRunsSince',
  text: "select count(*) as \"count\" from \"evaluator_runs\" where \"project_id\" = $1 and \"created_at\" >= $2",
  cells: (params) => [params.projectId, params.sinceMs],
  row: (row) => row,
};

export const countSomeJobs: Compiled<typeof source.countSomeJobs> = {
  name: 'evaluations.countSomeJobs',
  text: "select count(*) as \"count\", max(\"some\".\"sequence\") as \"lastSequence\" from (select \"trace_sequence\" as \"sequence\" from \"evaluation_jobs\" where \"project_number\" = $1 and \"trace_sequence\" > $2 order by \"trace_sequence\" limit $3) as \"some\"",
  cells: (params) => [params.projectNumber, params.afterSequence, params.countMax],
  row: (row) => row,
};

export const endLeases: Compiled<typeof source.endLeases> = {
  name: 'evaluations.endLeases',
  text: "update \"evaluation_jobs\" set \"due_at\" = $1 where \"project_number\" = $2 and \"due_at\" > $3 and \"due_at\" <= $4 and \"fence\" <> $5",
  cells: (params) => [params.nowMs, params.projectNumber, params.nowMs, params.leasedUntilMs, 0],
};

export const findRun: Compiled<typeof source.findRun> = {
  name: 'evaluations.findRun',
  text: "select \"evaluator_runs\".\"project_id\" as \"projectId\", \"evaluator_runs\".\"id\" as \"id\", \"evaluator_runs\".\"evaluator_id\" as \"evaluatorId\", \"evaluator_runs\".\"search\" as \"searchJson\", \"evaluator_runs\".\"status\" as \"status\", \"evaluator_runs\".\"cursor\" as \"cursor\", \"evaluator_runs\".\"traces_found\" as \"tracesFound\", \"evaluator_runs\".\"is_found_exactly\" as \"isFoundExactly\", \"evaluator_runs\".\"processed\" as \"processed\", \"evaluator_runs\".\"skipped\" as \"skipped\", \"evaluator_runs\".\"failed\" as \"failed\", \"evaluator_runs\".\"error\" as \"error\", \"evaluator_runs\".\"created_at\" as \"createdAtMs\", \"evaluator_runs\".\"updated_at\" as \"updatedAtMs\", \"evaluator_runs\".\"fence\" as \"fence\", \"evaluator_runs\".\"failures\" as \"failures\" from \"evaluator_runs\" where (\"project_id\" = $1 and \"id\" = $2)",
  cells: (params) => [params.projectId, params.id],
  row: (row) => row,
};

export const insertJobs: Compiled<typeof source.insertJobs> = {
  name: 'evaluations.insertJobs',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\" from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[], $9::boolean[], $10::bigint[], $11::bigint[], $12::bigint[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) on conflict do nothing",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId), textArray(rows, (params) => params.traceId), int8Array(rows, (params) => params.dueAtMs), int8Array(rows, (params) => params.sinceMs), int8Array(rows, (params) => params.fence), int4Array(rows, (params) => params.failures), boolArray(rows, (params) => params.isRooted), int8Array(rows, (params) => params.againDueAtMs ?? null), int8Array(rows, (params) => params.againSinceMs ?? null), int8Array(rows, (params) => params.asOf)],
};

export const insertRun: Compiled<typeof source.insertRun> = {
  name: 'evaluations.insertRun',
  text: "insert into \"evaluator_runs\" (\"project_id\", \"id\", \"evaluator_id\", \"search\", \"status\", \"cursor\", \"traces_found\", \"is_found_exactly\", \"processed\", \"skipped\", \"failed\", \"error\", \"created_at\", \"updated_at\", \"leased_until\", \"fence\", \"failures\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
  cells: (params) => [params.projectId, params.id, params.evaluatorId, params.searchJson, params.status, params.cursor, params.tracesFound ?? null, params.isFoundExactly, params.processed, params.skipped, params.failed, params.error ?? null, params.createdAtMs, params.updatedAtMs, params.leasedUntilMs, params.fence, params.failures],
};

export const leaseRun: Compiled<typeof source.leaseRun> = {
  name: 'evaluations.leaseRun',
  text: "update \"evaluator_runs\" set \"leased_until\" = $1, \"fence\" = $2 where (\"project_id\" = $3 and \"id\" = $4)",
  cells: (params) => [params.leasedUntilMs, params.fence, params.projectId, params.id],
};

export const listQueues: Compiled<typeof source.listQueues> = {
  name: 'evaluations.listQueues',
  text: "with recursive \"queue\"(\"number\") as (select min(\"project_number\") as \"number\" from \"evaluation_jobs\" union all select (select min(\"next\".\"project_number\") as \"number\" from \"evaluation_jobs\" as \"next\" where \"next\".\"project_number\" > \"queue\".\"number\") as \"number\" from \"queue\" where \"queue\".\"number\" is not null) select \"project\".\"number\" as \"projectNumber\", (select min(\"job\".\"due_at\") as \"dueAtMs\" from \"evaluation_jobs\" as \"job\" where \"job\".\"project_number\" = \"queue\".\"number\") as \"dueAtMs\" from \"queue\" inner join \"projects\" as \"project\" on \"project\".\"number\" = \"queue\".\"number\"",
  cells: () => [],
  row: (row) => row,
};

export const listRuns: Compiled<typeof source.listRuns> = {
  name: 'evaluations.listRuns',
  text: "select \"evaluator_runs\".\"project_id\" as \"projectId\", \"evaluator_runs\".\"id\" as \"id\", \"evaluator_runs\".\"evaluator_id\" as \"evaluatorId\", \"evaluator_runs\".\"search\" as \"searchJson\", \"evaluator_runs\".\"status\" as \"status\", \"evaluator_runs\".\"cursor\" as \"cursor\", \"evaluator_runs\".\"traces_found\" as \"tracesFound\", \"evaluator_runs\".\"is_found_exactly\" as \"isFoundExactly\", \"evaluator_runs\".\"processed\" as \"processed\", \"evaluator_runs\".\"skipped\" as \"skipped\", \"evaluator_runs\".\"failed\" as \"failed\", \"evaluator_runs\".\"error\" as \"error\", \"evaluator_runs\".\"created_at\" as \"createdAtMs\", \"evaluator_runs\".\"updated_at\" as \"updatedAtMs\", \"evaluator_runs\".\"fence\" as \"fence\", \"evaluator_runs\".\"failures\" as \"failures\" from \"evaluator_runs\" where \"project_id\" = $1 order by \"created_at\" desc, \"id\" desc limit $2",
  cells: (params) => [params.projectId, params.limit],
  row: (row) => row,
};

export const listSources: Compiled<typeof source.listSources> = {
  name: 'evaluations.listSources',
  text: "select \"trace_sequence\" as \"traceSequence\", \"source_id\" as \"sourceId\" from \"evaluation_jobs\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.traceSequences],
  row: (row) => row,
};

export const lockDue: Compiled<typeof source.lockDue> = {
  name: 'evaluations.lockDue',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", \"trace_id\" as \"traceId\" from \"evaluation_jobs\" where \"project_number\" = $1 and \"due_at\" <= $2 order by \"due_at\" limit $3 for update skip locked",
  cells: (params) => [params.projectNumber, params.nowMs, params.limit],
  row: (row) => row,
};

export const lockIdleRun: Compiled<typeof source.lockIdleRun> = {
  name: 'evaluations.lockIdleRun',
  text: "select \"project_id\" as \"projectId\", \"id\" as \"id\" from \"evaluator_runs\" where \"status\" = 'running' and (\"leased_until\" <= $1 or \"leased_until\" > $2) order by (select max(\"other\".\"leased_until\") as \"servedAtMs\" from \"evaluator_runs\" as \"other\" where \"other\".\"project_id\" = \"evaluator_runs\".\"project_id\"), \"leased_until\" limit $3 for update skip locked",
  cells: (params) => [params.nowMs, params.leaseMaxMs, 1],
  row: (row) => row,
};

export const lockJob: Compiled<typeof source.lockJob> = {
  name: 'evaluations.lockJob',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"is_rooted\" as \"isRooted\", \"evaluation_jobs\".\"again_due_at\" as \"againDueAtMs\", \"evaluation_jobs\".\"again_since\" as \"againSinceMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", \"trace_id\" as \"traceId\" from \"evaluation_jobs\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"source_id\" = $3 for update",
  cells: (params) => [params.projectNumber, params.traceSequence, params.sourceId],
  row: (row) => row,
};

export const lockJobsOfTrace: Compiled<typeof source.lockJobsOfTrace> = {
  name: 'evaluations.lockJobsOfTrace',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"is_rooted\" as \"isRooted\", \"evaluation_jobs\".\"again_due_at\" as \"againDueAtMs\", \"evaluation_jobs\".\"again_since\" as \"againSinceMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", \"trace_id\" as \"traceId\" from \"evaluation_jobs\" where \"project_number\" = $1 and \"trace_sequence\" = $2 for update skip locked",
  cells: (params) => [params.projectNumber, params.traceSequence],
  row: (row) => row,
};

export const openSpending: Compiled<typeof source.openSpending> = {
  name: 'evaluations.openSpending',
  text: "insert into \"judge_spending\" (\"project_id\", \"day\", \"spent_nano_usd\") values ($1, $2, $3) on conflict do nothing",
  cells: (params) => [params.projectId, params.day, params.spentNanoUsd],
};

export const releaseJob: Compiled<typeof source.releaseJob> = {
  name: 'evaluations.releaseJob',
  text: "update \"evaluation_jobs\" set \"fence\" = 0, \"due_at\" = $1 where (\"project_number\" = $2 and \"trace_sequence\" = $3 and \"source_id\" = $4 and \"fence\" = $5)",
  cells: (params) => [params.dueAtMs, params.projectNumber, params.traceSequence, params.sourceId, params.fence],
};

export const removeEndedRuns: Compiled<typeof source.removeEndedRuns> = {
  name: 'evaluations.removeEndedRuns',
  text: "delete from \"evaluator_runs\" where \"project_id\" = $1 and \"created_at\" < $2 and \"status\" <> $3",
  cells: (params) => [params.projectId, params.beforeMs, "running"],
};

export const removeJobs: Compiled<typeof source.removeJobs> = {
  name: 'evaluations.removeJobs',
  text: "delete from \"evaluation_jobs\" using unnest($1::int[], $2::bigint[], $3::text[]) as given (v0, v1, v2) where (\"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\" and \"source_id\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId)],
};

export const removeOldSpending: Compiled<typeof source.removeOldSpending> = {
  name: 'evaluations.removeOldSpending',
  text: "delete from \"judge_spending\" where \"project_id\" = $1 and \"day\" < $2",
  cells: (params) => [params.projectId, params.beforeDay],
};

export const renewJob: Compiled<typeof source.renewJob> = {
  name: 'evaluations.renewJob',
  text: "update \"evaluation_jobs\" set \"due_at\" = $1 where (\"project_number\" = $2 and \"trace_sequence\" = $3 and \"source_id\" = $4 and \"fence\" = $5)",
  cells: (params) => [params.dueAtMs, params.projectNumber, params.traceSequence, params.sourceId, params.fence],
};

export const reserveSpending: Compiled<typeof source.reserveSpending> = {
  name: 'evaluations.reserveSpending',
  text: "update \"judge_spending\" set \"spent_nano_usd\" = \"spent_nano_usd\" + $1 where (\"project_id\" = $2 and \"day\" = $3) and \"spent_nano_usd\" <= $4",
  cells: (params) => [params.nanoUsd, params.projectId, params.day, params.spentBeforeMax],
};

export const settleSpending: Compiled<typeof source.settleSpending> = {
  name: 'evaluations.settleSpending',
  text: "update \"judge_spending\" set \"spent_nano_usd\" = \"spent_nano_usd\" + $1 where (\"project_id\" = $2 and \"day\" = $3)",
  cells: (params) => [params.changeNanoUsd, params.projectId, params.day],
};

export const storeJob: Compiled<typeof source.storeJob> = {
  name: 'evaluations.storeJob',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (\"project_number\", \"trace_sequence\", \"source_id\") do update set \"trace_id\" = \"excluded\".\"trace_id\", \"due_at\" = \"excluded\".\"due_at\", \"since\" = \"excluded\".\"since\", \"fence\" = \"excluded\".\"fence\", \"failures\" = \"excluded\".\"failures\", \"is_rooted\" = \"excluded\".\"is_rooted\", \"again_due_at\" = \"excluded\".\"again_due_at\", \"again_since\" = \"excluded\".\"again_since\", \"as_of\" = \"excluded\".\"as_of\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.sourceId, params.traceId, params.dueAtMs, params.sinceMs, params.fence, params.failures, params.isRooted, params.againDueAtMs ?? null, params.againSinceMs ?? null, params.asOf],
};

export const storeJobs: Compiled<typeof source.storeJobs> = {
  name: 'evaluations.storeJobs',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\" from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[], $9::boolean[], $10::bigint[], $11::bigint[], $12::bigint[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) on conflict (\"project_number\", \"trace_sequence\", \"source_id\") do update set \"trace_id\" = \"excluded\".\"trace_id\", \"due_at\" = \"excluded\".\"due_at\", \"since\" = \"excluded\".\"since\", \"fence\" = \"excluded\".\"fence\", \"failures\" = \"excluded\".\"failures\", \"is_rooted\" = \"excluded\".\"is_rooted\", \"again_due_at\" = \"excluded\".\"again_due_at\", \"again_since\" = \"excluded\".\"again_since\", \"as_of\" = \"excluded\".\"as_of\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId), textArray(rows, (params) => params.traceId), int8Array(rows, (params) => params.dueAtMs), int8Array(rows, (params) => params.sinceMs), int8Array(rows, (params) => params.fence), int4Array(rows, (params) => params.failures), boolArray(rows, (params) => params.isRooted), int8Array(rows, (params) => params.againDueAtMs ?? null), int8Array(rows, (params) => params.againSinceMs ?? null), int8Array(rows, (params) => params.asOf)],
};
