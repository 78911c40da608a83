import { setImmediate } from 'node:timers/promises';

/** Waits for the next millisecond: spans that start in the same one have no order. */
export async function nextMillisecond(): Promise<void> {
  const since = Date.now();
  while (Date.now() === since) await setImmediate();
}
