/**
 * Decompression that a bomb cannot use: what says of itself that it is too large is refused unread, only
 * a few bodies are decoded at once, and each stops at the limit.
 */

import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

export type Encoding = 'gzip' | 'deflate' | 'br';

/** The decoded bytes, or why there are none. `busy`: no decoder became free in time. */
export type Inflate = (raw: Buffer, encoding: Encoding, sizeMaxBytes: number) => Promise<Inflated | 'busy'>;
type Inflated = Buffer | 'too_large' | 'broken';

/** Each may hold a whole body; more at once would be slower for all and hold more. */
const AT_ONCE_MAX = 2;
/** Honest bodies are through in a millisecond; behind bombs nobody waits for long. */
const WAIT_MAX_MS = 50;
const CHUNK_BYTES = 64 * 1024;

export function createInflateGate(): Inflate {
  const gate = createGate();
  return async (raw, encoding, sizeMaxBytes) => {
    if (announcedBytes(raw, encoding) > sizeMaxBytes) return 'too_large';
    if (!(await gate.enter())) return 'busy';
    try {
      return await inflate(raw, encoding, sizeMaxBytes);
    } finally {
      gate.leave();
    }
  };
}

function createGate(): { enter(): Promise<boolean>; leave(): void } {
  const waiting = new Set<(entered: boolean) => void>();
  let running = 0;
  return {
    enter() {
      if (running < AT_ONCE_MAX) {
        running += 1;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const settle = (entered: boolean) => {
          clearTimeout(patience);
          waiting.delete(settle);
          resolve(entered);
        };
        const patience = setTimeout(() => settle(false), WAIT_MAX_MS);
        waiting.add(settle);
      });
    },
    leave() {
      const [next] = waiting;
      if (next) next(true);
      else running -= 1;
    },
  };
}

/** Stops at the limit: the decoder is destroyed as soon as one byte too many comes out. */
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
  // "deflate" means zlib by the book and raw deflate by custom; the zlib header tells them apart.
  const [first = 0, second = 0] = raw;
  const isZlib = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
  return isZlib ? createInflate(options) : createInflateRaw(options);
}

/** An empty member: header, an empty block, trailer. */
const GZIP_MIN_BYTES = 20;
const GZIP_MAGIC = 0x1f8b;
/** The format cannot pack tighter, so a size beyond that is noise. */
const GZIP_RATIO_MAX = 1_032;

/**
 * How many bytes a stream says it holds at least; 0 where it does not say, or says what cannot be: then the decoder
 * finds out. A stream cut off where its last bytes happen to be a possible size is still taken at its word, and
 * called too large instead of broken; telling the two apart would mean to decode every honest bomb.
 */
function announcedBytes(raw: Buffer, encoding: Encoding): number {
  if (encoding !== 'gzip' || raw.length < GZIP_MIN_BYTES || raw.readUInt16BE(0) !== GZIP_MAGIC) return 0;
  // RFC 1952: the last four bytes are the size of the last member.
  const size = raw.readUInt32LE(raw.length - 4);
  return size <= raw.length * GZIP_RATIO_MAX ? size : 0;
}
