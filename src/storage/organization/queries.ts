/** Queries of organizations and projects beside management. */

import { sql } from 'kysely';
import { rowsOf } from '../plain-queries.ts';
import { query } from '../queries.ts';

export const findAnyOrganization = query()((db) =>
  db.selectFrom('Organization').select('number as number').limit(sql.lit(1)),
);

type OfOrganization = { readonly organizationId: string; readonly ids: readonly string[] };

export const findOrganizationNumber = query<{ readonly projectNumber: number }>()((db, { projectNumber }) =>
  db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.number', '=', projectNumber)
    .select('Organization.number as organizationNumber'),
);

export const findProjectNumbers = query<OfOrganization>()((db, { organizationId, ids }, { isPoint }) =>
  rowsOf(db, 'Project', { organizationId }).where(isPoint('id', ids)).select(['id as id', 'number as number']),
);

/** Locks the project, so that only one transaction counts its records. */
export const lockProject = query<{ readonly projectId: string }>()((db, { projectId }, { lock }) =>
  lock(rowsOf(db, 'Project', { id: projectId }).select('number as number')),
);
