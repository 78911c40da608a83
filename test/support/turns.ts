/** What a process had of the processors, so that a busy machine can be told from a slow program. */

import { readFileSync } from 'node:fs';

/** Of the main thread of a process: on a processor, and waiting for one. */
export type Turns = { readonly ranMs: number; readonly waitedMs: number };

export const NO_TURNS: Turns = { ranMs: 0, waitedMs: 0 };

export function readTurns(pid: number): Turns {
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return { ranMs: 1, waitedMs: 0 };
  }
}

/** How many times longer everything took because others had the processors, which is the machine's doing. */
export function slowdown(from: Turns, to: Turns): number {
  const ranMs = Math.max(1, to.ranMs - from.ranMs);
  return (ranMs + Math.max(0, to.waitedMs - from.waitedMs)) / ranMs;
}

/** Answers the milliseconds since now, had this thread not waited for a processor in between. */
export function startStopwatch(): () => number {
  const startedMs = performance.now();
  const { waitedMs } = readTurns(process.pid);
  return () => performance.now() - startedMs - (readTurns(process.pid).waitedMs - waitedMs);
}
