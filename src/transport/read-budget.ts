/**
 * Limits how many bytes of request bodies are read per turn of the event loop, over all connections. Node accepts one
 * connection per turn, so turns that read megabytes would delay every new connection by many such turns.
 */

export type ReadBudget = {
  /**
   * Counts bytes read of a body that has `size` bytes so far. False: the budget of this turn is used up, and the reader
   * pauses until `goOn` is called. Small bodies never pause.
   */
  readonly spend: (bytes: number, size: number, goOn: () => void) => boolean;
};

type ReadBudgetOptions = {
  readonly bytesPerTurn: number;
  /** Calls back when the next turn begins; by default each turn is one of the event loop. */
  readonly awaitTurn?: (begin: () => void) => void;
};

/** The most that one read of a socket yields. */
const READ_BYTES = 65_536;

/** Paused readers resume in the order in which they paused, in each turn as many as its budget allows. */
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
