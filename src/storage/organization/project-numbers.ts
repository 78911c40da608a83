/** The numbers of the projects in reports. */

import type { ProjectStore } from '../../domain/management/management-port.ts';
import { type QueryRunner, queryInBatches } from '../transaction.ts';

export function createProjectNumbers(runner: QueryRunner): ProjectStore['numbers'] {
  const { queries, runQuery, pointsPerQuery } = runner;
  return async (organizationId, ids) => {
    const find = (some: readonly string[]) =>
      runQuery(queries.organization.findProjectNumbers, { organizationId, ids: some });
    const rows = await queryInBatches(ids, pointsPerQuery, find);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}
