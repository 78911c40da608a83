/** Counts what triggers do. */

import type { Registry } from './registry.ts';

export type TriggerMeter = ReturnType<typeof createTriggerMeter>;

export function createTriggerMeter(registry: Registry) {
  const evaluated = registry.countBy({
    name: 'spandrel_trigger_evaluations_total',
    help: 'Evaluations of metrics by triggers, by what they found.',
    label: 'found',
    values: ['value', 'no_data', 'refused'],
  });
  const fired = registry.count({
    name: 'spandrel_trigger_traces_total',
    help: 'Traces that triggers have fired for, each counted once for each trigger.',
  });
  const untested = registry.count({
    name: 'spandrel_trigger_traces_untested_total',
    help: 'Traces that were given up, because testing triggers on them failed again and again.',
  });
  const notified = registry.counter({
    name: 'spandrel_trigger_notifications_total',
    help: 'Attempts to carry out what triggers ask for, by the action and what came of it.',
    labels: ['action', 'outcome'],
  });
  return {
    evaluated: (found: 'value' | 'no_data' | 'refused'): void => evaluated(found),
    fired: (count: number): void => fired(count),
    untested: (): void => untested(1),
    notified: (action: string, outcome: 'sent' | 'retried' | 'failed'): void => notified({ action, outcome }),
  };
}
