/** Schedules the background jobs of a server. */

import type { Config } from './config/config.ts';
import { createDeliveryMaintenance } from './delivery/maintenance.ts';
import type { Clock } from './domain/clock.ts';
import { createSettlement } from './domain/events/settlement.ts';
import { removeHiddenRuns } from './domain/experiments/experiments.ts';
import { createRetention } from './domain/retention.ts';
import type { Store } from './domain/store.ts';
import { type Schedule, startSchedule, type Wait } from './schedule.ts';

type JobDeps = {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  /** The clock of deliveries. */
  readonly deliveryNowMs: () => number;
  readonly onDisabled: (endpointId: string) => void;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  readonly wait: Wait;
};

/** Leaves the first seconds after a start to requests. */
const RETENTION_FIRST_DELAY_MS = 10_000;
/** Expired data is erased within a day, including the time that erasing takes. */
const RETENTION_INTERVAL_MS = 12 * 3_600_000;
const RETENTION_RETRY_DELAY_MS = 10 * 60_000;
const SETTLEMENT_FIRST_DELAY_MAX_MS = 5 * 60_000;
const SETTLEMENT_INTERVAL_MAX_MS = 60_000;
const MAINTENANCE_INTERVAL_MS = 60_000;
/** Indexes and blocks, which make later reads fast. */
const INDEX_INTERVAL_MS = 2_000;
const INDEX_RETRY_DELAY_MS = 30_000;
/** The pause after a step, relative to its duration, so that indexing uses at most half a core. */
const INDEX_REST_SHARE = 1;

export function startJobs(deps: JobDeps): Schedule {
  const { store } = deps;
  const jobs = [
    scheduleRetention(deps),
    scheduleSettlement(deps),
    scheduleMaintenance(deps),
    scheduleSteps(deps, () => removeHiddenRuns(store.experiments), {
      failed: 'removing deleted runs failed',
      intervalMs: MAINTENANCE_INTERVAL_MS,
    }),
    scheduleSteps(deps, store.searchIndex.step, { failed: 'indexing traces failed' }),
    scheduleSteps(deps, store.spendBlocks.step, { failed: 'building blocks of the log failed' }),
  ];
  return {
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

function scheduleRetention({ store, clock, config, log, wait }: JobDeps): Schedule {
  const retention = createRetention({
    store: store.retention,
    clock,
    traceDefaultDays: config.traceRetentionDays,
    auditDays: config.auditRetentionDays,
    pause: wait,
  });
  return startSchedule({
    firstDelayMs: RETENTION_FIRST_DELAY_MS,
    intervalMs: RETENTION_INTERVAL_MS,
    retryDelayMs: RETENTION_RETRY_DELAY_MS,
    wait,
    async run(signal) {
      const { outcome, removed } = await retention.run(signal);
      if (Object.values(removed).some((count) => count > 0))
        log.info({ outcome, ...removed }, 'retention removed data');
    },
    onError: (error) => log.warn({ err: error }, 'retention failed'),
  });
}

/** Every process looks for requests to settle; each request is still settled only once. */
function scheduleSettlement({ store, clock, config, log, wait }: JobDeps): Schedule {
  const graceMs = config.settlementGraceMs;
  const settlement = createSettlement({ store: store.requests, clock, graceMs });
  const intervalMs = Math.min(SETTLEMENT_INTERVAL_MAX_MS, graceMs);
  return startSchedule({
    firstDelayMs: Math.min(SETTLEMENT_FIRST_DELAY_MAX_MS, graceMs),
    intervalMs,
    retryDelayMs: intervalMs,
    wait,
    async run(signal) {
      const settled = await settlement.run(signal);
      if (settled > 0) log.info({ settled }, 'requests without an outcome settled');
    },
    onError: (error) => log.warn({ err: error }, 'settlement failed'),
  });
}

function scheduleMaintenance({ store, deliveryNowMs, onDisabled, log, wait }: JobDeps): Schedule {
  const maintenance = createDeliveryMaintenance({
    store: store.deliveries,
    nowMs: deliveryNowMs,
    onDisabled,
    pause: wait,
  });
  return startSchedule({
    firstDelayMs: MAINTENANCE_INTERVAL_MS,
    intervalMs: MAINTENANCE_INTERVAL_MS,
    retryDelayMs: MAINTENANCE_INTERVAL_MS,
    wait,
    run: (signal) => maintenance.run(signal),
    onError: (error) => log.warn({ err: error }, 'maintenance of deliveries failed'),
  });
}

/** Runs in every process; leases keep two of them from building the same block. */
function scheduleSteps(
  { log, wait }: JobDeps,
  step: () => Promise<'more' | 'done'>,
  { failed, intervalMs = INDEX_INTERVAL_MS }: { readonly failed: string; readonly intervalMs?: number },
): Schedule {
  return startSchedule({
    firstDelayMs: intervalMs,
    intervalMs,
    retryDelayMs: INDEX_RETRY_DELAY_MS,
    wait,
    async run(signal) {
      while (!signal.aborted) {
        const startedAtMs = performance.now();
        if ((await step()) === 'done') return;
        await wait((performance.now() - startedAtMs) * INDEX_REST_SHARE, signal);
      }
    },
    onError: (error) => log.warn({ err: error }, failed),
  });
}
