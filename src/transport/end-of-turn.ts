/**
 * Collects work until the end of a turn of the event loop. Responses that leave together wake their receiver once: a wake-up
 * for each costs more than the rest of a small request.
 */

/** Each item is passed to `run` after all events of the current turn were handled, in order. */
export function collectUntilEndOfTurn<T>(run: (item: T) => void): (item: T) => void {
  let waiting: T[] = [];

  function runAll(): void {
    const items = waiting;
    waiting = [];
    for (const item of items) run(item);
  }

  return (item) => {
    if (waiting.push(item) === 1) setImmediate(runAll);
  };
}
