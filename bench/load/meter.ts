import { createHistogram, performance } from 'node:perf_hooks';

/** When a load ends: after a time, or after an exact number of requests. */
export type Stop = { readonly seconds: number } | { readonly requests: number };

export type LoadResult = {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Share of time the generator was busy; near 1 it limits the measured rate. */
  readonly generatorBusy: number;
  /** Body of the first answer, for checks of its content. */
  readonly firstBody: Buffer;
};

export type Meter = {
  /** Whether one more request may be sent; counts it. */
  take(): boolean;
  /** Records an answered request sent at `sentAt` (performance.now). */
  note(sentAt: number): void;
  result(firstBody: Buffer): LoadResult;
};

const microseconds = { lowest: 1, highest: 120_000_000, figures: 3 };

/** Counts and times the requests of one closed-loop load; the clock starts here. */
export function createMeter(stop: Stop): Meter {
  const histogram = createHistogram(microseconds);
  const idleBefore = performance.eventLoopUtilization();
  const startedAt = performance.now();
  const deadline = 'seconds' in stop ? startedAt + stop.seconds * 1000 : Number.POSITIVE_INFINITY;
  const requestsMax = 'requests' in stop ? stop.requests : Number.POSITIVE_INFINITY;
  let taken = 0;
  let noted = 0;
  let lastAt = startedAt;

  return {
    take() {
      if (taken >= requestsMax || lastAt >= deadline) return false;
      taken += 1;
      return true;
    },
    note(sentAt) {
      lastAt = performance.now();
      noted += 1;
      histogram.record(Math.max(1, Math.round((lastAt - sentAt) * 1000)));
    },
    result(firstBody) {
      const seconds = (lastAt - startedAt) / 1000;
      return {
        requests: noted,
        seconds,
        perSecond: noted / seconds,
        p50Ms: histogram.percentile(50) / 1000,
        p99Ms: histogram.percentile(99) / 1000,
        generatorBusy: performance.eventLoopUtilization(idleBefore).utilization,
        firstBody,
      };
    },
  };
}

/** Milliseconds after which a load counts as hung. */
export function deadlineMs(stop: Stop): number {
  return 'seconds' in stop ? stop.seconds * 1000 + 15_000 : 120_000;
}

/** Rejects when the load hangs; always calls `abort` to close its connections. */
export async function withinDeadline<T>(stop: Stop, work: Promise<T>, abort: () => void): Promise<T> {
  const { promise: hung, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The load did not finish in time.')), deadlineMs(stop));
  try {
    return await Promise.race([work, hung]);
  } finally {
    clearTimeout(timer);
    abort();
  }
}
