/** The request that has waited longest for its outcome. */

import { ADMITTED } from '../rows/codes.ts';
import type { Lane } from './connection.ts';

const OLDEST = {
  name: 'oldest-admitted',
  text: `SELECT received_at AS "atMs" FROM requests WHERE state = ${ADMITTED} ORDER BY received_at LIMIT 1`,
};

export function createOldestAdmitted(lane: Lane): () => Promise<number | null> {
  return async () => (await lane.ask<{ atMs: number }>(OLDEST, []))[0]?.atMs ?? null;
}
