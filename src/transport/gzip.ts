/** The one compression of RPC messages, with memory and work bounded by the limit of the rpc and not by the ratio. */

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Code, ConnectError } from '@connectrpc/connect';
import { compressionGzip } from '@connectrpc/connect-node';
import { inspectUnpacked } from './connect-json.ts';

const unpack = promisify(gunzip);
type Compression = typeof compressionGzip;

// A header, an empty block, a checksum and a length.
const GZIP_MIN_BYTES = 18;
const LENGTH_BYTES = 4;
// The format cannot pack tighter, so a length beyond that is noise.
const RATIO_MAX = 1_032;
// The pool that unpacks has few threads; more at once would only hold more memory.
const AT_ONCE_MAX = 2;
const CHUNK_MIN_BYTES = 64;
const CHUNK_MAX_BYTES = 65_536;

export type GzipDeps = { readonly onUnpacking: (bytes: number) => void; readonly isAbandoned: () => boolean };

/**
 * What was packed says at its end how long it was. That is believed as far as it can be checked: too much is refused
 * without unpacking, and unpacking stops where more comes out than was announced. `onUnpacking` is told how much will
 * come out, and throws where there is no room for it; what is abandoned when its turn comes is not unpacked.
 */
export function createGzip({ onUnpacking, isAbandoned }: GzipDeps): Compression {
  const inTurn = createTurnstile(AT_ONCE_MAX);
  return {
    name: compressionGzip.name,
    compress: compressionGzip.compress,
    async decompress(bytes, readMaxBytes) {
      if (bytes.length === 0) return new Uint8Array(0);
      const length = announcedLength(bytes);
      if (length === null) throw broken();
      if (length > readMaxBytes) throw new ConnectError('too large once unpacked', Code.ResourceExhausted);
      onUnpacking(length);
      return inspectUnpacked(
        await inTurn(() => (isAbandoned() ? Promise.reject(broken()) : unpackExactly(bytes, length))),
      );
    },
  };
}

function announcedLength(bytes: Uint8Array): number | null {
  if (bytes.length < GZIP_MIN_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - LENGTH_BYTES, LENGTH_BYTES);
  const length = view.getUint32(0, true);
  return length > bytes.length * RATIO_MAX ? null : length;
}

async function unpackExactly(bytes: Uint8Array, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunkSize = Math.max(CHUNK_MIN_BYTES, Math.min(CHUNK_MAX_BYTES, length));
  try {
    return await unpack(bytes, { maxOutputLength: Math.max(1, length), chunkSize });
  } catch (cause) {
    throw broken(cause);
  }
}

function broken(cause?: unknown): ConnectError {
  return new ConnectError('broken compression', Code.InvalidArgument, undefined, undefined, cause);
}

/** Runs at most `atOnceMax` jobs at a time, the others in the order they came. */
function createTurnstile(atOnceMax: number): <T>(job: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (job) => {
    if (running >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
