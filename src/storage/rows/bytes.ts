/** Bytes of rows: drivers and threads hand over plain arrays, the domain wants Buffers. */

export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function toBufferOrNull(bytes: Uint8Array | null | undefined): Buffer | null {
  return bytes ? toBuffer(bytes) : null;
}
