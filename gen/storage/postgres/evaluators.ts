// Compiled from src/storage/evaluators/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/evaluators/queries.ts';

export const countLive: Compiled<typeof source.countLive> = {
  name: 'evaluators.countLive',
  text: "select count(*) as \"count\" from \"evaluators\" where (\"project_id\" = $1 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row) => row,
};

export const findById: Compiled<typeof source.findById> = {
  name: 'evaluators.findById',
  text: "select \"evaluators\".\"project_id\" as \"projectId\", \"evaluators\".\"id\" as \"id\", \"evaluators\".\"name\" as \"name\", \"evaluators\".\"slug\" as \"slug\", \"evaluators\".\"type\" as \"type\", \"evaluators\".\"config\" as \"configJson\", \"evaluators\".\"workflow_id\" as \"workflowId\", \"evaluators\".\"workflow_name\" as \"workflowName\", \"evaluators\".\"workflow_icon\" as \"workflowIcon\", \"evaluators\".\"copied_from_evaluator_id\" as \"copiedFromEvaluatorId\", \"evaluators\".\"fields\" as \"fields\", \"evaluators\".\"output_fields\" as \"outputFields\", \"evaluators\".\"created_at\" as \"createdAtMs\", \"evaluators\".\"updated_at\" as \"updatedAtMs\" from \"evaluators\" where (\"project_id\" = $1 and \"id\" = $2 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    projectId: row.projectId,
    id: row.id,
    name: row.name,
    slug: row.slug,
    type: row.type,
    configJson: row.configJson,
    workflowId: row.workflowId,
    workflowName: row.workflowName,
    workflowIcon: row.workflowIcon,
    copiedFromEvaluatorId: row.copiedFromEvaluatorId,
    fields: JSON.parse(row.fields),
    outputFields: JSON.parse(row.outputFields),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  }),
};

export const findBySlug: Compiled<typeof source.findBySlug> = {
  name: 'evaluators.findBySlug',
  text: "select \"evaluators\".\"project_id\" as \"projectId\", \"evaluators\".\"id\" as \"id\", \"evaluators\".\"name\" as \"name\", \"evaluators\".\"slug\" as \"slug\", \"evaluators\".\"type\" as \"type\", \"evaluators\".\"config\" as \"configJson\", \"evaluators\".\"workflow_id\" as \"workflowId\", \"evaluators\".\"workflow_name\" as \"workflowName\", \"evaluators\".\"workflow_icon\" as \"workflowIcon\", \"evaluators\".\"copied_from_evaluator_id\" as \"copiedFromEvaluatorId\", \"evaluators\".\"fields\" as \"fields\", \"evaluators\".\"output_fields\" as \"outputFields\", \"evaluators\".\"created_at\" as \"createdAtMs\", \"evaluators\".\"updated_at\" as \"updatedAtMs\" from \"evaluators\" where (\"project_id\" = $1 and \"slug\" = $2 and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.slug],
  row: (row: any) => ({
    projectId: row.projectId,
    id: row.id,
    name: row.name,
    slug: row.slug,
    type: row.type,
    configJson: row.configJson,
    workflowId: row.workflowId,
    workflowName: row.workflowName,
    workflowIcon: row.workflowIcon,
    copiedFromEvaluatorId: row.copiedFromEvaluatorId,
    fields: JSON.parse(row.fields),
    outputFields: JSON.parse(row.outputFields),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  }),
};

export const hide: Compiled<typeof source.hide> = {
  name: 'evaluators.hide',
  text: "update \"evaluators\" set \"deleted_at\" = $1 where (\"project_id\" = $2 and \"id\" = $3 and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.id],
};

export const insertUnlessTaken: Compiled<typeof source.insertUnlessTaken> = {
  name: 'evaluators.insertUnlessTaken',
  text: "insert into \"evaluators\" (\"project_id\", \"id\", \"name\", \"slug\", \"type\", \"config\", \"workflow_id\", \"workflow_name\", \"workflow_icon\", \"copied_from_evaluator_id\", \"fields\", \"output_fields\", \"created_at\", \"updated_at\", \"deleted_at\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) on conflict do nothing",
  cells: (params) => [params.projectId, params.id, params.name, params.slug, params.type, params.configJson, params.workflowId ?? null, params.workflowName ?? null, params.workflowIcon ?? null, params.copiedFromEvaluatorId ?? null, JSON.stringify(params.fields), JSON.stringify(params.outputFields), params.createdAtMs, params.updatedAtMs, params.deletedAtMs ?? null],
};

export const listEvaluators: Compiled<typeof source.listEvaluators> = {
  name: 'evaluators.listEvaluators',
  text: "select \"evaluators\".\"project_id\" as \"projectId\", \"evaluators\".\"id\" as \"id\", \"evaluators\".\"name\" as \"name\", \"evaluators\".\"slug\" as \"slug\", \"evaluators\".\"type\" as \"type\", \"evaluators\".\"config\" as \"configJson\", \"evaluators\".\"workflow_id\" as \"workflowId\", \"evaluators\".\"workflow_name\" as \"workflowName\", \"evaluators\".\"workflow_icon\" as \"workflowIcon\", \"evaluators\".\"copied_from_evaluator_id\" as \"copiedFromEvaluatorId\", \"evaluators\".\"fields\" as \"fields\", \"evaluators\".\"output_fields\" as \"outputFields\", \"evaluators\".\"created_at\" as \"createdAtMs\", \"evaluators\".\"updated_at\" as \"updatedAtMs\" from \"evaluators\" where (\"project_id\" = $1 and \"deleted_at\" is null) and \"id\" > $2 order by \"id\" limit $3",
  cells: (params) => [params.projectId, params.afterId, params.limit],
  row: (row: any) => ({
    projectId: row.projectId,
    id: row.id,
    name: row.name,
    slug: row.slug,
    type: row.type,
    configJson: row.configJson,
    workflowId: row.workflowId,
    workflowName: row.workflowName,
    workflowIcon: row.workflowIcon,
    copiedFromEvaluatorId: row.copiedFromEvaluatorId,
    fields: JSON.parse(row.fields),
    outputFields: JSON.parse(row.outputFields),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  }),
};

export const lockLive: Compiled<typeof source.lockLive> = {
  name: 'evaluators.lockLive',
  text: "select \"id\" as \"id\" from \"evaluators\" where \"project_id\" = $1 and \"id\" = $2 and \"deleted_at\" is null for update",
  cells: (params) => [params.projectId, params.id],
  row: (row) => row,
};

export const replaceEvaluator: Compiled<typeof source.replaceEvaluator> = {
  name: 'evaluators.replaceEvaluator',
  text: "update \"evaluators\" set \"name\" = $1, \"config\" = $2, \"fields\" = $3, \"output_fields\" = $4, \"updated_at\" = $5 where (\"project_id\" = $6 and \"id\" = $7 and \"updated_at\" = $8 and \"deleted_at\" is null)",
  cells: (params) => [params.name, params.configJson, JSON.stringify(params.fields), JSON.stringify(params.outputFields), params.updatedAtMs, params.projectId, params.id, params.knownAtMs],
};
