// Compiled from src/storage/evaluations/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { boolArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/evaluations/queries.ts';

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

export const insertJobs: Compiled<typeof source.insertJobs> = {
  name: 'evaluations.insertJobs',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\" from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[], $9::boolean[], $10::bigint[], $11::bigint[], $12::bigint[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) on conflict do nothing",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId), textArray(rows, (params) => params.traceId), int8Array(rows, (params) => params.dueAtMs), int8Array(rows, (params) => params.sinceMs), int8Array(rows, (params) => params.fence), int4Array(rows, (params) => params.failures), boolArray(rows, (params) => params.isRooted), int8Array(rows, (params) => params.againDueAtMs ?? null), int8Array(rows, (params) => params.againSinceMs ?? null), int8Array(rows, (params) => params.asOf)],
};

export const listQueues: Compiled<typeof source.listQueues> = {
  name: 'evaluations.listQueues',
  text: "with recursive \"queue\"(\"number\") as (select min(\"project_number\") as \"number\" from \"evaluation_jobs\" union all select (select min(\"next\".\"project_number\") as \"number\" from \"evaluation_jobs\" as \"next\" where \"next\".\"project_number\" > \"queue\".\"number\") as \"number\" from \"queue\" where \"queue\".\"number\" is not null) select \"project\".\"number\" as \"projectNumber\", (select min(\"job\".\"due_at\") as \"dueAtMs\" from \"evaluation_jobs\" as \"job\" where \"job\".\"project_number\" = \"queue\".\"number\") as \"dueAtMs\" from \"queue\" inner join \"projects\" as \"project\" on \"project\".\"number\" = \"queue\".\"number\"",
  cells: () => [],
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

export const releaseJob: Compiled<typeof source.releaseJob> = {
  name: 'evaluations.releaseJob',
  text: "update \"evaluation_jobs\" set \"fence\" = 0, \"due_at\" = $1 where (\"project_number\" = $2 and \"trace_sequence\" = $3 and \"source_id\" = $4 and \"fence\" = $5)",
  cells: (params) => [params.dueAtMs, params.projectNumber, params.traceSequence, params.sourceId, params.fence],
};

export const removeJobs: Compiled<typeof source.removeJobs> = {
  name: 'evaluations.removeJobs',
  text: "delete from \"evaluation_jobs\" using unnest($1::int[], $2::bigint[], $3::text[]) as given (v0, v1, v2) where (\"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\" and \"source_id\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId)],
};

export const renewJob: Compiled<typeof source.renewJob> = {
  name: 'evaluations.renewJob',
  text: "update \"evaluation_jobs\" set \"due_at\" = $1 where (\"project_number\" = $2 and \"trace_sequence\" = $3 and \"source_id\" = $4 and \"fence\" = $5)",
  cells: (params) => [params.dueAtMs, params.projectNumber, params.traceSequence, params.sourceId, params.fence],
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
