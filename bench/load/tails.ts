import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import type { Keys } from '../sides.ts';
import { getRequest } from './requests.ts';

/** The changes that the tails received since the last reset. */
export type TailCounts = { readonly events: number; readonly p99Ms: number; readonly followers: number };

export type Tails = {
  /** Resets the counts. */
  reset(): void;
  counts(): TailCounts;
  close(): void;
};

const receiveBytes = 65_536;
const openedMark = Buffer.from('HTTP/1.1 200');
/** The start of an event id: the instant of the change, thirteen digits of milliseconds. */
const idMark = Buffer.from('\nid: ');
const idDigits = 13;
const milliseconds = { lowest: 1, highest: 600_000, figures: 3 };

/** Opens live tails of one project. Resolves once all are open; the server must use the same clock. */
export async function openTails(port: number, { projectKey }: Keys, count: number): Promise<Tails> {
  let histogram = createHistogram(milliseconds);
  let followers = new Set<number>();
  const sockets: Socket[] = [];
  const request = getRequest('/api/traces/tail', `X-Auth-Token: ${projectKey}`);

  function read(follower: number, bytes: Buffer): void {
    const nowMs = Date.now();
    for (let at = bytes.indexOf(idMark); at >= 0; at = bytes.indexOf(idMark, at + 1)) {
      const start = at + idMark.length;
      // Ignores an id that the chunk cuts off.
      if (start + idDigits > bytes.length) break;
      histogram.record(Math.max(1, nowMs - Number(bytes.toString('latin1', start, start + idDigits))));
      followers.add(follower);
    }
  }

  await Promise.all(
    Array.from({ length: count }, (_, follower) => {
      const opened = Promise.withResolvers<void>();
      let isOpen = false;
      const onread = {
        buffer: Buffer.alloc(receiveBytes),
        callback(length: number, buffer: Uint8Array): boolean {
          const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, length);
          if (!isOpen && bytes.subarray(0, openedMark.length).equals(openedMark)) {
            isOpen = true;
            opened.resolve();
          } else if (!isOpen) opened.reject(new Error(`A tail was refused: ${bytes.toString('utf8', 0, 400)}`));
          read(follower, bytes);
          return true;
        },
      };
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
      sockets.push(socket);
      socket.on('connect', () => socket.write(request));
      socket.on('error', (error) => opened.reject(error));
      socket.on('close', () => opened.reject(new Error('The server closed a tail.')));
      return opened.promise;
    }),
  );
  return {
    reset() {
      histogram = createHistogram(milliseconds);
      followers = new Set();
    },
    counts: () => ({ events: histogram.count, p99Ms: histogram.percentile(99), followers: followers.size }),
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
