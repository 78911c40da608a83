/**
 * Responses on their way out. Each counts in the budget of response bytes until its last byte is written or its connection
 * closes, and has a deadline by its size: a client that reads slowly cannot keep one in memory.
 */

import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { RequestQuota } from '../rpc/quotas.ts';

/** The stream or response object that a response is written to. */
type ResponseSink = EventEmitter & { readonly destroyed: boolean; readonly writableLength: number; destroy(): unknown };

export type ResponseWatch = {
  /**
   * Counts a response that is about to be written. Throws the unavailable Fault where the budget has no room. `force`
   * exceeds the budget instead: the response to a change must reach the client.
   */
  send(response: {
    readonly quota: RequestQuota;
    readonly sink: ResponseSink;
    readonly bytes: number;
    readonly force: boolean;
  }): void;
  close(): void;
};

export type ResponseTimeouts = {
  /** Granted to every response, beside the time its size needs. */
  readonly graceMs: number;
  /** The slowest client that is tolerated. */
  readonly bytesPerSecondMin: number;
};

/** An HTTP/1.1 response that has lost its socket never emits `close`. */
export function isClosed(sink: ResponseSink): boolean {
  return sink.destroyed || ('socket' in sink && sink.socket === null);
}

/** Of an HTTP/2 response its stream: only the stream is sure to close with the connection. */
export function responseSinkOf(response: ServerResponse | Http2ServerResponse): ResponseSink {
  return 'stream' in response ? response.stream : response;
}

/** Smaller responses are not counted: a connection buffers more than that by itself. */
const SMALL_MAX_BYTES = 4_096;
const CHECK_MS_MAX = 1_000;

/** `clock` is monotonic milliseconds. */
export function createResponseWatch(
  { graceMs, bytesPerSecondMin }: ResponseTimeouts,
  clock: () => number,
): ResponseWatch {
  const deadlines = new Map<ResponseSink, number>();
  const timer = setInterval(
    () => {
      const nowMs = clock();
      for (const [sink, deadlineMs] of deadlines) {
        if (nowMs > deadlineMs) sink.destroy();
      }
    },
    Math.min(CHECK_MS_MAX, graceMs),
  );
  timer.unref();
  return {
    send({ quota, sink, bytes, force }) {
      if (bytes <= SMALL_MAX_BYTES || isClosed(sink)) {
        quota.release();
        return;
      }
      quota.setResponse(bytes, force);
      deadlines.set(sink, clock() + graceMs + (bytes / bytesPerSecondMin) * 1_000);
      sink.once('close', () => {
        deadlines.delete(sink);
        quota.release();
      });
    },
    close() {
      clearInterval(timer);
    },
  };
}
