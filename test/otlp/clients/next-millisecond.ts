import { setImmediate } from 'node:timers/promises';

/** Spans that begin in one millisecond stand in any order: a test that looks at their order lets one pass between them. */
export async function nextMillisecond(): Promise<void> {
  const since = Date.now();
  while (Date.now() === since) await setImmediate();
}
