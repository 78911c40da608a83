/** Bytes that are held until they can be read: a copy, however small the parts they came in. */

/**
 * Takes memory, or gives it back by a number below zero. False: there is no room for so much. Many streams of large events
 * would otherwise fill the memory of the process.
 */
export type HoldMemory = (bytes: number) => boolean;

const FIRST_BYTES = 4_096;
/** So much is free for each. */
const FREE_BYTES = 65_536;

export function createHeldBytes(holdMemory: HoldMemory) {
  let buffer = Buffer.alloc(0);
  let length = 0;
  let takenBytes = 0;

  function grow(bytesMin: number): boolean {
    if (bytesMin <= buffer.length) return true;
    const bytes = Math.max(bytesMin, buffer.length * 2, FIRST_BYTES);
    if (bytes > FREE_BYTES) {
      if (!holdMemory(bytes - takenBytes)) return false;
      takenBytes = bytes;
    }
    const grown = Buffer.allocUnsafe(bytes);
    buffer.copy(grown, 0, 0, length);
    buffer = grown;
    return true;
  }

  return {
    get length() {
      return length;
    },
    /** Returns whether there was room for it. */
    add(part: Buffer): boolean {
      if (!grow(length + part.length)) return false;
      part.copy(buffer, length);
      length += part.length;
      return true;
    },
    /** Returns all of them, and holds none. */
    take(): Buffer {
      const taken = buffer.subarray(0, length);
      if (takenBytes > 0) holdMemory(-takenBytes);
      takenBytes = 0;
      buffer = Buffer.alloc(0);
      length = 0;
      return taken;
    },
  };
}
