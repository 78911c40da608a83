// Compiled from src/storage/monitors/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/monitors/queries.ts';

export const findChange: Compiled<typeof source.findChange> = {
  name: 'monitors.findChange',
  text: "select \"number\" as \"number\" from \"monitor_changes\" where \"project_number\" = $1",
  cells: (params) => [params.projectNumber],
  row: (row) => row,
};

export const listChanges: Compiled<typeof source.listChanges> = {
  name: 'monitors.listChanges',
  text: "select \"project_number\" as \"projectNumber\", \"number\" as \"number\" from \"monitor_changes\" where \"project_number\" = any($1)",
  cells: (params) => [params.projectNumbers],
  row: (row) => row,
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
