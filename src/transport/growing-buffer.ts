/** Collects pieces, and puts them together once. Small ones kept by themselves would hold hundreds of bytes each. */

export type GrowingBuffer = {
  add(piece: Buffer): void;
  size(): number;
  /** What was collected so far. */
  bytes(): Buffer;
};

const EMPTY = Buffer.alloc(0);
/** Kept as it is, where it is not a small part of something larger. */
const LARGE_MIN_BYTES = 4_096;
const BLOCK_MAX_BYTES = 65_536;

export function createGrowingBuffer(): GrowingBuffer {
  let pieces: Buffer[] = [];
  let size = 0;
  /** Takes small pieces. Never larger than what was there before it, so that no more than twice the size is held. */
  let block: Buffer = EMPTY;
  let filled = 0;

  function closeBlock(): void {
    if (filled > 0) pieces.push(block.subarray(0, filled));
    block = EMPTY;
    filled = 0;
  }

  return {
    add(piece) {
      if (size === 0 || isLarge(piece)) {
        closeBlock();
        pieces.push(piece);
      } else {
        if (piece.length > block.length - filled) {
          closeBlock();
          block = Buffer.allocUnsafe(Math.max(piece.length, Math.min(BLOCK_MAX_BYTES, size)));
        }
        filled += piece.copy(block, filled);
      }
      size += piece.length;
    },
    size: () => size,
    bytes() {
      closeBlock();
      if (pieces.length > 1) pieces = [Buffer.concat(pieces, size)];
      return pieces[0] ?? EMPTY;
    },
  };
}

function isLarge(piece: Buffer): boolean {
  return piece.length >= LARGE_MIN_BYTES && 2 * piece.length >= piece.buffer.byteLength;
}
