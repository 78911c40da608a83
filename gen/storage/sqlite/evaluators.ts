// Compiled from src/storage/evaluators/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/evaluators/queries.ts';

export const countLive: Compiled<typeof source.countLive> = {
  name: 'evaluators.countLive',
  text: "select count(*) as \"count\" from \"evaluators\" where (\"project_id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const findById: Compiled<typeof source.findById> = {
  name: 'evaluators.findById',
  text: "select \"evaluators\".\"project_id\" as \"projectId\", \"evaluators\".\"id\" as \"id\", \"evaluators\".\"name\" as \"name\", \"evaluators\".\"slug\" as \"slug\", \"evaluators\".\"type\" as \"type\", \"evaluators\".\"config\" as \"configJson\", \"evaluators\".\"workflow_id\" as \"workflowId\", \"evaluators\".\"workflow_name\" as \"workflowName\", \"evaluators\".\"workflow_icon\" as \"workflowIcon\", \"evaluators\".\"copied_from_evaluator_id\" as \"copiedFromEvaluatorId\", \"evaluators\".\"fields\" as \"fields\", \"evaluators\".\"output_fields\" as \"outputFields\", \"evaluators\".\"created_at\" as \"createdAtMs\", \"evaluators\".\"updated_at\" as \"updatedAtMs\" from \"evaluators\" where (\"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    type: row[4],
    configJson: row[5],
    workflowId: row[6],
    workflowName: row[7],
    workflowIcon: row[8],
    copiedFromEvaluatorId: row[9],
    fields: JSON.parse(row[10]),
    outputFields: JSON.parse(row[11]),
    createdAtMs: row[12],
    updatedAtMs: row[13],
  }),
};

export const findBySlug: Compiled<typeof source.findBySlug> = {
  name: 'evaluators.findBySlug',
  text: "select \"evaluators\".\"project_id\" as \"projectId\", \"evaluators\".\"id\" as \"id\", \"evaluators\".\"name\" as \"name\", \"evaluators\".\"slug\" as \"slug\", \"evaluators\".\"type\" as \"type\", \"evaluators\".\"config\" as \"configJson\", \"evaluators\".\"workflow_id\" as \"workflowId\", \"evaluators\".\"workflow_name\" as \"workflowName\", \"evaluators\".\"workflow_icon\" as \"workflowIcon\", \"evaluators\".\"copied_from_evaluator_id\" as \"copiedFromEvaluatorId\", \"evaluators\".\"fields\" as \"fields\", \"evaluators\".\"output_fields\" as \"outputFields\", \"evaluators\".\"created_at\" as \"createdAtMs\", \"evaluators\".\"updated_at\" as \"updatedAtMs\" from \"evaluators\" where (\"project_id\" = ? and \"slug\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.slug],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    type: row[4],
    configJson: row[5],
    workflowId: row[6],
    workflowName: row[7],
    workflowIcon: row[8],
    copiedFromEvaluatorId: row[9],
    fields: JSON.parse(row[10]),
    outputFields: JSON.parse(row[11]),
    createdAtMs: row[12],
    updatedAtMs: row[13],
  }),
};

export const hide: Compiled<typeof source.hide> = {
  name: 'evaluators.hide',
  text: "update \"evaluators\" set \"deleted_at\" = ? where (\"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.id],
};

export const insertUnlessTaken: Compiled<typeof source.insertUnlessTaken> = {
  name: 'evaluators.insertUnlessTaken',
  text: "insert into \"evaluators\" (\"project_id\", \"id\", \"name\", \"slug\", \"type\", \"config\", \"workflow_id\", \"workflow_name\", \"workflow_icon\", \"copied_from_evaluator_id\", \"fields\", \"output_fields\", \"created_at\", \"updated_at\", \"deleted_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (params) => [params.projectId, params.id, params.name, params.slug, params.type, params.configJson, params.workflowId ?? null, params.workflowName ?? null, params.workflowIcon ?? null, params.copiedFromEvaluatorId ?? null, JSON.stringify(params.fields), JSON.stringify(params.outputFields), params.createdAtMs, params.updatedAtMs, params.deletedAtMs ?? null],
};

export const listEvaluators: Compiled<typeof source.listEvaluators> = {
  name: 'evaluators.listEvaluators',
  text: "select \"evaluators\".\"project_id\" as \"projectId\", \"evaluators\".\"id\" as \"id\", \"evaluators\".\"name\" as \"name\", \"evaluators\".\"slug\" as \"slug\", \"evaluators\".\"type\" as \"type\", \"evaluators\".\"config\" as \"configJson\", \"evaluators\".\"workflow_id\" as \"workflowId\", \"evaluators\".\"workflow_name\" as \"workflowName\", \"evaluators\".\"workflow_icon\" as \"workflowIcon\", \"evaluators\".\"copied_from_evaluator_id\" as \"copiedFromEvaluatorId\", \"evaluators\".\"fields\" as \"fields\", \"evaluators\".\"output_fields\" as \"outputFields\", \"evaluators\".\"created_at\" as \"createdAtMs\", \"evaluators\".\"updated_at\" as \"updatedAtMs\" from \"evaluators\" where (\"project_id\" = ? and \"deleted_at\" is null) and \"id\" > ? order by \"id\" limit ?",
  cells: (params) => [params.projectId, params.afterId, params.limit],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    type: row[4],
    configJson: row[5],
    workflowId: row[6],
    workflowName: row[7],
    workflowIcon: row[8],
    copiedFromEvaluatorId: row[9],
    fields: JSON.parse(row[10]),
    outputFields: JSON.parse(row[11]),
    createdAtMs: row[12],
    updatedAtMs: row[13],
  }),
};

export const lockLive: Compiled<typeof source.lockLive> = {
  name: 'evaluators.lockLive',
  text: "select \"id\" as \"id\" from \"evaluators\" where \"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    id: row[0],
  }),
};

export const replaceEvaluator: Compiled<typeof source.replaceEvaluator> = {
  name: 'evaluators.replaceEvaluator',
  text: "update \"evaluators\" set \"name\" = ?, \"config\" = ?, \"fields\" = ?, \"output_fields\" = ?, \"updated_at\" = ? where (\"project_id\" = ? and \"id\" = ? and \"updated_at\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.name, params.configJson, JSON.stringify(params.fields), JSON.stringify(params.outputFields), params.updatedAtMs, params.projectId, params.id, params.knownAtMs],
};
