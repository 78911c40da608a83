/** Numbers for new traces, reserved in blocks: a new trace needs no round trip for its number. */

/** Matches the increment of the sequence: each of its values opens a block. */
const BLOCK_NUMBERS = 1000;

export type TraceNumbers = {
  /** Whether `count` numbers are reserved. */
  has(count: number): boolean;
  draw(): number;
  /** Reserves blocks until `count` numbers are available. */
  reserve(count: number): Promise<void>;
  /**
   * Drops reserved numbers. Call it when a connection that uses the numbers is new: the previous one may have been to a
   * database that was ahead of this one, which would give the same numbers again.
   */
  forget(): void;
};

/** `openBlocks` answers the first number of each of `count` new blocks. */
export function createTraceNumbers(openBlocks: (count: number) => Promise<readonly number[]>): TraceNumbers {
  const blocks: { next: number; readonly end: number }[] = [];
  let atHand = 0;

  return {
    has: (count) => atHand >= count,
    draw() {
      const block = blocks[0];
      if (block === undefined) throw new Error('a number is drawn that was not reserved');
      const number = block.next;
      block.next += 1;
      atHand -= 1;
      if (block.next === block.end) blocks.shift();
      return number;
    },
    async reserve(count) {
      const needed = Math.ceil((count - atHand) / BLOCK_NUMBERS);
      if (needed <= 0) return;
      for (const first of await openBlocks(needed)) {
        blocks.push({ next: first, end: first + BLOCK_NUMBERS });
        atHand += BLOCK_NUMBERS;
      }
    },
    forget() {
      blocks.length = 0;
      atHand = 0;
    },
  };
}
