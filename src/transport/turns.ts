/** Gives away turns of the event loop, one to each who asks, so that long pieces of work never stand back to back. */

export function createTurns(): () => Promise<void> {
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
