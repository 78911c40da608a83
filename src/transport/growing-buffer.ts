/** Collects chunks and concatenates them once. Small chunks are copied together: each Buffer costs hundreds of bytes. */

type GrowingBuffer = {
  add(chunk: Buffer): void;
  size(): number;
  /** All bytes added so far. */
  bytes(): Buffer;
};

const EMPTY = Buffer.alloc(0);
/** Chunks of this size are kept without a copy, unless they are a small slice of a larger memory block. */
const LARGE_MIN_BYTES = 4_096;
const BLOCK_MAX_BYTES = 65_536;

export function createGrowingBuffer(): GrowingBuffer {
  let chunks: Buffer[] = [];
  let size = 0;
  /** Holds small chunks. Never larger than what was collected before it, so that at most twice the size is allocated. */
  let block: Buffer = EMPTY;
  let filled = 0;

  function closeBlock(): void {
    if (filled > 0) chunks.push(block.subarray(0, filled));
    block = EMPTY;
    filled = 0;
  }

  return {
    add(chunk) {
      if (size === 0 || isLarge(chunk)) {
        closeBlock();
        chunks.push(chunk);
      } else {
        if (chunk.length > block.length - filled) {
          closeBlock();
          block = Buffer.allocUnsafe(Math.max(chunk.length, Math.min(BLOCK_MAX_BYTES, size)));
        }
        filled += chunk.copy(block, filled);
      }
      size += chunk.length;
    },
    size: () => size,
    bytes() {
      closeBlock();
      if (chunks.length > 1) chunks = [Buffer.concat(chunks, size)];
      return chunks[0] ?? EMPTY;
    },
  };
}

function isLarge(chunk: Buffer): boolean {
  return chunk.length >= LARGE_MIN_BYTES && 2 * chunk.length >= chunk.buffer.byteLength;
}
