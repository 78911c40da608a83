// Compiled from src/storage/evaluations/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import type * as source from '../../../src/storage/evaluations/queries.ts';

export const claimJobs: Compiled<typeof source.claimJobs> = {
  name: 'evaluations.claimJobs',
  text: "update \"evaluation_jobs\" set \"fence\" = ?, \"due_at\" = ?, \"failures\" = ? where (\"project_number\" = ? and \"trace_sequence\" = ? and \"source_id\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.fence, params.dueAtMs, params.failures, params.projectNumber, params.traceSequence, params.sourceId])],
};

export const correctDue: Compiled<typeof source.correctDue> = {
  name: 'evaluations.correctDue',
  text: "update \"evaluation_jobs\" set \"due_at\" = ? where \"project_number\" = ? and \"due_at\" > ?",
  cells: (params) => [params.nowMs, params.projectNumber, params.dueMaxMs],
};

export const countBetween: Compiled<typeof source.countBetween> = {
  name: 'evaluations.countBetween',
  text: "select count(*) as \"count\", count(*) filter(where \"some\".\"claim\" <> 0) as \"leased\", min(\"some\".\"place\") as \"oldestDueAtMs\" from (select \"due_at\" as \"place\", \"fence\" as \"claim\" from \"evaluation_jobs\" where \"project_number\" = ? and \"due_at\" >= ? and \"due_at\" <= ? order by \"due_at\" limit ?) as \"some\"",
  cells: (params) => [params.projectNumber, params.fromMs, params.untilMs, params.countMax],
  row: (row: any) => ({
    count: row[0],
    leased: row[1],
    oldestDueAtMs: row[2],
  }),
};

export const countJobs: Compiled<typeof source.countJobs> = {
  name: 'evaluations.countJobs',
  text: "select count(*) as \"count\" from (select \"project_number\" as \"projectNumber\" from \"evaluation_jobs\" limit ?) as \"some\"",
  cells: (params) => [params.countMax],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const countSomeJobs: Compiled<typeof source.countSomeJobs> = {
  name: 'evaluations.countSomeJobs',
  text: "select count(*) as \"count\", max(\"some\".\"sequence\") as \"lastSequence\" from (select \"trace_sequence\" as \"sequence\" from \"evaluation_jobs\" where \"project_number\" = ? and \"trace_sequence\" > ? order by \"trace_sequence\" limit ?) as \"some\"",
  cells: (params) => [params.projectNumber, params.afterSequence, params.countMax],
  row: (row: any) => ({
    count: row[0],
    lastSequence: row[1],
  }),
};

export const endLeases: Compiled<typeof source.endLeases> = {
  name: 'evaluations.endLeases',
  text: "update \"evaluation_jobs\" set \"due_at\" = ? where \"project_number\" = ? and \"due_at\" > ? and \"due_at\" <= ? and \"fence\" <> ?",
  cells: (params) => [params.nowMs, params.projectNumber, params.nowMs, params.leasedUntilMs, 0],
};

export const insertJobs: Compiled<typeof source.insertJobs> = {
  name: 'evaluations.insertJobs',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.traceSequence, params.sourceId, packId(params.traceId), params.dueAtMs, params.sinceMs, params.fence, params.failures, Number(params.isRooted), params.againDueAtMs ?? null, params.againSinceMs ?? null, params.asOf])],
};

export const listQueues: Compiled<typeof source.listQueues> = {
  name: 'evaluations.listQueues',
  text: "with recursive \"queue\"(\"number\") as (select min(\"project_number\") as \"number\" from \"evaluation_jobs\" union all select (select min(\"next\".\"project_number\") as \"number\" from \"evaluation_jobs\" as \"next\" where \"next\".\"project_number\" > \"queue\".\"number\") as \"number\" from \"queue\" where \"queue\".\"number\" is not null) select \"project\".\"number\" as \"projectNumber\", (select min(\"job\".\"due_at\") as \"dueAtMs\" from \"evaluation_jobs\" as \"job\" where \"job\".\"project_number\" = \"queue\".\"number\") as \"dueAtMs\" from \"queue\" inner join \"projects\" as \"project\" on \"project\".\"number\" = \"queue\".\"number\"",
  cells: () => [],
  row: (row: any) => ({
    projectNumber: row[0],
    dueAtMs: row[1],
  }),
};

export const listSources: Compiled<typeof source.listSources> = {
  name: 'evaluations.listSources',
  text: "select \"trace_sequence\" as \"traceSequence\", \"source_id\" as \"sourceId\" from \"evaluation_jobs\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.traceSequences)],
  row: (row: any) => ({
    traceSequence: row[0],
    sourceId: row[1],
  }),
};

export const lockDue: Compiled<typeof source.lockDue> = {
  name: 'evaluations.lockDue',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\" from \"evaluation_jobs\" where \"project_number\" = ? and \"due_at\" <= ? order by \"due_at\" limit ?",
  cells: (params) => [params.projectNumber, params.nowMs, params.limit],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    sourceId: row[2],
    sinceMs: row[3],
    fence: row[4],
    failures: row[5],
    dueAtMs: row[6],
    asOf: row[7],
    traceId: row[8],
  }),
};

export const lockJob: Compiled<typeof source.lockJob> = {
  name: 'evaluations.lockJob',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"is_rooted\" as \"isRooted\", \"evaluation_jobs\".\"again_due_at\" as \"againDueAtMs\", \"evaluation_jobs\".\"again_since\" as \"againSinceMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\" from \"evaluation_jobs\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"source_id\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence, params.sourceId],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    sourceId: row[2],
    dueAtMs: row[3],
    sinceMs: row[4],
    fence: row[5],
    failures: row[6],
    isRooted: row[7] === 1,
    againDueAtMs: row[8],
    againSinceMs: row[9],
    asOf: row[10],
    traceId: row[11],
  }),
};

export const lockJobsOfTrace: Compiled<typeof source.lockJobsOfTrace> = {
  name: 'evaluations.lockJobsOfTrace',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"is_rooted\" as \"isRooted\", \"evaluation_jobs\".\"again_due_at\" as \"againDueAtMs\", \"evaluation_jobs\".\"again_since\" as \"againSinceMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\" from \"evaluation_jobs\" where \"project_number\" = ? and \"trace_sequence\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    sourceId: row[2],
    dueAtMs: row[3],
    sinceMs: row[4],
    fence: row[5],
    failures: row[6],
    isRooted: row[7] === 1,
    againDueAtMs: row[8],
    againSinceMs: row[9],
    asOf: row[10],
    traceId: row[11],
  }),
};

export const releaseJob: Compiled<typeof source.releaseJob> = {
  name: 'evaluations.releaseJob',
  text: "update \"evaluation_jobs\" set \"fence\" = 0, \"due_at\" = ? where (\"project_number\" = ? and \"trace_sequence\" = ? and \"source_id\" = ? and \"fence\" = ?)",
  cells: (params) => [params.dueAtMs, params.projectNumber, params.traceSequence, params.sourceId, params.fence],
};

export const removeJobs: Compiled<typeof source.removeJobs> = {
  name: 'evaluations.removeJobs',
  text: "delete from \"evaluation_jobs\" where (\"project_number\" = ? and \"trace_sequence\" = ? and \"source_id\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.traceSequence, params.sourceId])],
};

export const renewJob: Compiled<typeof source.renewJob> = {
  name: 'evaluations.renewJob',
  text: "update \"evaluation_jobs\" set \"due_at\" = ? where (\"project_number\" = ? and \"trace_sequence\" = ? and \"source_id\" = ? and \"fence\" = ?)",
  cells: (params) => [params.dueAtMs, params.projectNumber, params.traceSequence, params.sourceId, params.fence],
};

export const storeJob: Compiled<typeof source.storeJob> = {
  name: 'evaluations.storeJob',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"source_id\") do update set \"trace_id\" = \"excluded\".\"trace_id\", \"due_at\" = \"excluded\".\"due_at\", \"since\" = \"excluded\".\"since\", \"fence\" = \"excluded\".\"fence\", \"failures\" = \"excluded\".\"failures\", \"is_rooted\" = \"excluded\".\"is_rooted\", \"again_due_at\" = \"excluded\".\"again_due_at\", \"again_since\" = \"excluded\".\"again_since\", \"as_of\" = \"excluded\".\"as_of\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.sourceId, packId(params.traceId), params.dueAtMs, params.sinceMs, params.fence, params.failures, Number(params.isRooted), params.againDueAtMs ?? null, params.againSinceMs ?? null, params.asOf],
};

export const storeJobs: Compiled<typeof source.storeJobs> = {
  name: 'evaluations.storeJobs',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"source_id\") do update set \"trace_id\" = \"excluded\".\"trace_id\", \"due_at\" = \"excluded\".\"due_at\", \"since\" = \"excluded\".\"since\", \"fence\" = \"excluded\".\"fence\", \"failures\" = \"excluded\".\"failures\", \"is_rooted\" = \"excluded\".\"is_rooted\", \"again_due_at\" = \"excluded\".\"again_due_at\", \"again_since\" = \"excluded\".\"again_since\", \"as_of\" = \"excluded\".\"as_of\"",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.traceSequence, params.sourceId, packId(params.traceId), params.dueAtMs, params.sinceMs, params.fence, params.failures, Number(params.isRooted), params.againDueAtMs ?? null, params.againSinceMs ?? null, params.asOf])],
};
