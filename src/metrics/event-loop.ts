/** For how long the event loop attended to nobody: what every client waits for, whoever caused it. */

import type { Registry } from './registry.ts';

export type EventLoopWatch = {
  stop(): void;
};

const LOOK_EVERY_MS = 20;
const PERIOD_MS = 1_000;
const PERIODS_REMEMBERED = 60;
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10];

/**
 * The longest delay of each second goes into a histogram, so that no scrape takes anything away from another, and
 * nobody hides a stall by asking often. The histogram of Node forgets the look before a reset, and with it a stall
 * that began there.
 */
export function watchEventLoop(registry: Registry): EventLoopWatch {
  const add = registry.histogram({
    name: 'spandrel_event_loop_delay_seconds',
    help: 'The longest delay of the event loop within each second.',
    bounds: BOUNDS,
  });
  const recentMs: number[] = [];
  let longestMs = 0;
  let lookedAtMs = performance.now();
  let periodEndsAtMs = lookedAtMs + PERIOD_MS;
  registry.gauge(
    { name: 'spandrel_event_loop_delay_max_seconds', help: 'The longest delay of the event loop within a minute.' },
    () => [{ value: Math.max(longestMs, ...recentMs) / 1_000 }],
  );
  const look = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lookedAtMs - LOOK_EVERY_MS);
    lookedAtMs = nowMs;
    if (nowMs < periodEndsAtMs) return;
    add({}, longestMs / 1_000);
    recentMs.push(longestMs);
    if (recentMs.length > PERIODS_REMEMBERED) recentMs.shift();
    longestMs = 0;
    periodEndsAtMs = nowMs + PERIOD_MS;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
