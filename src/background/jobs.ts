/** Schedules the background jobs of a server. */

import type { Deps } from '../app/deps.ts';
import { maintainDeliveries } from '../delivery/maintenance.ts';
import { createSettlement } from '../domain/events/settlement.ts';
import { removeHiddenRuns } from '../domain/experiments/experiments.ts';
import { TAKEN_BACK_MS } from '../domain/gateway/lease-store.ts';
import { createBackfills } from '../domain/management/backfill.ts';
import type { RetentionClock } from '../domain/management/retention-clock.ts';
import type { PriceResolver } from '../domain/pricing/prices.ts';
import { createShareBackfill } from '../domain/pricing/share-backfill.ts';
import { createErasure, createRetention } from '../domain/retention.ts';
import { type Loop, type ScheduleOptions, startSchedule, type Wait } from '../scheduling/schedule.ts';

type JobDeps = Pick<Deps, 'config' | 'store' | 'clock' | 'log'> & {
  readonly prices: PriceResolver;
  readonly retentionClock: RetentionClock;
  /** The clock of deliveries. */
  readonly deliveryNowMs: () => number;
  readonly onDisabled: (endpointId: string) => void;
  readonly wait: Wait;
};

/** Leaves the first seconds after a start to requests. */
const RETENTION_FIRST_DELAY_MS = 10_000;
/** Expired data is erased within a day, including the time that erasing takes. */
const RETENTION_INTERVAL_MS = 12 * 3_600_000;
const RETENTION_RETRY_DELAY_MS = 10 * 60_000;
const ERASURE_INTERVAL_MS = 60_000;
/** Between two turns of one erasure. */
const ERASURE_REST_MS = 1_000;
const SETTLEMENT_FIRST_DELAY_MAX_MS = 5 * 60_000;
const SETTLEMENT_INTERVAL_MAX_MS = 60_000;
const MAINTENANCE_FIRST_DELAY_MS = 1_000;
const MAINTENANCE_INTERVAL_MS = 60_000;
const CLOCK_INTERVAL_MS = 60_000;
const LEASE_INTERVAL_MS = 10_000;
/** Indexes and blocks, which make later reads fast. */
const INDEX_INTERVAL_MS = 2_000;
const INDEX_RETRY_DELAY_MS = 30_000;
/** The pause after a step, relative to its duration: other reads in its thread have their turn. */
const INDEX_REST_SHARE = 0.25;

/** `failed`: the log line for a run that failed. */
type Job = Omit<ScheduleOptions, 'wait' | 'onError'> & { readonly failed: string };

/** The only job of a process that is a gateway alone. */
export function startClockJob(deps: Pick<JobDeps, 'retentionClock' | 'wait' | 'log'>): Pick<Loop, 'stop'> {
  return startJob(deps, createClockJob(deps));
}

export function startJobs(deps: JobDeps): Pick<Loop, 'stop'> {
  const { store } = deps;
  const jobs = [
    createClockJob(deps),
    createRetentionJob(deps),
    createErasureJob(deps),
    createSettlementJob(deps),
    createMaintenanceJob(deps),
    createJobCorrection(deps),
    createLeaseJob(deps),
    createStepJob(deps, () => removeHiddenRuns(store.experiments), {
      failed: 'removing deleted runs failed',
      intervalMs: MAINTENANCE_INTERVAL_MS,
    }),
    ...store.upkeep.map(({ name, step }) => createStepJob(deps, step, { failed: `${name} failed` })),
    createStepJob(
      deps,
      createBackfills({
        ...deps,
        store: store.backfills,
        rewrites: { 'trace-shares': createShareBackfill({ ...deps, store: store.measuring }) },
      }).step,
      { failed: 'a backfill failed' },
    ),
  ];
  const schedules = jobs.map((job) => startJob(deps, job));
  return {
    async stop() {
      await Promise.all(schedules.map((schedule) => schedule.stop()));
    },
  };
}

function startJob({ wait, log }: Pick<JobDeps, 'wait' | 'log'>, { failed, ...job }: Job): Pick<Loop, 'stop'> {
  return startSchedule({ ...job, wait, onError: (error) => log.warn({ err: error }, failed) });
}

function createRetentionJob({ store, retentionClock: clock, config, log, wait }: JobDeps): Job {
  const retention = createRetention({
    store,
    clock,
    traceDefaultDays: config.traceRetentionDays,
    auditDays: config.auditRetentionDays,
    pause: wait,
  });
  return {
    firstDelayMs: RETENTION_FIRST_DELAY_MS,
    intervalMs: RETENTION_INTERVAL_MS,
    retryDelayMs: RETENTION_RETRY_DELAY_MS,
    async run(signal) {
      const { outcome, removed } = await retention.run(signal);
      if (Object.values(removed).some((count) => count > 0))
        log.info({ outcome, ...removed }, 'retention removed data');
    },
    failed: 'retention failed',
  };
}

/** Of traces that were deleted one by one; a deletion by search erases before it has completed. */
function createErasureJob({ store, wait }: JobDeps): Job {
  const erase = createErasure({ store: store.telemetryRetention, pause: wait });
  return {
    firstDelayMs: ERASURE_INTERVAL_MS,
    intervalMs: ERASURE_INTERVAL_MS,
    retryDelayMs: ERASURE_INTERVAL_MS,
    async run(signal) {
      while (!signal.aborted && (await erase(signal)) === 'more') await wait(ERASURE_REST_MS, signal);
    },
    failed: 'erasing removed traces failed',
  };
}

function createClockJob({ retentionClock }: Pick<JobDeps, 'retentionClock'>): Job {
  const intervalMs = CLOCK_INTERVAL_MS;
  return {
    firstDelayMs: intervalMs,
    intervalMs,
    retryDelayMs: intervalMs,
    run: () => retentionClock.check(),
    failed: 'the clock could not be compared with what is stored',
  };
}

/** Every process looks for requests to settle; each request is still settled only once. */
function createSettlementJob({ store, clock, config, log }: JobDeps): Job {
  const graceMs = config.settlementGraceMs;
  const settlement = createSettlement({ store: store.requests, clock, graceMs });
  const intervalMs = Math.min(SETTLEMENT_INTERVAL_MAX_MS, graceMs);
  return {
    firstDelayMs: Math.min(SETTLEMENT_FIRST_DELAY_MAX_MS, graceMs),
    intervalMs,
    retryDelayMs: intervalMs,
    async run(signal) {
      const settled = await settlement.run(signal);
      if (settled > 0) log.info({ settled }, 'requests without an outcome settled');
    },
    failed: 'settlement failed',
  };
}

function createMaintenanceJob(deps: JobDeps): Job {
  const { store, deliveryNowMs: nowMs, retentionClock, onDisabled, wait: pause } = deps;
  const intervalMs = MAINTENANCE_INTERVAL_MS;
  const maintaining = { store: store.deliveries, nowMs, retentionNowMs: retentionClock.nowMs, onDisabled, pause };
  return {
    // Soon: retries that a wrong clock put off wait for it.
    firstDelayMs: MAINTENANCE_FIRST_DELAY_MS,
    intervalMs,
    retryDelayMs: intervalMs,
    run: (signal) => maintainDeliveries(maintaining, signal),
    failed: 'maintenance of deliveries failed',
  };
}

/** Jobs and triggers that a wrong clock put off wait for it. */
function createJobCorrection({ store, deliveryNowMs }: JobDeps): Job {
  return {
    firstDelayMs: MAINTENANCE_FIRST_DELAY_MS,
    intervalMs: MAINTENANCE_INTERVAL_MS,
    retryDelayMs: MAINTENANCE_INTERVAL_MS,
    async run() {
      await store.evaluationJobs.correctDue(deliveryNowMs());
      await store.triggers.correctDue(deliveryNowMs());
    },
    failed: 'maintenance of evaluation jobs and triggers failed',
  };
}

/** Every process takes back what processes that were killed had leased of budgets. */
function createLeaseJob({ store }: JobDeps): Job {
  return {
    firstDelayMs: LEASE_INTERVAL_MS,
    intervalMs: LEASE_INTERVAL_MS,
    retryDelayMs: LEASE_INTERVAL_MS,
    async run(signal) {
      while (!signal.aborted && (await store.leases.takeBack(TAKEN_BACK_MS)) > 0);
    },
    failed: 'taking back leases of budgets failed',
  };
}

/** Runs in every process; leases keep two of them from building the same block. */
function createStepJob(
  { wait }: JobDeps,
  step: () => Promise<'more' | 'done'>,
  { failed, intervalMs = INDEX_INTERVAL_MS }: { readonly failed: string; readonly intervalMs?: number },
): Job {
  return {
    firstDelayMs: intervalMs,
    intervalMs,
    retryDelayMs: INDEX_RETRY_DELAY_MS,
    async run(signal) {
      while (!signal.aborted) {
        const startedAtMs = performance.now();
        if ((await step()) === 'done') return;
        await wait((performance.now() - startedAtMs) * INDEX_REST_SHARE, signal);
      }
    },
    failed,
  };
}
