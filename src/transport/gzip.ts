/** Gzip of RPC messages, with memory and work bounded by the size limit of the rpc, for any compression ratio. */

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Code, ConnectError } from '@connectrpc/connect';
import { compressionGzip } from '@connectrpc/connect-node';
import { createSemaphore } from '../scheduling/semaphore.ts';
import { inspectUnpacked } from './connect-json.ts';

const unpack = promisify(gunzip);
type Compression = typeof compressionGzip;

/** A header, an empty block, a checksum and a length. */
const GZIP_MIN_BYTES = 18;
const LENGTH_BYTES = 4;
/** The best ratio of the format: an announced length beyond it is wrong. */
const RATIO_MAX = 1_032;
/** zlib runs in libuv's pool of few threads; more at once would only hold more memory. */
const AT_ONCE_MAX = 2;
const CHUNK_MIN_BYTES = 64;
const CHUNK_MAX_BYTES = 65_536;

type GzipDeps = { readonly onUnpacking: (bytes: number) => void; readonly isAbandoned: () => boolean };

/**
 * Gzip data ends with its decompressed length. A length over the limit is refused without decompressing, and
 * decompression stops where it yields more than the announced length. `onUnpacking` gets that length before, and throws where
 * there is no room for it. A message whose client has disconnected is not decompressed.
 */
export function createGzip({ onUnpacking, isAbandoned }: GzipDeps): Compression {
  const semaphore = createSemaphore({ permitsMax: AT_ONCE_MAX });
  return {
    name: compressionGzip.name,
    compress: compressionGzip.compress,
    async decompress(bytes, readMaxBytes) {
      if (bytes.length === 0) return new Uint8Array(0);
      const length = announcedLength(bytes);
      if (length === null) throw broken();
      if (length > readMaxBytes) throw new ConnectError('too large once unpacked', Code.ResourceExhausted);
      onUnpacking(length);
      await semaphore.acquire();
      let unpacked: Uint8Array<ArrayBuffer>;
      try {
        if (isAbandoned()) throw broken();
        unpacked = await unpackExactly(bytes, length);
      } finally {
        semaphore.release();
      }
      return inspectUnpacked(unpacked);
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
