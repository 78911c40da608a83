// Compiled from src/storage/organization/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/organization/queries.ts';

export const findAnyOrganization: Compiled<typeof source.findAnyOrganization> = {
  name: 'organization.findAnyOrganization',
  text: "select \"number\" as \"number\" from \"organizations\" limit 1",
  cells: () => [],
  row: (row) => row,
};

export const findProjectNumbers: Compiled<typeof source.findProjectNumbers> = {
  name: 'organization.findProjectNumbers',
  text: "select \"id\" as \"id\", \"number\" as \"number\" from \"projects\" where \"organization_id\" = $1 and \"id\" = any($2)",
  cells: (params) => [params.organizationId, params.ids],
  row: (row) => row,
};

export const lockProject: Compiled<typeof source.lockProject> = {
  name: 'organization.lockProject',
  text: "select \"number\" as \"number\" from \"projects\" where \"id\" = $1 for update",
  cells: (params) => [params.projectId],
  row: (row) => row,
};
