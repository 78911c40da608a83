/** The numbers of projects that reports name. */

import type { RequestStore } from '../../domain/store.ts';
import type { Lane, Statement } from './connection.ts';

const FIND: Statement = {
  name: 'find-project-numbers',
  text: 'SELECT id, number FROM projects WHERE organization_id = $1 AND id = ANY ($2)',
};

export function createProjectNumbers(lane: Lane): RequestStore['projectNumbers'] {
  return async (organizationId, ids) => {
    const rows = await lane.ask<{ id: string; number: number }>(FIND, [organizationId, ids]);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}
