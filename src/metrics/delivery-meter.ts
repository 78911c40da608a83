/** Counts deliveries of webhooks. No label names an endpoint: there may be thousands. */

import type { DeliveryMeter } from '../delivery/meter.ts';
import type { Registry } from './registry.ts';

const ATTEMPT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LAG_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200, 43_200];

export function createDeliveryMeter(registry: Registry): DeliveryMeter {
  const attempts = registry.counter({
    name: 'spandrel_webhook_attempts_total',
    help: 'Attempts that ended, tests left out; the reason is a class of statuses or the first word of the error.',
    labels: ['kind', 'outcome', 'reason'],
  });
  const attemptSeconds = registry.histogram({
    name: 'spandrel_webhook_attempt_seconds',
    help: 'From the start of an attempt until its answer or failure.',
    labels: ['kind'],
    bounds: ATTEMPT_BOUNDS,
  });
  const lag = registry.histogram({
    name: 'spandrel_webhook_event_lag_seconds',
    help: 'From the commit of the oldest event of a delivery until its first attempt.',
    bounds: LAG_BOUNDS,
  });
  return {
    attempt({ kind, outcome, reason, seconds }) {
      attempts({ kind, outcome, reason });
      attemptSeconds({ kind }, seconds);
    },
    lag: (seconds) => lag({}, seconds),
    dead: registry.countBy({
      name: 'spandrel_webhook_dead_total',
      help: 'Deliveries that ended as dead letters.',
      label: 'reason',
      values: ['exhausted', 'receiver_gone', 'too_large', 'expired'],
    }),
    disabled: registry.countBy<string>({
      name: 'spandrel_webhook_disabled_total',
      help: 'Endpoints that were disabled because of what their receivers answered.',
      label: 'reason',
      values: ['auto_failures_72h', 'receiver_gone'],
    }),
    test: registry.countBy({
      name: 'spandrel_webhook_tests_total',
      help: 'Test events that were sent.',
      label: 'delivered',
      values: ['true', 'false'],
    }),
    leaseLost: registry.count({
      name: 'spandrel_webhook_lease_lost_total',
      help: 'Deliveries taken over from a sender that was not heard of any more.',
    }),
    staleResult: registry.count({
      name: 'spandrel_webhook_stale_results_total',
      help: 'Results thrown away because the delivery had been taken over.',
    }),
    policyRefusal: registry.count({
      name: 'spandrel_webhook_policy_refusals_total',
      help: 'Attempts that were not made because webhooks may not go to the address.',
    }),
    replayEnqueued: registry.count({
      name: 'spandrel_webhook_replay_enqueued_total',
      help: 'Events that replays put into deliveries.',
    }),
    capped: registry.count({
      name: 'spandrel_webhook_capped_total',
      help: 'Times that a delivery was put off because its organization had used its attempts of the hour.',
    }),
  };
}
