/** Bytes that are held until they can be read: a copy, however small the parts they came in. */

const FIRST_BYTES = 4_096;

export function createHeldBytes() {
  let buffer = Buffer.alloc(0);
  let length = 0;

  function grow(bytesMin: number): void {
    if (bytesMin <= buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(bytesMin, buffer.length * 2, FIRST_BYTES));
    buffer.copy(grown, 0, 0, length);
    buffer = grown;
  }

  return {
    get length() {
      return length;
    },
    add(part: Buffer): void {
      grow(length + part.length);
      part.copy(buffer, length);
      length += part.length;
    },
    /** Returns all of them, and holds none. */
    take(): Buffer {
      const taken = buffer.subarray(0, length);
      buffer = Buffer.alloc(0);
      length = 0;
      return taken;
    },
  };
}
