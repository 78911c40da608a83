/** Metrics of the process that cost nothing to read, and what its requests use. */

import { readdirSync } from 'node:fs';
import type { Store } from '../domain/store.ts';
import type { Registry } from './registry.ts';

export type Build = {
  readonly version: string;
  /** Empty where it is unknown. */
  readonly commit: string;
  readonly store: Store['kind'];
};

export function registerBuild(registry: Registry, build: Build): void {
  registry.gauge({
    name: 'spandrel_build_info',
    help: 'Always 1; the labels say what runs.',
    read: () => [{ labels: { ...build, node: process.versions.node }, value: 1 }],
  });
}

/** `openFilesMax` is infinite where the system has no limit, or does not tell. */
export function registerProcess(registry: Registry, openFilesMax: number): void {
  const startedAt = Date.now() / 1000 - process.uptime();
  registry.total({
    name: 'process_cpu_seconds_total',
    help: 'Processor time used, of user and system.',
    read() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
  registry.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.', read: process.memoryUsage.rss });
  registry.gauge({
    name: 'process_open_fds',
    help: 'Open files and connections; on Linux only.',
    read: () => readdirSync('/proc/self/fd').length,
  });
  registry.gauge({
    name: 'process_max_fds',
    help: 'Files and connections that may be open; on Linux only.',
    read: () => openFilesMax,
  });
  registry.gauge({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Used heap of the main thread.',
    read: () => process.memoryUsage().heapUsed,
  });
  registry.gauge({
    name: 'nodejs_heap_size_total_bytes',
    help: 'Allocated heap of the main thread.',
    read: () => process.memoryUsage().heapTotal,
  });
  registry.gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, in Unix seconds.',
    read: () => startedAt,
  });
  registry.gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'Share of the time since the start that the event loop was busy.',
    read: () => performance.eventLoopUtilization().utilization,
  });
}

const USAGES = {
  inFlight: ['spandrel_requests_in_progress', 'Requests being worked on; SPANDREL_MAX_INFLIGHT bounds it.'],
  arriving: ['spandrel_requests_arriving', 'Requests whose body is on its way; SPANDREL_MAX_ARRIVING bounds it.'],
  bodyBytes: [
    'spandrel_request_body_bytes',
    'Bytes of bodies not answered yet; SPANDREL_INGEST_QUEUE_BYTES bounds it.',
  ],
  responseBytes: [
    'spandrel_answer_bytes',
    'Bytes of responses that clients have not read yet; SPANDREL_ANSWER_BYTES bounds it.',
  ],
} as const;

/** What requests use now, for comparison with the settings that limit it. */
export type ResourceUsage = Readonly<Record<keyof typeof USAGES, number>>;

export function registerUsage(registry: Registry, held: () => ResourceUsage): void {
  for (const [amount, [name, help]] of Object.entries(USAGES)) {
    registry.gauge({ name, help, read: () => held()[amount as keyof ResourceUsage] });
  }
}

export type EventLoopWatch = ReturnType<typeof watchEventLoop>;

const MEASURE_INTERVAL_MS = 20;
const PERIOD_MS = 1_000;
const PERIODS_REMEMBERED = 60;
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10];

/**
 * Records the longest delay of each second in a histogram, so that frequent or concurrent scrapes do not hide a stall.
 * Node's own histogram, when it is reset, loses a stall that has begun before the reset.
 */
export function watchEventLoop(registry: Registry) {
  const add = registry.histogram({
    name: 'spandrel_event_loop_delay_seconds',
    help: 'The longest delay of the event loop within each second.',
    bounds: BOUNDS,
  });
  const recentMs: number[] = [];
  let longestMs = 0;
  let measuredAtMs = performance.now();
  let periodEndsAtMs = measuredAtMs + PERIOD_MS;
  registry.gauge({
    name: 'spandrel_event_loop_delay_max_seconds',
    help: 'The longest delay of the event loop within a minute.',
    read: () => Math.max(longestMs, ...recentMs) / 1_000,
  });
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
