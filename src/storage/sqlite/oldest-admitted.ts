/** The request that has waited longest for its outcome. */

import { ADMITTED } from '../rows/codes.ts';
import type { Database } from './connection.ts';
import type { ReadLane } from './read-lane.ts';

export function prepareOldestAdmitted(db: Database, lane: ReadLane): () => Promise<number | null> {
  const oldest = db
    .prepare<[], number>(`SELECT received_at FROM requests WHERE state = ${ADMITTED} ORDER BY received_at LIMIT 1`)
    .pluck();
  return () => lane(() => oldest.get() ?? null);
}
