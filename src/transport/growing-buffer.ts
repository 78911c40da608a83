/** Collects pieces into one buffer. Kept by themselves, pieces of one byte would hold hundreds of bytes each. */

export type GrowingBuffer = {
  add(piece: Buffer): void;
  size(): number;
  /** What was collected so far. */
  bytes(): Buffer;
};

const EMPTY = Buffer.alloc(0);

export function createGrowingBuffer(): GrowingBuffer {
  let held: Buffer = EMPTY;
  let size = 0;
  return {
    add(piece) {
      const needed = size + piece.length;
      if (size === 0) {
        held = piece;
      } else {
        if (needed > held.length) {
          const larger = Buffer.allocUnsafe(Math.max(needed, 2 * held.length));
          held.copy(larger, 0, 0, size);
          held = larger;
        }
        piece.copy(held, size);
      }
      size = needed;
    },
    size: () => size,
    bytes: () => held.subarray(0, size),
  };
}
