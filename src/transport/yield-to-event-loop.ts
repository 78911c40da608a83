/** Gives each waiting task a turn of the event loop of its own, so that long tasks never run in the same turn. */

export function createYieldToEventLoop(): () => Promise<void> {
  const waiting: (() => void)[] = [];

  function giveOne(): void {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(giveOne);
  }

  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(giveOne);
    });
}
