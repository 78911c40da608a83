// Compiled from src/storage/monitors/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { parseFreeJson } from '../../../src/storage/../json/free-json.ts';
import type * as source from '../../../src/storage/monitors/queries.ts';

export const countChange: Compiled<typeof source.countChange> = {
  name: 'monitors.countChange',
  text: "insert into \"monitor_changes\" (\"project_number\", \"number\") values ($1, $2) on conflict (\"project_number\") do update set \"number\" = case when \"monitor_changes\".\"number\" >= $3 then \"monitor_changes\".\"number\" + $4 else $5 end",
  cells: (params) => [params.projectNumber, params.nowMs, params.nowMs, 1, params.nowMs],
};

export const countLive: Compiled<typeof source.countLive> = {
  name: 'monitors.countLive',
  text: "select count(*) as \"count\" from \"monitors\" where (\"project_id\" = $1 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row) => row,
};

export const findById: Compiled<typeof source.findById> = {
  name: 'monitors.findById',
  text: "select \"monitors\".\"project_id\" as \"projectId\", \"monitors\".\"id\" as \"id\", \"monitors\".\"name\" as \"name\", \"monitors\".\"slug\" as \"slug\", \"monitors\".\"evaluator_id\" as \"evaluatorId\", \"monitors\".\"check_type\" as \"checkType\", \"monitors\".\"enabled\" as \"enabled\", \"monitors\".\"sample\" as \"sample\", \"monitors\".\"preconditions\" as \"preconditions\", \"monitors\".\"mappings\" as \"mappings\", \"monitors\".\"parameters\" as \"parametersJson\", \"monitors\".\"execution_mode\" as \"executionMode\", \"monitors\".\"created_at\" as \"createdAtMs\", \"monitors\".\"updated_at\" as \"updatedAtMs\" from \"monitors\" where (\"project_id\" = $1 and \"id\" = $2 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    projectId: row.projectId,
    id: row.id,
    name: row.name,
    slug: row.slug,
    evaluatorId: row.evaluatorId,
    checkType: row.checkType,
    enabled: row.enabled,
    sample: row.sample,
    preconditions: (parseFreeJson(row.preconditions) as never),
    mappings: JSON.parse(row.mappings),
    parametersJson: row.parametersJson,
    executionMode: row.executionMode,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  }),
};

export const findBySlug: Compiled<typeof source.findBySlug> = {
  name: 'monitors.findBySlug',
  text: "select \"monitors\".\"project_id\" as \"projectId\", \"monitors\".\"id\" as \"id\", \"monitors\".\"name\" as \"name\", \"monitors\".\"slug\" as \"slug\", \"monitors\".\"evaluator_id\" as \"evaluatorId\", \"monitors\".\"check_type\" as \"checkType\", \"monitors\".\"enabled\" as \"enabled\", \"monitors\".\"sample\" as \"sample\", \"monitors\".\"preconditions\" as \"preconditions\", \"monitors\".\"mappings\" as \"mappings\", \"monitors\".\"parameters\" as \"parametersJson\", \"monitors\".\"execution_mode\" as \"executionMode\", \"monitors\".\"created_at\" as \"createdAtMs\", \"monitors\".\"updated_at\" as \"updatedAtMs\" from \"monitors\" where (\"project_id\" = $1 and \"slug\" = $2 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.slug],
  row: (row: any) => ({
    projectId: row.projectId,
    id: row.id,
    name: row.name,
    slug: row.slug,
    evaluatorId: row.evaluatorId,
    checkType: row.checkType,
    enabled: row.enabled,
    sample: row.sample,
    preconditions: (parseFreeJson(row.preconditions) as never),
    mappings: JSON.parse(row.mappings),
    parametersJson: row.parametersJson,
    executionMode: row.executionMode,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  }),
};

export const findChange: Compiled<typeof source.findChange> = {
  name: 'monitors.findChange',
  text: "select \"number\" as \"number\" from \"monitor_changes\" where \"project_number\" = $1",
  cells: (params) => [params.projectNumber],
  row: (row) => row,
};

export const findMonitorInProject: Compiled<typeof source.findMonitorInProject> = {
  name: 'monitors.findMonitorInProject',
  text: "select \"monitors\".\"project_id\" as \"projectId\", \"monitors\".\"id\" as \"id\", \"monitors\".\"name\" as \"name\", \"monitors\".\"slug\" as \"slug\", \"monitors\".\"evaluator_id\" as \"evaluatorId\", \"monitors\".\"check_type\" as \"checkType\", \"monitors\".\"enabled\" as \"enabled\", \"monitors\".\"sample\" as \"sample\", \"monitors\".\"preconditions\" as \"preconditions\", \"monitors\".\"mappings\" as \"mappings\", \"monitors\".\"parameters\" as \"parametersJson\", \"monitors\".\"execution_mode\" as \"executionMode\", \"monitors\".\"created_at\" as \"createdAtMs\", \"monitors\".\"updated_at\" as \"updatedAtMs\" from \"monitors\" inner join \"projects\" as \"project\" on \"project\".\"id\" = \"monitors\".\"project_id\" where \"project\".\"number\" = $1 and \"monitors\".\"id\" = $2 and \"monitors\".\"deleted_at\" is null",
  cells: (params) => [params.projectNumber, params.id],
  row: (row: any) => ({
    projectId: row.projectId,
    id: row.id,
    name: row.name,
    slug: row.slug,
    evaluatorId: row.evaluatorId,
    checkType: row.checkType,
    enabled: row.enabled,
    sample: row.sample,
    preconditions: (parseFreeJson(row.preconditions) as never),
    mappings: JSON.parse(row.mappings),
    parametersJson: row.parametersJson,
    executionMode: row.executionMode,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  }),
};

export const findProjectNumber: Compiled<typeof source.findProjectNumber> = {
  name: 'monitors.findProjectNumber',
  text: "select \"number\" as \"number\" from \"projects\" where \"id\" = $1",
  cells: (params) => [params.id],
  row: (row) => row,
};

export const hide: Compiled<typeof source.hide> = {
  name: 'monitors.hide',
  text: "update \"monitors\" set \"deleted_at\" = $1 where (\"project_id\" = $2 and \"id\" = $3 and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.id],
};

export const insertUnlessTaken: Compiled<typeof source.insertUnlessTaken> = {
  name: 'monitors.insertUnlessTaken',
  text: "insert into \"monitors\" (\"project_id\", \"id\", \"name\", \"slug\", \"evaluator_id\", \"check_type\", \"enabled\", \"sample\", \"preconditions\", \"mappings\", \"parameters\", \"execution_mode\", \"runs_since\", \"created_at\", \"updated_at\", \"deleted_at\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) on conflict do nothing",
  cells: (params) => [params.projectId, params.id, params.name, params.slug, params.evaluatorId, params.checkType, params.enabled, params.sample, JSON.stringify(params.preconditions), JSON.stringify(params.mappings), params.parametersJson, params.executionMode, params.runsSince, params.createdAtMs, params.updatedAtMs, params.deletedAtMs ?? null],
};

export const listChanges: Compiled<typeof source.listChanges> = {
  name: 'monitors.listChanges',
  text: "select \"project_number\" as \"projectNumber\", \"number\" as \"number\" from \"monitor_changes\" where \"project_number\" = any($1)",
  cells: (params) => [params.projectNumbers],
  row: (row) => row,
};

export const listMonitors: Compiled<typeof source.listMonitors> = {
  name: 'monitors.listMonitors',
  text: "select \"monitors\".\"project_id\" as \"projectId\", \"monitors\".\"id\" as \"id\", \"monitors\".\"name\" as \"name\", \"monitors\".\"slug\" as \"slug\", \"monitors\".\"evaluator_id\" as \"evaluatorId\", \"monitors\".\"check_type\" as \"checkType\", \"monitors\".\"enabled\" as \"enabled\", \"monitors\".\"sample\" as \"sample\", \"monitors\".\"preconditions\" as \"preconditions\", \"monitors\".\"mappings\" as \"mappings\", \"monitors\".\"parameters\" as \"parametersJson\", \"monitors\".\"execution_mode\" as \"executionMode\", \"monitors\".\"created_at\" as \"createdAtMs\", \"monitors\".\"updated_at\" as \"updatedAtMs\" from \"monitors\" where (\"project_id\" = $1 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row: any) => ({
    projectId: row.projectId,
    id: row.id,
    name: row.name,
    slug: row.slug,
    evaluatorId: row.evaluatorId,
    checkType: row.checkType,
    enabled: row.enabled,
    sample: row.sample,
    preconditions: (parseFreeJson(row.preconditions) as never),
    mappings: JSON.parse(row.mappings),
    parametersJson: row.parametersJson,
    executionMode: row.executionMode,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  }),
};

export const listRunning: Compiled<typeof source.listRunning> = {
  name: 'monitors.listRunning',
  text: "select \"project\".\"number\" as \"projectNumber\", \"monitor\".\"id\" as \"id\", \"monitor\".\"sample\" as \"sample\", \"monitor\".\"runs_since\" as \"runsSince\" from \"monitors\" as \"monitor\" inner join \"projects\" as \"project\" on \"project\".\"id\" = \"monitor\".\"project_id\" where \"monitor\".\"enabled\" = true and \"monitor\".\"execution_mode\" = 'ON_MESSAGE' and \"monitor\".\"deleted_at\" is null and \"project\".\"archived_at\" is null and \"project\".\"number\" = any($1)",
  cells: (params) => [params.projectNumbers],
  row: (row) => row,
};

export const listRunningOf: Compiled<typeof source.listRunningOf> = {
  name: 'monitors.listRunningOf',
  text: "select \"project\".\"number\" as \"projectNumber\", \"monitor\".\"id\" as \"id\", \"monitor\".\"sample\" as \"sample\", \"monitor\".\"runs_since\" as \"runsSince\" from \"monitors\" as \"monitor\" inner join \"projects\" as \"project\" on \"project\".\"id\" = \"monitor\".\"project_id\" where \"monitor\".\"enabled\" = true and \"monitor\".\"execution_mode\" = 'ON_MESSAGE' and \"monitor\".\"deleted_at\" is null and \"project\".\"archived_at\" is null and \"project\".\"number\" = $1",
  cells: (params) => [params.projectNumber],
  row: (row) => row,
};

export const lockMonitor: Compiled<typeof source.lockMonitor> = {
  name: 'monitors.lockMonitor',
  text: "select \"enabled\" as \"enabled\", \"execution_mode\" as \"executionMode\", \"sample\" as \"sample\", \"runs_since\" as \"runsSince\" from \"monitors\" where \"project_id\" = $1 and \"id\" = $2 and \"deleted_at\" is null for update",
  cells: (params) => [params.projectId, params.id],
  row: (row) => row,
};

export const replaceMonitor: Compiled<typeof source.replaceMonitor> = {
  name: 'monitors.replaceMonitor',
  text: "update \"monitors\" set \"name\" = $1, \"evaluator_id\" = $2, \"check_type\" = $3, \"enabled\" = $4, \"sample\" = $5, \"preconditions\" = $6, \"mappings\" = $7, \"parameters\" = $8, \"execution_mode\" = $9, \"runs_since\" = $10, \"updated_at\" = $11 where (\"project_id\" = $12 and \"id\" = $13 and \"updated_at\" = $14 and \"deleted_at\" is null)",
  cells: (params) => [params.name, params.evaluatorId, params.checkType, params.enabled, params.sample, JSON.stringify(params.preconditions), JSON.stringify(params.mappings), params.parametersJson, params.executionMode, params.runsSince, params.updatedAtMs, params.projectId, params.id, params.knownAtMs],
};
