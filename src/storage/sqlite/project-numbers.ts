/** The numbers of projects that reports name. */

import type { RequestStore } from '../../domain/store.ts';
import type { Database } from './connection.ts';
import type { ReadLane } from './read-lane.ts';

export function prepareProjectNumbers(db: Database, lane: ReadLane): RequestStore['projectNumbers'] {
  const find = db
    .prepare<[string, string], number>('SELECT number FROM projects WHERE organization_id = ? AND id = ?')
    .pluck();
  return (organizationId, ids) =>
    lane(() => {
      const numbers = ids.map((id) => [id, find.get(organizationId, id)] as const);
      return new Map(numbers.flatMap(([id, number]) => (number === undefined ? [] : [[id, number] as const])));
    });
}
