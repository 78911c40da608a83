/**
 * How much of request bodies is read at a time, over all connections. A turn of the event loop accepts one connection,
 * so where each turn reads megabytes, whoever connects waits for as many of them as there are connections before it.
 */

export type ReadBudget = {
  /**
   * Counts bytes that were read of a body, of which there are `size` so far. False: that is enough for now, and the
   * reader pauses until `goOn` is called. Most bodies are small, and wait for no others.
   */
  readonly spend: (bytes: number, size: number, goOn: () => void) => boolean;
};

export type ReadBudgetOptions = {
  readonly bytesPerTurn: number;
  /** Calls back when the next turn begins: that of the event loop, unless turns are to be longer. */
  readonly awaitTurn?: (begin: () => void) => void;
};

/** What one read of a socket brings at most. */
const READ_BYTES = 65_536;

/** Readers that had to pause go on in the order in which they came, in each turn as many as it has room for. */
export function createReadBudget({ bytesPerTurn, awaitTurn = setImmediate }: ReadBudgetOptions): ReadBudget {
  const readersPerTurn = Math.ceil(bytesPerTurn / READ_BYTES);
  const paused: (() => void)[] = [];
  let leftBytes = bytesPerTurn;
  let isTurnAwaited = false;

  function beginTurn(): void {
    isTurnAwaited = false;
    leftBytes = bytesPerTurn;
    for (const goOn of paused.splice(0, readersPerTurn)) goOn();
    if (paused.length > 0) endTurn();
  }

  function endTurn(): void {
    if (!isTurnAwaited) awaitTurn(beginTurn);
    isTurnAwaited = true;
  }

  return {
    spend(bytes, size, goOn) {
      if (size <= READ_BYTES) return true;
      endTurn();
      leftBytes -= bytes;
      if (leftBytes > 0) return true;
      paused.push(goOn);
      return false;
    },
  };
}
