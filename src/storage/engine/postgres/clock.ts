/** The clock of the database, by which events are created: every process goes by the same one. */

import type { Lane, Statement } from './connection.ts';

const CLOCK: Statement = { name: 'clock', text: 'SELECT clock_ms() AS "nowMs"' };

export async function readClock(lane: Lane): Promise<number> {
  const [row] = await lane.ask<{ nowMs: number }>(CLOCK, []);
  if (row === undefined) throw new Error('the database does not tell the time');
  return row.nowMs;
}
