/** The process itself, as far as asking costs nothing. */

import type { Registry } from './registry.ts';

export function tellProcess(registry: Registry): void {
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
