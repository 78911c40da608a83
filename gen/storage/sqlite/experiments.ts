// Compiled from src/storage/experiments/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/experiments/queries.ts';

export const countLive: Compiled<typeof source.countLive> = {
  name: 'experiments.countLive',
  text: "select count(*) as \"count\" from \"experiments\" where (\"project_id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const countRuns: Compiled<typeof source.countRuns> = {
  name: 'experiments.countRuns',
  text: "select count(*) as \"count\" from \"experiment_runs\" where (\"project_id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const findById: Compiled<typeof source.findById> = {
  name: 'experiments.findById',
  text: "select \"experiments\".\"project_id\" as \"projectId\", \"experiments\".\"id\" as \"id\", \"experiments\".\"name\" as \"name\", \"experiments\".\"slug\" as \"slug\", \"experiments\".\"created_at\" as \"createdAtMs\", \"experiments\".\"updated_at\" as \"updatedAtMs\" from \"experiments\" where (\"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    createdAtMs: row[4],
    updatedAtMs: row[5],
  }),
};

export const findBySlug: Compiled<typeof source.findBySlug> = {
  name: 'experiments.findBySlug',
  text: "select \"experiments\".\"project_id\" as \"projectId\", \"experiments\".\"id\" as \"id\", \"experiments\".\"name\" as \"name\", \"experiments\".\"slug\" as \"slug\", \"experiments\".\"created_at\" as \"createdAtMs\", \"experiments\".\"updated_at\" as \"updatedAtMs\" from \"experiments\" where (\"project_id\" = ? and \"slug\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.slug],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    createdAtMs: row[4],
    updatedAtMs: row[5],
  }),
};

export const findHiddenRun: Compiled<typeof source.findHiddenRun> = {
  name: 'experiments.findHiddenRun',
  text: "select \"project_id\" as \"projectId\", \"key\" as \"key\" from \"experiment_runs\" where \"deleted_at\" is not null limit ?",
  cells: () => [1],
  row: (row: any) => ({
    projectId: row[0],
    key: row[1],
  }),
};

export const findRun: Compiled<typeof source.findRun> = {
  name: 'experiments.findRun',
  text: "select \"experiment_runs\".\"project_id\" as \"projectId\", \"experiment_runs\".\"key\" as \"key\", \"experiment_runs\".\"experiment_id\" as \"experimentId\", \"experiment_runs\".\"id\" as \"id\", \"experiment_runs\".\"name\" as \"name\", \"experiment_runs\".\"dataset_id\" as \"datasetId\", \"experiment_runs\".\"dataset_version\" as \"datasetVersion\", \"experiment_runs\".\"targets\" as \"targetsJson\", \"experiment_runs\".\"evaluators\" as \"evaluatorsJson\", \"experiment_runs\".\"total\" as \"total\", \"experiment_runs\".\"progress\" as \"progress\", \"experiment_runs\".\"result_count\" as \"resultCount\", \"experiment_runs\".\"total_bytes\" as \"totalBytes\", \"experiment_runs\".\"created_at\" as \"createdAtMs\", \"experiment_runs\".\"updated_at\" as \"updatedAtMs\", \"experiment_runs\".\"finished_at\" as \"finishedAtMs\" from \"experiment_runs\" where (\"project_id\" = ? and \"experiment_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.experimentId, params.id],
  row: (row: any) => ({
    projectId: row[0],
    key: row[1],
    experimentId: row[2],
    id: row[3],
    name: row[4],
    datasetId: row[5],
    datasetVersion: row[6],
    targetsJson: row[7],
    evaluatorsJson: row[8],
    total: row[9],
    progress: row[10],
    resultCount: row[11],
    totalBytes: row[12],
    createdAtMs: row[13],
    updatedAtMs: row[14],
    finishedAtMs: row[15],
  }),
};

export const hide: Compiled<typeof source.hide> = {
  name: 'experiments.hide',
  text: "update \"experiments\" set \"deleted_at\" = ? where (\"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.id],
};

export const hideRun: Compiled<typeof source.hideRun> = {
  name: 'experiments.hideRun',
  text: "update \"experiment_runs\" set \"deleted_at\" = ? where (\"project_id\" = ? and \"experiment_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.experimentId, params.id],
};

export const hideRuns: Compiled<typeof source.hideRuns> = {
  name: 'experiments.hideRuns',
  text: "update \"experiment_runs\" set \"deleted_at\" = ? where (\"project_id\" = ? and \"experiment_id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.experimentId],
};

export const insertRun: Compiled<typeof source.insertRun> = {
  name: 'experiments.insertRun',
  text: "insert into \"experiment_runs\" (\"project_id\", \"key\", \"experiment_id\", \"id\", \"name\", \"dataset_id\", \"dataset_version\", \"targets\", \"evaluators\", \"total\", \"progress\", \"result_count\", \"total_bytes\", \"created_at\", \"updated_at\", \"finished_at\", \"deleted_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (params) => [params.projectId, params.key, params.experimentId, params.id, params.name, params.datasetId ?? null, params.datasetVersion ?? null, params.targetsJson, params.evaluatorsJson, params.total ?? null, params.progress ?? null, params.resultCount, params.totalBytes, params.createdAtMs, params.updatedAtMs, params.finishedAtMs ?? null, params.deletedAtMs ?? null],
};

export const insertUnlessTaken: Compiled<typeof source.insertUnlessTaken> = {
  name: 'experiments.insertUnlessTaken',
  text: "insert into \"experiments\" (\"project_id\", \"id\", \"name\", \"slug\", \"created_at\", \"updated_at\", \"deleted_at\") values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (params) => [params.projectId, params.id, params.name, params.slug, params.createdAtMs, params.updatedAtMs, params.deletedAtMs ?? null],
};

export const listFigures: Compiled<typeof source.listFigures> = {
  name: 'experiments.listFigures',
  text: "select \"experiment_results\".\"entry_index\" as \"entryIndex\", \"experiment_results\".\"target_id\" as \"targetId\", \"experiment_results\".\"entry_id\" as \"entryId\", \"experiment_results\".\"cost_usd\" as \"costUsd\", \"experiment_results\".\"duration_ms\" as \"durationMs\", \"experiment_results\".\"scores\" as \"scores\", \"experiment_results\".\"bytes\" as \"bytes\", case when \"error\" is null then 0 else 1 end as \"errorCount\" from \"experiment_results\" where \"project_id\" = ? and \"run_key\" = ? and \"entry_index\" >= ? and (\"entry_index\" > ? or \"target_id\" > ?) order by \"entry_index\", \"target_id\" limit ?",
  cells: (params) => [params.projectId, params.runKey, params.entryIndex, params.entryIndex, params.targetId, params.limit],
  row: (row: any) => ({
    entryIndex: row[0],
    targetId: row[1],
    entryId: row[2],
    costUsd: row[3],
    durationMs: row[4],
    scores: JSON.parse(row[5]),
    bytes: row[6],
    errorCount: row[7],
  }),
};

export const listKeys: Compiled<typeof source.listKeys> = {
  name: 'experiments.listKeys',
  text: "select \"project_id\" as \"projectId\", \"run_key\" as \"runKey\", \"entry_index\" as \"entryIndex\", \"target_id\" as \"targetId\" from \"experiment_results\" where \"project_id\" = ? and \"run_key\" = ? limit ?",
  cells: (params) => [params.projectId, params.runKey, params.limit],
  row: (row: any) => ({
    projectId: row[0],
    runKey: row[1],
    entryIndex: row[2],
    targetId: row[3],
  }),
};

export const listNewest: Compiled<typeof source.listNewest> = {
  name: 'experiments.listNewest',
  text: "select \"experiments\".\"project_id\" as \"projectId\", \"experiments\".\"id\" as \"id\", \"experiments\".\"name\" as \"name\", \"experiments\".\"slug\" as \"slug\", \"experiments\".\"created_at\" as \"createdAtMs\", \"experiments\".\"updated_at\" as \"updatedAtMs\" from \"experiments\" where (\"project_id\" = ? and \"deleted_at\" is null) order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.projectId, params.limit],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    createdAtMs: row[4],
    updatedAtMs: row[5],
  }),
};

export const listResults: Compiled<typeof source.listResults> = {
  name: 'experiments.listResults',
  text: "select \"experiment_results\".\"entry_index\" as \"entryIndex\", \"experiment_results\".\"target_id\" as \"targetId\", \"experiment_results\".\"entry_id\" as \"entryId\", \"experiment_results\".\"trace_id\" as \"traceId\", \"experiment_results\".\"entry\" as \"entryJson\", \"experiment_results\".\"predicted\" as \"predictedJson\", \"experiment_results\".\"cost_usd\" as \"costUsd\", \"experiment_results\".\"duration_ms\" as \"durationMs\", \"experiment_results\".\"error\" as \"error\", \"experiment_results\".\"evaluations\" as \"evaluations\" from \"experiment_results\" where (\"project_id\" = ? and \"run_key\" = ? and \"target_id\" = ?) and \"entry_index\" in (select value from json_each(?))",
  cells: (params) => [params.projectId, params.runKey, params.targetId, JSON.stringify(params.entryIndexes)],
  row: (row: any) => ({
    entryIndex: row[0],
    targetId: row[1],
    entryId: row[2],
    traceId: row[3],
    entryJson: row[4],
    predictedJson: row[5],
    costUsd: row[6],
    durationMs: row[7],
    error: row[8],
    evaluations: JSON.parse(row[9]),
  }),
};

export const listRuns: Compiled<typeof source.listRuns> = {
  name: 'experiments.listRuns',
  text: "select \"experiment_runs\".\"project_id\" as \"projectId\", \"experiment_runs\".\"key\" as \"key\", \"experiment_runs\".\"experiment_id\" as \"experimentId\", \"experiment_runs\".\"id\" as \"id\", \"experiment_runs\".\"name\" as \"name\", \"experiment_runs\".\"dataset_id\" as \"datasetId\", \"experiment_runs\".\"dataset_version\" as \"datasetVersion\", \"experiment_runs\".\"total\" as \"total\", \"experiment_runs\".\"progress\" as \"progress\", \"experiment_runs\".\"result_count\" as \"resultCount\", \"experiment_runs\".\"total_bytes\" as \"totalBytes\", \"experiment_runs\".\"created_at\" as \"createdAtMs\", \"experiment_runs\".\"updated_at\" as \"updatedAtMs\", \"experiment_runs\".\"finished_at\" as \"finishedAtMs\" from \"experiment_runs\" where (\"project_id\" = ? and \"experiment_id\" = ? and \"deleted_at\" is null) and (\"created_at\" < ? or (\"created_at\" = ? and \"id\" < ?)) and \"created_at\" <= ? order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.projectId, params.experimentId, params.afterMs, params.afterMs, params.afterId, params.afterMs, params.limit],
  row: (row: any) => ({
    projectId: row[0],
    key: row[1],
    experimentId: row[2],
    id: row[3],
    name: row[4],
    datasetId: row[5],
    datasetVersion: row[6],
    total: row[7],
    progress: row[8],
    resultCount: row[9],
    totalBytes: row[10],
    createdAtMs: row[11],
    updatedAtMs: row[12],
    finishedAtMs: row[13],
  }),
};

export const lockLive: Compiled<typeof source.lockLive> = {
  name: 'experiments.lockLive',
  text: "select \"id\" as \"id\" from \"experiments\" where \"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    id: row[0],
  }),
};

export const lockRun: Compiled<typeof source.lockRun> = {
  name: 'experiments.lockRun',
  text: "select \"experiment_runs\".\"project_id\" as \"projectId\", \"experiment_runs\".\"key\" as \"key\", \"experiment_runs\".\"experiment_id\" as \"experimentId\", \"experiment_runs\".\"id\" as \"id\", \"experiment_runs\".\"name\" as \"name\", \"experiment_runs\".\"dataset_id\" as \"datasetId\", \"experiment_runs\".\"dataset_version\" as \"datasetVersion\", \"experiment_runs\".\"targets\" as \"targetsJson\", \"experiment_runs\".\"evaluators\" as \"evaluatorsJson\", \"experiment_runs\".\"total\" as \"total\", \"experiment_runs\".\"progress\" as \"progress\", \"experiment_runs\".\"result_count\" as \"resultCount\", \"experiment_runs\".\"total_bytes\" as \"totalBytes\", \"experiment_runs\".\"created_at\" as \"createdAtMs\", \"experiment_runs\".\"updated_at\" as \"updatedAtMs\", \"experiment_runs\".\"finished_at\" as \"finishedAtMs\" from \"experiment_runs\" where (\"project_id\" = ? and \"experiment_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.experimentId, params.id],
  row: (row: any) => ({
    projectId: row[0],
    key: row[1],
    experimentId: row[2],
    id: row[3],
    name: row[4],
    datasetId: row[5],
    datasetVersion: row[6],
    targetsJson: row[7],
    evaluatorsJson: row[8],
    total: row[9],
    progress: row[10],
    resultCount: row[11],
    totalBytes: row[12],
    createdAtMs: row[13],
    updatedAtMs: row[14],
    finishedAtMs: row[15],
  }),
};

export const removeResults: Compiled<typeof source.removeResults> = {
  name: 'experiments.removeResults',
  text: "delete from \"experiment_results\" where (\"project_id\" = ? and \"run_key\" = ? and \"entry_index\" = ? and \"target_id\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.projectId, params.runKey, params.entryIndex, params.targetId])],
};

export const removeRun: Compiled<typeof source.removeRun> = {
  name: 'experiments.removeRun',
  text: "delete from \"experiment_runs\" where (\"project_id\" = ? and \"key\" = ?)",
  cells: (params) => [params.projectId, params.key],
};

export const touchExperiment: Compiled<typeof source.touchExperiment> = {
  name: 'experiments.touchExperiment',
  text: "update \"experiments\" set \"updated_at\" = ? where (\"project_id\" = ? and \"id\" = ?) and \"updated_at\" < ?",
  cells: (params) => [params.updatedAtMs, params.projectId, params.id, params.updatedAtMs],
};

export const updateRun: Compiled<typeof source.updateRun> = {
  name: 'experiments.updateRun',
  text: "update \"experiment_runs\" set \"targets\" = ?, \"evaluators\" = ?, \"total\" = ?, \"progress\" = ?, \"result_count\" = ?, \"total_bytes\" = ?, \"updated_at\" = ?, \"finished_at\" = ? where (\"project_id\" = ? and \"key\" = ?)",
  cells: (params) => [params.targetsJson, params.evaluatorsJson, params.total ?? null, params.progress ?? null, params.resultCount, params.totalBytes, params.updatedAtMs, params.finishedAtMs ?? null, params.projectId, params.key],
};

export const writeResults: Compiled<typeof source.writeResults> = {
  name: 'experiments.writeResults',
  text: "insert into \"experiment_results\" (\"project_id\", \"run_key\", \"entry_index\", \"target_id\", \"entry_id\", \"trace_id\", \"entry\", \"predicted\", \"cost_usd\", \"duration_ms\", \"error\", \"evaluations\", \"scores\", \"bytes\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_id\", \"run_key\", \"entry_index\", \"target_id\") do update set \"entry_id\" = \"excluded\".\"entry_id\", \"trace_id\" = \"excluded\".\"trace_id\", \"entry\" = \"excluded\".\"entry\", \"predicted\" = \"excluded\".\"predicted\", \"cost_usd\" = \"excluded\".\"cost_usd\", \"duration_ms\" = \"excluded\".\"duration_ms\", \"error\" = \"excluded\".\"error\", \"evaluations\" = \"excluded\".\"evaluations\", \"scores\" = \"excluded\".\"scores\", \"bytes\" = \"excluded\".\"bytes\"",
  cells: (rows) => [...rows.map((params) => [params.projectId, params.runKey, params.entryIndex, params.targetId, params.entryId ?? null, params.traceId ?? null, params.entryJson ?? null, params.predictedJson ?? null, params.costUsd ?? null, params.durationMs ?? null, params.error ?? null, JSON.stringify(params.evaluations), JSON.stringify(params.scores), params.bytes])],
};
