/** Enforces the timeouts of request bodies: one timer checks all bodies being read, instead of a timer for each. */

import type { RestRequest } from './exchange.ts';

export type BodyWatch = {
  begin(request: RestRequest, onTimeout: () => void): void;
  touch(request: RestRequest): void;
  end(request: RestRequest): void;
  close(): void;
};

type BodyTimeouts = { readonly gapMs: number; readonly wholeMs: number };

const CHECK_MS = 1_000;

/** `clock` is monotonic milliseconds. */
export function createBodyWatch(timeouts: BodyTimeouts, clock: () => number): BodyWatch {
  const watched = new Map<RestRequest, { begunMs: number; touchedMs: number; onTimeout: () => void }>();
  const timer = setInterval(
    () => {
      const nowMs = clock();
      for (const body of watched.values()) {
        const late = nowMs - body.touchedMs > timeouts.gapMs || nowMs - body.begunMs > timeouts.wholeMs;
        if (late) body.onTimeout();
      }
    },
    Math.min(CHECK_MS, timeouts.gapMs),
  );
  timer.unref();
  return {
    begin(request, onTimeout) {
      const nowMs = clock();
      watched.set(request, { begunMs: nowMs, touchedMs: nowMs, onTimeout });
    },
    touch(request) {
      const body = watched.get(request);
      if (body) body.touchedMs = clock();
    },
    end(request) {
      watched.delete(request);
    },
    close() {
      clearInterval(timer);
    },
  };
}
