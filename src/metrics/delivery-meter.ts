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
    ...createEndMeter(registry),
    ...createEngineMeter(registry),
  };
}

function createEndMeter(registry: Registry): Pick<DeliveryMeter, 'dead' | 'disabled' | 'test'> {
  const dead = registry.counter({
    name: 'spandrel_webhook_dead_total',
    help: 'Deliveries that ended as dead letters.',
    labels: ['reason'],
  });
  for (const reason of ['exhausted', 'receiver_gone', 'too_large', 'expired']) dead({ reason }, 0);
  const disabled = registry.counter({
    name: 'spandrel_webhook_disabled_total',
    help: 'Endpoints that were disabled because of what their receivers answered.',
    labels: ['reason'],
  });
  for (const reason of ['auto_failures_72h', 'receiver_gone']) disabled({ reason }, 0);
  const tests = registry.counter({
    name: 'spandrel_webhook_tests_total',
    help: 'Test events that were sent.',
    labels: ['delivered'],
  });
  for (const delivered of ['true', 'false']) tests({ delivered }, 0);
  return {
    dead: (reason, deliveries) => dead({ reason }, deliveries),
    disabled: (reason) => disabled({ reason }),
    test: (delivered) => tests({ delivered: String(delivered) }),
  };
}

function createEngineMeter(
  registry: Registry,
): Pick<DeliveryMeter, 'leaseLost' | 'staleResult' | 'policyRefusal' | 'replayEnqueued' | 'capped'> {
  const leaseLost = registry.counter({
    name: 'spandrel_webhook_lease_lost_total',
    help: 'Deliveries taken over from a sender that was not heard of any more.',
  });
  const stale = registry.counter({
    name: 'spandrel_webhook_stale_results_total',
    help: 'Results thrown away because the delivery had been taken over.',
  });
  const refusals = registry.counter({
    name: 'spandrel_webhook_policy_refusals_total',
    help: 'Attempts that were not made because webhooks may not go to the address.',
  });
  const replayed = registry.counter({
    name: 'spandrel_webhook_replay_enqueued_total',
    help: 'Events that replays put into deliveries.',
  });
  const capped = registry.counter({
    name: 'spandrel_webhook_capped_total',
    help: 'Times that a delivery was put off because its organization had used its attempts of the hour.',
  });
  return {
    leaseLost: () => leaseLost({}),
    staleResult: () => stale({}),
    policyRefusal: () => refusals({}),
    replayEnqueued: (events) => replayed({}, events),
    capped: () => capped({}),
  };
}
