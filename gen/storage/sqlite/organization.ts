// Compiled from src/storage/organization/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/organization/queries.ts';

export const findAnyOrganization: Compiled<typeof source.findAnyOrganization> = {
  name: 'organization.findAnyOrganization',
  text: "select \"number\" as \"number\" from \"organizations\" limit 1",
  cells: () => [],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const findProjectNumbers: Compiled<typeof source.findProjectNumbers> = {
  name: 'organization.findProjectNumbers',
  text: "select \"id\" as \"id\", \"number\" as \"number\" from \"projects\" where \"organization_id\" = ? and \"id\" = ?",
  cells: (params) => [params.organizationId, ...params.ids],
  row: (row: any) => ({
    id: row[0],
    number: row[1],
  }),
};

export const lockProject: Compiled<typeof source.lockProject> = {
  name: 'organization.lockProject',
  text: "select \"number\" as \"number\" from \"projects\" where \"id\" = ?",
  cells: (params) => [params.projectId],
  row: (row: any) => ({
    number: row[0],
  }),
};
