/** Lets other work of a thread have its turn between the statements of a long read. */

import { setImmediate as nextTurn } from 'node:timers/promises';

const BUSY_MAX_MS = 5;

export type Turns = { next(): Promise<void> };

export function createTurns(): Turns {
  let turnAtMs = performance.now() + BUSY_MAX_MS;
  return {
    async next() {
      if (performance.now() < turnAtMs) return;
      await nextTurn();
      turnAtMs = performance.now() + BUSY_MAX_MS;
    },
  };
}
