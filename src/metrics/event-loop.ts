/** Measures how long the event loop is blocked, which delays every client. */

import type { Registry } from './registry.ts';

export type EventLoopWatch = {
  stop(): void;
};

const MEASURE_INTERVAL_MS = 20;
const PERIOD_MS = 1_000;
const PERIODS_REMEMBERED = 60;
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10];

/**
 * Records the longest delay of each second in a histogram, so that frequent or concurrent scrapes do not hide a stall.
 * Node's own histogram, when it is reset, loses a stall that has begun before the reset.
 */
export function watchEventLoop(registry: Registry): EventLoopWatch {
  const add = registry.histogram({
    name: 'spandrel_event_loop_delay_seconds',
    help: 'The longest delay of the event loop within each second.',
    bounds: BOUNDS,
  });
  const recentMs: number[] = [];
  let longestMs = 0;
  let measuredAtMs = performance.now();
  let periodEndsAtMs = measuredAtMs + PERIOD_MS;
  registry.gauge(
    { name: 'spandrel_event_loop_delay_max_seconds', help: 'The longest delay of the event loop within a minute.' },
    () => [{ value: Math.max(longestMs, ...recentMs) / 1_000 }],
  );
  const measure = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - measuredAtMs - MEASURE_INTERVAL_MS);
    measuredAtMs = nowMs;
    if (nowMs < periodEndsAtMs) return;
    add({}, longestMs / 1_000);
    recentMs.push(longestMs);
    if (recentMs.length > PERIODS_REMEMBERED) recentMs.shift();
    longestMs = 0;
    periodEndsAtMs = nowMs + PERIOD_MS;
  };
  const timer = setInterval(measure, MEASURE_INTERVAL_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
