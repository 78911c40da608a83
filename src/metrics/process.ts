/** Metrics of the process that cost nothing to read, and what its requests use. */

import type { Registry } from './registry.ts';

export function registerProcess(registry: Registry): void {
  const startedAt = Date.now() / 1000 - process.uptime();
  registry.total({ name: 'process_cpu_seconds_total', help: 'Processor time used, of user and system.' }, () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  });
  registry.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () => [
    { value: process.memoryUsage.rss() },
  ]);
  registry.gauge({ name: 'process_start_time_seconds', help: 'When the process started, in Unix seconds.' }, () => [
    { value: startedAt },
  ]);
  registry.gauge(
    { name: 'nodejs_eventloop_utilization', help: 'Share of the time since the start that the event loop was busy.' },
    () => [{ value: performance.eventLoopUtilization().utilization }],
  );
}

/** What requests use now, for comparison with the settings that limit it. */
export type ResourceUsage = {
  readonly arriving: number;
  readonly inFlight: number;
  readonly bodyBytes: number;
  readonly responseBytes: number;
};

export function registerUsage(registry: Registry, held: () => ResourceUsage): void {
  const gauge = (name: string, help: string, read: (now: ResourceUsage) => number) =>
    registry.gauge({ name, help }, () => [{ value: read(held()) }]);
  gauge(
    'spandrel_requests_in_progress',
    'Requests being worked on; SPANDREL_MAX_INFLIGHT bounds it.',
    (now) => now.inFlight,
  );
  gauge(
    'spandrel_requests_arriving',
    'Requests whose body is on its way; SPANDREL_MAX_ARRIVING bounds it.',
    (now) => now.arriving,
  );
  gauge(
    'spandrel_request_body_bytes',
    'Bytes of bodies not answered yet; SPANDREL_INGEST_QUEUE_BYTES bounds it.',
    (now) => now.bodyBytes,
  );
  gauge(
    'spandrel_answer_bytes',
    'Bytes of responses that clients have not read yet; SPANDREL_ANSWER_BYTES bounds it.',
    (now) => now.responseBytes,
  );
}
