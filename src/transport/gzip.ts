/** The one compression of RPC messages, with memory bounded by the limit of the rpc and not by the ratio. */

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Code, ConnectError } from '@connectrpc/connect';
import { compressionGzip } from '@connectrpc/connect-node';

const unpack = promisify(gunzip);
type Compression = typeof compressionGzip;

const LENGTH_BYTES = 4;
// The format cannot pack tighter; a length beyond that is noise, and unpacking will say so.
const RATIO_MAX = 1_032;
// The pool that unpacks has few threads; more at once would only hold more memory.
const AT_ONCE_MAX = 2;
const CHUNK_BYTES = 65_536;

export function createGzip(): Compression {
  const inTurn = createTurnstile(AT_ONCE_MAX);
  return {
    name: compressionGzip.name,
    compress: compressionGzip.compress,
    async decompress(bytes, readMaxBytes) {
      if (bytes.length === 0) return new Uint8Array(0);
      const length = announcedLength(bytes);
      if (length > readMaxBytes && length <= bytes.length * RATIO_MAX) throw tooLarge();
      return inTurn(() => unpackWithin(bytes, readMaxBytes));
    },
  };
}

async function unpackWithin(bytes: Uint8Array, readMaxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await unpack(bytes, { maxOutputLength: readMaxBytes, chunkSize: CHUNK_BYTES });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : new ConnectError('broken compression', Code.InvalidArgument, undefined, undefined, error);
  }
}

/** Packed bytes end in their own length, so most of what is too large need not be unpacked to see it. */
function announcedLength(bytes: Uint8Array): number {
  if (bytes.length < LENGTH_BYTES) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset + bytes.length - LENGTH_BYTES, LENGTH_BYTES).getUint32(0, true);
}

function tooLarge(): ConnectError {
  return new ConnectError('message too large once unpacked', Code.ResourceExhausted);
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
