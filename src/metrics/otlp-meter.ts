/** Counts what comes by OpenTelemetry and is not kept. */

import type { Registry } from './registry.ts';

export type OtlpDiscarded = (signal: 'logs' | 'metrics', records: number) => void;

export function createOtlpMeter(registry: Registry): OtlpDiscarded {
  const discarded = registry.counter({
    name: 'spandrel_otlp_discarded_total',
    help: 'Records of OpenTelemetry that were taken and not kept, by signal.',
    labels: ['signal'],
  });
  for (const signal of ['logs', 'metrics']) discarded({ signal }, 0);
  return (signal, records) => discarded({ signal }, records);
}
