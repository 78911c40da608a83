/** Lets other work of a thread run between the statements of a long read. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

const BUSY_MAX_MS = 5;

/** Yields to the event loop if the read has run for `BUSY_MAX_MS` since it last did. */
export type YieldWhenDue = () => Promise<void>;

/** `before` is called before it yields. */
export function createYieldWhenDue(before: () => void = () => undefined): YieldWhenDue {
  let dueAtMs = performance.now() + BUSY_MAX_MS;
  return async () => {
    if (performance.now() < dueAtMs) return;
    before();
    await yieldToEventLoop();
    dueAtMs = performance.now() + BUSY_MAX_MS;
  };
}
