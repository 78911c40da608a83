import { setImmediate } from 'node:timers/promises';

/** Waits for the next millisecond: some clocks are no finer, and spans that start together have no order. */
export async function nextMillisecond(): Promise<void> {
  const since = Date.now();
  while (Date.now() === since) await setImmediate();
}
