/** Processor times of a process, to distinguish a busy machine from a slow program. */

import { readFileSync } from 'node:fs';

/** A main thread's time on a processor, and waiting for one. */
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

/** The factor by which waits for a processor prolonged the time of the process. */
export function slowdown(from: Turns, to: Turns): number {
  const ranMs = Math.max(1, to.ranMs - from.ranMs);
  return (ranMs + Math.max(0, to.waitedMs - from.waitedMs)) / ranMs;
}

/** Returns a function for the milliseconds since now without waits for a processor. */
export function startStopwatch(): () => number {
  const startedMs = performance.now();
  const { waitedMs } = readTurns(process.pid);
  return () => performance.now() - startedMs - (readTurns(process.pid).waitedMs - waitedMs);
}
