/**
 * Decompression of request bodies, safe against bombs: a body that announces too large a size is refused without decoding,
 * only a few bodies are decoded at once, and each stops at the limit.
 */

import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { allButOne, createSemaphore } from '../../scheduling/semaphore.ts';

export type Encoding = 'gzip' | 'deflate' | 'br';

/** Resolves with the decoded bytes, or why there are none. `busy`: no decoder became free in time. */
export type Inflate = (raw: Buffer, encoding: Encoding, body: BodyBounds) => Promise<Inflated | 'busy'>;
type BodyBounds = {
  readonly sizeMaxBytes: number;
  /** The caller: one alone never has all decoders. */
  readonly owner: string;
};
type Inflated = Buffer | 'too_large' | 'broken';

/** Bodies decoded at once. More would slow each other down, and each may hold a whole body in memory. */
const AT_ONCE_MAX = 3;
/** How long a body waits for a decoder: honest bodies take a millisecond, so a longer wait is one behind bombs. */
const WAIT_MAX_MS = 50;
const CHUNK_BYTES = 64 * 1024;

export function createBoundedInflate(): Inflate {
  const semaphore = createSemaphore<string>({ permitsMax: AT_ONCE_MAX, ofOwnerMax: allButOne(AT_ONCE_MAX) });
  return async (raw, encoding, { sizeMaxBytes, owner }) => {
    if (announcedBytes(raw, encoding) > sizeMaxBytes) return 'too_large';
    if ((await semaphore.acquire(owner, AbortSignal.timeout(WAIT_MAX_MS))) !== 'acquired') return 'busy';
    try {
      return await inflate(raw, encoding, sizeMaxBytes);
    } finally {
      semaphore.release(owner);
    }
  };
}

/** Destroys the decoder as soon as its output exceeds the limit. */
function inflate(raw: Buffer, encoding: Encoding, sizeMaxBytes: number): Promise<Inflated> {
  return new Promise((resolve) => {
    const decoder = createDecoder(raw, encoding);
    const chunks: Buffer[] = [];
    let size = 0;
    decoder.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > sizeMaxBytes) {
        decoder.destroy();
        resolve('too_large');
        return;
      }
      chunks.push(chunk);
    });
    decoder.on('end', () => resolve(Buffer.concat(chunks, size)));
    decoder.on('error', () => resolve('broken'));
    decoder.end(raw);
  });
}

function createDecoder(raw: Buffer, encoding: Encoding): Transform {
  const options = { chunkSize: CHUNK_BYTES };
  if (encoding === 'gzip') return createGunzip(options);
  if (encoding === 'br') return createBrotliDecompress(options);
  // "deflate" is zlib in the standard, but some clients send raw deflate; only zlib has this header.
  const [first = 0, second = 0] = raw;
  const isZlib = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
  return isZlib ? createInflate(options) : createInflateRaw(options);
}

/** The size of an empty gzip member: a header, an empty block, a trailer. */
const GZIP_MIN_BYTES = 20;
const GZIP_MAGIC = 0x1f8b;
/** The best ratio of the format: an announced size beyond it is wrong. */
const GZIP_RATIO_MAX = 1_032;

/**
 * The decoded size that the body announces; 0 where it announces none, or an impossible one: then the decoder enforces the
 * limit. A truncated body whose last bytes look like a size is reported as too large instead of broken; to distinguish
 * them, every bomb would have to be decoded.
 */
function announcedBytes(raw: Buffer, encoding: Encoding): number {
  if (encoding !== 'gzip' || raw.length < GZIP_MIN_BYTES || raw.readUInt16BE(0) !== GZIP_MAGIC) return 0;
  // RFC 1952: the last four bytes are the decoded size of the last member.
  const size = raw.readUInt32LE(raw.length - 4);
  return size <= raw.length * GZIP_RATIO_MAX ? size : 0;
}
