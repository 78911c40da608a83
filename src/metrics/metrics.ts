/** The metrics that GET /metrics serves. */

import type { SocketCounts } from '../delivery/meter.ts';
import type { Clock } from '../domain/clock.ts';
import type { RetentionClock } from '../domain/management/retention-clock.ts';
import type { Store } from '../domain/store.ts';
import { shareRead } from '../transport/shared-read.ts';
import { createCallMeter, createConnectionMeter, createLossMeter, createOtlpMeter } from './call-meter.ts';
import { registerDatabase } from './database.ts';
import { createDeliveryMeter } from './delivery-meter.ts';
import { createEvaluationMeter } from './evaluation-meter.ts';
import { meterStore } from './metered-store.ts';
import {
  type Build,
  type ResourceUsage,
  registerBuild,
  registerProcess,
  registerUsage,
  watchEventLoop,
} from './process.ts';
import { createRegistry, type Registry } from './registry.ts';
import { createRequestMeter } from './request-meter.ts';
import { createTriggerMeter } from './trigger-meter.ts';

type MetricsDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  /** Delivery attempts of this process that are running. */
  readonly inFlight: () => number;
  /** What the requests of this process use. */
  readonly held: () => ResourceUsage;
  /** Sockets of this process to receivers, by the kind of destination. */
  readonly openSockets: () => { readonly [kind: string]: SocketCounts };
  readonly retentionClock: Pick<RetentionClock, 'heldMs' | 'logResets' | 'nowMs'>;
  readonly build: Build;
  /** Files and connections that this process may open. */
  readonly openFilesMax: number;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export function createMetrics(deps: MetricsDeps) {
  const registry = createRegistry();
  const meters = {
    requests: createRequestMeter(registry),
    deliveries: createDeliveryMeter(registry),
    connections: createConnectionMeter(registry),
    calls: createCallMeter(registry),
    evaluations: createEvaluationMeter(registry),
    triggers: createTriggerMeter(registry),
    otlpDiscarded: createOtlpMeter(registry),
    losses: createLossMeter(registry),
    spans: registry.countBy({
      name: 'spandrel_otel_spans_total',
      help: 'Spans of the server itself, by what became of them; those recorded and neither exported nor failed wait, or had no room.',
      label: 'result',
      values: ['recorded', 'exported', 'failed'],
    }),
  };
  registerBuild(registry, deps.build);
  registerStore(registry, deps);
  registerDatabase(registry, deps);
  registerDeliveries(registry, deps);
  registerEvaluations(registry, deps);
  registerProcess(registry, deps.openFilesMax);
  registerUsage(registry, deps.held);
  return {
    ...meters,
    /** The given store, wrapped to count its operations. */
    store: meterStore(deps.store, { ...meters, monotonicMs: deps.monotonicMs }),
    /** The text of the page. */
    text: registry.text,
    /** Stops the periodic measurements. */
    stop: watchEventLoop(registry).stop,
  };
}

/** The read looks at every project. */
const LATE_FRESH_MS = 60_000;

function registerStore(registry: Registry, { store, clock, monotonicMs, retentionClock }: MetricsDeps): void {
  registry.gauge({
    name: 'spandrel_retention_clock_ahead_seconds',
    help: 'How far the clock is ahead of what is stored while nothing is deleted by age because of it; else 0.',
    read: () => retentionClock.heldMs() / 1000,
  });
  registry.total({
    name: 'spandrel_log_resets_total',
    help: 'Times that a log ended more than a minute ahead of the clock and went back to it; of the whole database.',
    read: retentionClock.logResets,
  });
  const readOldest = shareRead(store.requests.oldestAdmittedAtMs, monotonicMs);
  registry.gauge({
    name: 'spandrel_settlement_oldest_seconds',
    help: 'For how long the oldest admitted request has waited for its outcome; of the whole database.',
    read: async () => age(await readOldest(), clock()),
  });
  registry.gauge({
    name: 'spandrel_search_unindexed_traces',
    help: 'Traces that are new or have changed since they were indexed; of the whole database.',
    read: shareRead(store.search.countUnindexed, monotonicMs),
  });
  const late = store.upkeep.flatMap(({ name: work, lateMs }) =>
    lateMs === undefined ? [] : [{ work, read: shareRead(lateMs, monotonicMs, { freshMs: LATE_FRESH_MS }) }],
  );
  if (late.length > 0) {
    registry.gauge({
      name: 'spandrel_upkeep_late_seconds',
      help: 'For how long what waits longest for work in the background has been due; of the whole database.',
      read: () => Promise.all(late.map(async ({ work, read }) => ({ labels: { work }, value: (await read()) / 1000 }))),
    });
  }
  const readBackfills = shareRead(store.backfills.list, monotonicMs);
  registry.gauge({
    name: 'spandrel_backfill_rows',
    help: 'Rows that a backfill after an upgrade has looked at; of the whole database.',
    read: async () => (await readBackfills()).map(({ name, rowsDone }) => ({ labels: { name }, value: rowsDone })),
  });
  registry.gauge({
    name: 'spandrel_backfills_unfinished',
    help: 'Backfills that have not ended yet; of the whole database.',
    read: async () => (await readBackfills()).filter(({ finishedAtMs }) => finishedAtMs === null).length,
  });
}

function registerDeliveries(
  registry: Registry,
  { store, clock, inFlight, openSockets, monotonicMs }: MetricsDeps,
): void {
  const read = shareRead(store.deliveries.counts, monotonicMs);
  const byLabel = (label: string, values: Readonly<Record<string, number>>) =>
    Object.entries(values).map(([word, value]) => ({ labels: { [label]: word }, value }));
  registry.gauge({
    name: 'spandrel_webhook_deliveries',
    help: 'Deliveries that wait, are being sent, or are dead and still kept; of the whole database.',
    read: async () => byLabel('state', (await read()).deliveries),
  });
  registry.gauge({
    name: 'spandrel_webhook_outbox_rows',
    help: 'Events that active endpoints have not got into a delivery yet; of the whole database.',
    read: async () => (await read()).outboxEvents,
  });
  registry.gauge({
    name: 'spandrel_webhook_oldest_undelivered_seconds',
    help: 'Age of the oldest event that an active endpoint has not taken yet; of the whole database.',
    read: async () => age((await read()).oldestUndeliveredAtMs, clock()),
  });
  registry.gauge({
    name: 'spandrel_webhook_endpoints',
    help: 'Endpoints; of the whole database.',
    read: async () => byLabel('status', (await read()).endpoints),
  });
  registry.gauge({
    name: 'spandrel_webhook_in_flight',
    help: 'Attempts of this process that are under way.',
    read: inFlight,
  });
  registry.gauge({
    name: 'spandrel_webhook_sockets',
    help: 'Open sockets of this process to receivers, idle ones included.',
    read: () =>
      Object.entries(openSockets()).flatMap(([kind, { inUse, idle }]) => [
        { labels: { kind, state: 'in_use' }, value: inUse },
        { labels: { kind, state: 'idle' }, value: idle },
      ]),
  });
}

/** Rows of the backlog are counted up to this depth: counting more would take long. */
const DEPTH_MAX = 100_000;

function registerEvaluations(registry: Registry, { store, clock, monotonicMs }: MetricsDeps): void {
  const read = shareRead(() => store.evaluationJobs.counts(DEPTH_MAX), monotonicMs);
  registry.gauge({
    name: 'spandrel_evaluation_queue_depth',
    help: 'Evaluations that wait or are being made, at most 100000; of the whole database.',
    read: async () => (await read()).depth,
  });
  registry.gauge({
    name: 'spandrel_evaluation_oldest_due_seconds',
    help: 'For how long the evaluation has been due that is due longest; of the whole database.',
    read: async () => age((await read()).oldestDueAtMs, clock()),
  });
  registry.total({
    name: 'spandrel_evaluation_traces_refused_total',
    help: 'Traces that were stored without being evaluated, because too many of their project waited; of this process.',
    read: async () => (await read()).refused,
  });
}

/** Seconds since an instant; 0 where nothing waits. */
function age(sinceMs: number | null, nowMs: number): number {
  return sinceMs === null ? 0 : Math.max(0, nowMs - sinceMs) / 1000;
}
