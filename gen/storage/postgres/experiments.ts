// Compiled from src/storage/experiments/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { float8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/experiments/queries.ts';

export const countLive: Compiled<typeof source.countLive> = {
  name: 'experiments.countLive',
  text: "select count(*) as \"count\" from \"experiments\" where (\"project_id\" = $1 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row) => row,
};

export const countRuns: Compiled<typeof source.countRuns> = {
  name: 'experiments.countRuns',
  text: "select count(*) as \"count\" from \"experiment_runs\" where (\"project_id\" = $1 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row) => row,
};

export const findById: Compiled<typeof source.findById> = {
  name: 'experiments.findById',
  text: "select \"experiments\".\"project_id\" as \"projectId\", \"experiments\".\"id\" as \"id\", \"experiments\".\"name\" as \"name\", \"experiments\".\"slug\" as \"slug\", \"experiments\".\"created_at\" as \"createdAtMs\", \"experiments\".\"updated_at\" as \"updatedAtMs\" from \"experiments\" where (\"project_id\" = $1 and \"id\" = $2 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.id],
  row: (row) => row,
};

export const findBySlug: Compiled<typeof source.findBySlug> = {
  name: 'experiments.findBySlug',
  text: "select \"experiments\".\"project_id\" as \"projectId\", \"experiments\".\"id\" as \"id\", \"experiments\".\"name\" as \"name\", \"experiments\".\"slug\" as \"slug\", \"experiments\".\"created_at\" as \"createdAtMs\", \"experiments\".\"updated_at\" as \"updatedAtMs\" from \"experiments\" where (\"project_id\" = $1 and \"slug\" = $2 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.slug],
  row: (row) => row,
};

export const findHiddenRun: Compiled<typeof source.findHiddenRun> = {
  name: 'experiments.findHiddenRun',
  text: "select \"project_id\" as \"projectId\", \"key\" as \"key\" from \"experiment_runs\" where \"deleted_at\" is not null limit $1",
  cells: () => [1],
  row: (row) => row,
};

export const findRun: Compiled<typeof source.findRun> = {
  name: 'experiments.findRun',
  text: "select \"experiment_runs\".\"project_id\" as \"projectId\", \"experiment_runs\".\"key\" as \"key\", \"experiment_runs\".\"experiment_id\" as \"experimentId\", \"experiment_runs\".\"id\" as \"id\", \"experiment_runs\".\"name\" as \"name\", \"experiment_runs\".\"dataset_id\" as \"datasetId\", \"experiment_runs\".\"dataset_version\" as \"datasetVersion\", \"experiment_runs\".\"targets\" as \"targetsJson\", \"experiment_runs\".\"evaluators\" as \"evaluatorsJson\", \"experiment_runs\".\"total\" as \"total\", \"experiment_runs\".\"progress\" as \"progress\", \"experiment_runs\".\"result_count\" as \"resultCount\", \"experiment_runs\".\"total_bytes\" as \"totalBytes\", \"experiment_runs\".\"created_at\" as \"createdAtMs\", \"experiment_runs\".\"updated_at\" as \"updatedAtMs\", \"experiment_runs\".\"finished_at\" as \"finishedAtMs\" from \"experiment_runs\" where (\"project_id\" = $1 and \"experiment_id\" = $2 and \"id\" = $3 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.experimentId, params.id],
  row: (row) => row,
};

export const hide: Compiled<typeof source.hide> = {
  name: 'experiments.hide',
  text: "update \"experiments\" set \"deleted_at\" = $1 where (\"project_id\" = $2 and \"id\" = $3 and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.id],
};

export const hideRun: Compiled<typeof source.hideRun> = {
  name: 'experiments.hideRun',
  text: "update \"experiment_runs\" set \"deleted_at\" = $1 where (\"project_id\" = $2 and \"experiment_id\" = $3 and \"id\" = $4 and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.experimentId, params.id],
};

export const hideRuns: Compiled<typeof source.hideRuns> = {
  name: 'experiments.hideRuns',
  text: "update \"experiment_runs\" set \"deleted_at\" = $1 where (\"project_id\" = $2 and \"experiment_id\" = $3 and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.experimentId],
};

export const insertRun: Compiled<typeof source.insertRun> = {
  name: 'experiments.insertRun',
  text: "insert into \"experiment_runs\" (\"project_id\", \"key\", \"experiment_id\", \"id\", \"name\", \"dataset_id\", \"dataset_version\", \"targets\", \"evaluators\", \"total\", \"progress\", \"result_count\", \"total_bytes\", \"created_at\", \"updated_at\", \"finished_at\", \"deleted_at\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) on conflict do nothing",
  cells: (params) => [params.projectId, params.key, params.experimentId, params.id, params.name, params.datasetId ?? null, params.datasetVersion ?? null, params.targetsJson, params.evaluatorsJson, params.total ?? null, params.progress ?? null, params.resultCount, params.totalBytes, params.createdAtMs, params.updatedAtMs, params.finishedAtMs ?? null, params.deletedAtMs ?? null],
};

export const insertUnlessTaken: Compiled<typeof source.insertUnlessTaken> = {
  name: 'experiments.insertUnlessTaken',
  text: "insert into \"experiments\" (\"project_id\", \"id\", \"name\", \"slug\", \"created_at\", \"updated_at\", \"deleted_at\") values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
  cells: (params) => [params.projectId, params.id, params.name, params.slug, params.createdAtMs, params.updatedAtMs, params.deletedAtMs ?? null],
};

export const listFigures: Compiled<typeof source.listFigures> = {
  name: 'experiments.listFigures',
  text: "select \"experiment_results\".\"entry_index\" as \"entryIndex\", \"experiment_results\".\"target_id\" as \"targetId\", \"experiment_results\".\"entry_id\" as \"entryId\", \"experiment_results\".\"cost_usd\" as \"costUsd\", \"experiment_results\".\"duration_ms\" as \"durationMs\", \"experiment_results\".\"scores\" as \"scores\", \"experiment_results\".\"bytes\" as \"bytes\", case when \"error\" is null then 0 else 1 end as \"errorCount\" from \"experiment_results\" where \"project_id\" = $1 and \"run_key\" = $2 and \"entry_index\" >= $3 and (\"entry_index\" > $4 or \"target_id\" > $5) order by \"entry_index\", \"target_id\" limit $6",
  cells: (params) => [params.projectId, params.runKey, params.entryIndex, params.entryIndex, params.targetId, params.limit],
  row: (row: any) => ({
    entryIndex: row.entryIndex,
    targetId: row.targetId,
    entryId: row.entryId,
    costUsd: row.costUsd,
    durationMs: row.durationMs,
    scores: JSON.parse(row.scores),
    bytes: row.bytes,
    errorCount: row.errorCount,
  }),
};

export const listKeys: Compiled<typeof source.listKeys> = {
  name: 'experiments.listKeys',
  text: "select \"project_id\" as \"projectId\", \"run_key\" as \"runKey\", \"entry_index\" as \"entryIndex\", \"target_id\" as \"targetId\" from \"experiment_results\" where \"project_id\" = $1 and \"run_key\" = $2 limit $3",
  cells: (params) => [params.projectId, params.runKey, params.limit],
  row: (row) => row,
};

export const listNewest: Compiled<typeof source.listNewest> = {
  name: 'experiments.listNewest',
  text: "select \"experiments\".\"project_id\" as \"projectId\", \"experiments\".\"id\" as \"id\", \"experiments\".\"name\" as \"name\", \"experiments\".\"slug\" as \"slug\", \"experiments\".\"created_at\" as \"createdAtMs\", \"experiments\".\"updated_at\" as \"updatedAtMs\" from \"experiments\" where (\"project_id\" = $1 and \"deleted_at\" is null) order by \"created_at\" desc, \"id\" desc limit $2",
  cells: (params) => [params.projectId, params.limit],
  row: (row) => row,
};

export const listResults: Compiled<typeof source.listResults> = {
  name: 'experiments.listResults',
  text: "select \"experiment_results\".\"entry_index\" as \"entryIndex\", \"experiment_results\".\"target_id\" as \"targetId\", \"experiment_results\".\"entry_id\" as \"entryId\", \"experiment_results\".\"trace_id\" as \"traceId\", \"experiment_results\".\"entry\" as \"entryJson\", \"experiment_results\".\"predicted\" as \"predictedJson\", \"experiment_results\".\"cost_usd\" as \"costUsd\", \"experiment_results\".\"duration_ms\" as \"durationMs\", \"experiment_results\".\"error\" as \"error\", \"experiment_results\".\"evaluations\" as \"evaluations\" from \"experiment_results\" where (\"project_id\" = $1 and \"run_key\" = $2 and \"target_id\" = $3) and \"entry_index\" = any($4)",
  cells: (params) => [params.projectId, params.runKey, params.targetId, params.entryIndexes],
  row: (row: any) => ({
    entryIndex: row.entryIndex,
    targetId: row.targetId,
    entryId: row.entryId,
    traceId: row.traceId,
    entryJson: row.entryJson,
    predictedJson: row.predictedJson,
    costUsd: row.costUsd,
    durationMs: row.durationMs,
    error: row.error,
    evaluations: JSON.parse(row.evaluations),
  }),
};

export const listRuns: Compiled<typeof source.listRuns> = {
  name: 'experiments.listRuns',
  text: "select \"experiment_runs\".\"project_id\" as \"projectId\", \"experiment_runs\".\"key\" as \"key\", \"experiment_runs\".\"experiment_id\" as \"experimentId\", \"experiment_runs\".\"id\" as \"id\", \"experiment_runs\".\"name\" as \"name\", \"experiment_runs\".\"dataset_id\" as \"datasetId\", \"experiment_runs\".\"dataset_version\" as \"datasetVersion\", \"experiment_runs\".\"total\" as \"total\", \"experiment_runs\".\"progress\" as \"progress\", \"experiment_runs\".\"result_count\" as \"resultCount\", \"experiment_runs\".\"total_bytes\" as \"totalBytes\", \"experiment_runs\".\"created_at\" as \"createdAtMs\", \"experiment_runs\".\"updated_at\" as \"updatedAtMs\", \"experiment_runs\".\"finished_at\" as \"finishedAtMs\" from \"experiment_runs\" where (\"project_id\" = $1 and \"experiment_id\" = $2 and \"deleted_at\" is null) and (\"created_at\" < $3 or (\"created_at\" = $4 and \"id\" < $5)) and \"created_at\" <= $6 order by \"created_at\" desc, \"id\" desc limit $7",
  cells: (params) => [params.projectId, params.experimentId, params.afterMs, params.afterMs, params.afterId, params.afterMs, params.limit],
  row: (row) => row,
};

export const lockLive: Compiled<typeof source.lockLive> = {
  name: 'experiments.lockLive',
  text: "select \"id\" as \"id\" from \"experiments\" where \"project_id\" = $1 and \"id\" = $2 and \"deleted_at\" is null for update",
  cells: (params) => [params.projectId, params.id],
  row: (row) => row,
};

export const lockRun: Compiled<typeof source.lockRun> = {
  name: 'experiments.lockRun',
  text: "select \"experiment_runs\".\"project_id\" as \"projectId\", \"experiment_runs\".\"key\" as \"key\", \"experiment_runs\".\"experiment_id\" as \"experimentId\", \"experiment_runs\".\"id\" as \"id\", \"experiment_runs\".\"name\" as \"name\", \"experiment_runs\".\"dataset_id\" as \"datasetId\", \"experiment_runs\".\"dataset_version\" as \"datasetVersion\", \"experiment_runs\".\"targets\" as \"targetsJson\", \"experiment_runs\".\"evaluators\" as \"evaluatorsJson\", \"experiment_runs\".\"total\" as \"total\", \"experiment_runs\".\"progress\" as \"progress\", \"experiment_runs\".\"result_count\" as \"resultCount\", \"experiment_runs\".\"total_bytes\" as \"totalBytes\", \"experiment_runs\".\"created_at\" as \"createdAtMs\", \"experiment_runs\".\"updated_at\" as \"updatedAtMs\", \"experiment_runs\".\"finished_at\" as \"finishedAtMs\" from \"experiment_runs\" where (\"project_id\" = $1 and \"experiment_id\" = $2 and \"id\" = $3 and \"deleted_at\" is null) for update",
  cells: (params) => [params.projectId, params.experimentId, params.id],
  row: (row) => row,
};

export const removeResults: Compiled<typeof source.removeResults> = {
  name: 'experiments.removeResults',
  text: "delete from \"experiment_results\" using unnest($1::text[], $2::text[], $3::int[], $4::text[]) as given (v0, v1, v2, v3) where (\"project_id\" = \"given\".\"v0\" and \"run_key\" = \"given\".\"v1\" and \"entry_index\" = \"given\".\"v2\" and \"target_id\" = \"given\".\"v3\")",
  cells: (rows) => [textArray(rows, (params) => params.projectId), textArray(rows, (params) => params.runKey), int4Array(rows, (params) => params.entryIndex), textArray(rows, (params) => params.targetId)],
};

export const removeRun: Compiled<typeof source.removeRun> = {
  name: 'experiments.removeRun',
  text: "delete from \"experiment_runs\" where (\"project_id\" = $1 and \"key\" = $2)",
  cells: (params) => [params.projectId, params.key],
};

export const touchExperiment: Compiled<typeof source.touchExperiment> = {
  name: 'experiments.touchExperiment',
  text: "update \"experiments\" set \"updated_at\" = $1 where (\"project_id\" = $2 and \"id\" = $3) and \"updated_at\" < $4",
  cells: (params) => [params.updatedAtMs, params.projectId, params.id, params.updatedAtMs],
};

export const updateRun: Compiled<typeof source.updateRun> = {
  name: 'experiments.updateRun',
  text: "update \"experiment_runs\" set \"targets\" = $1, \"evaluators\" = $2, \"total\" = $3, \"progress\" = $4, \"result_count\" = $5, \"total_bytes\" = $6, \"updated_at\" = $7, \"finished_at\" = $8 where (\"project_id\" = $9 and \"key\" = $10)",
  cells: (params) => [params.targetsJson, params.evaluatorsJson, params.total ?? null, params.progress ?? null, params.resultCount, params.totalBytes, params.updatedAtMs, params.finishedAtMs ?? null, params.projectId, params.key],
};

export const writeResults: Compiled<typeof source.writeResults> = {
  name: 'experiments.writeResults',
  text: "insert into \"experiment_results\" (\"project_id\", \"run_key\", \"entry_index\", \"target_id\", \"entry_id\", \"trace_id\", \"entry\", \"predicted\", \"cost_usd\", \"duration_ms\", \"error\", \"evaluations\", \"scores\", \"bytes\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\", \"given\".\"v12\", \"given\".\"v13\" from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::double precision[], $10::double precision[], $11::text[], $12::text[], $13::text[], $14::int[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13) on conflict (\"project_id\", \"run_key\", \"entry_index\", \"target_id\") do update set \"entry_id\" = \"excluded\".\"entry_id\", \"trace_id\" = \"excluded\".\"trace_id\", \"entry\" = \"excluded\".\"entry\", \"predicted\" = \"excluded\".\"predicted\", \"cost_usd\" = \"excluded\".\"cost_usd\", \"duration_ms\" = \"excluded\".\"duration_ms\", \"error\" = \"excluded\".\"error\", \"evaluations\" = \"excluded\".\"evaluations\", \"scores\" = \"excluded\".\"scores\", \"bytes\" = \"excluded\".\"bytes\"",
  cells: (rows) => [textArray(rows, (params) => params.projectId), textArray(rows, (params) => params.runKey), int4Array(rows, (params) => params.entryIndex), textArray(rows, (params) => params.targetId), textArray(rows, (params) => params.entryId ?? null), textArray(rows, (params) => params.traceId ?? null), textArray(rows, (params) => params.entryJson ?? null), textArray(rows, (params) => params.predictedJson ?? null), float8Array(rows, (params) => params.costUsd ?? null), float8Array(rows, (params) => params.durationMs ?? null), textArray(rows, (params) => params.error ?? null), textArray(rows, (params) => JSON.stringify(params.evaluations)), textArray(rows, (params) => JSON.stringify(params.scores)), int4Array(rows, (params) => params.bytes)],
};
