/**
 * Answers on their way out. Each counts in the budget of answers until its last byte is taken or its connection ends,
 * and has a deadline by its size, so that nobody keeps one in memory by reading slowly.
 */

import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { RequestQuota } from '../rpc/quotas.ts';

/** What an answer leaves through. */
export type Outlet = EventEmitter & { readonly destroyed: boolean; destroy(): unknown };

export type AnswerWatch = {
  /**
   * Counts an answer that is about to be written. Throws the unavailable Fault where the budget has no room; one that
   * must be told all the same, because it says what became of a change, goes over it.
   */
  send(answer: {
    readonly quota: RequestQuota;
    readonly outlet: Outlet;
    readonly bytes: number;
    readonly must: boolean;
  }): void;
  close(): void;
};

export type AnswerTimes = {
  /** What every answer has, beside the time its size needs. */
  readonly graceMs: number;
  /** The slowest client that is waited for. */
  readonly bytesPerSecondMin: number;
};

/** A response of HTTP/1.1 that has lost its socket will never be told to close. */
export function isGone(outlet: Outlet): boolean {
  return outlet.destroyed || ('socket' in outlet && outlet.socket === null);
}

/** The stream of an HTTP/2 response: only that ends with its connection for sure. */
export function outletOf(response: ServerResponse | Http2ServerResponse): Outlet {
  return 'stream' in response ? response.stream : response;
}

/** Smaller ones are not worth the bookkeeping: a connection holds more than that by itself. */
const SMALL_MAX_BYTES = 4_096;
const SWEEP_MS_MAX = 1_000;

/** `clock` is monotonic milliseconds. */
export function createAnswerWatch({ graceMs, bytesPerSecondMin }: AnswerTimes, clock: () => number): AnswerWatch {
  const deadlines = new Map<Outlet, number>();
  const sweep = setInterval(
    () => {
      const nowMs = clock();
      for (const [outlet, deadlineMs] of deadlines) {
        if (nowMs > deadlineMs) outlet.destroy();
      }
    },
    Math.min(SWEEP_MS_MAX, graceMs),
  );
  sweep.unref();
  return {
    send({ quota, outlet, bytes, must }) {
      if (bytes <= SMALL_MAX_BYTES || isGone(outlet)) {
        quota.release();
        return;
      }
      quota.setAnswer(bytes, must);
      deadlines.set(outlet, clock() + graceMs + (bytes / bytesPerSecondMin) * 1_000);
      outlet.once('close', () => {
        deadlines.delete(outlet);
        quota.release();
      });
    },
    close() {
      clearInterval(sweep);
    },
  };
}
