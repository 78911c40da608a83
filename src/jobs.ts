/** What a server does now and then without being asked. */

import type { Config } from './config.ts';
import { createHousekeeping } from './delivery/housekeeping.ts';
import type { Clock } from './domain/clock.ts';
import { sweepRuns } from './domain/experiments/experiments.ts';
import { createRetention } from './domain/retention.ts';
import { createSettling } from './domain/settlement.ts';
import type { Store } from './domain/store.ts';
import { type Schedule, startSchedule, type Wait } from './schedule.ts';

export type JobDeps = {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  /** The clock by which deliveries are judged. */
  readonly deliveryNowMs: () => number;
  readonly onDisabled: (endpointId: string) => void;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  readonly wait: Wait;
};

/** The first requests after a start have everything to themselves. */
const RETENTION_FIRST_DELAY_MS = 10_000;
/** What is past its term is erased within a day, the time that takes included. */
const RETENTION_INTERVAL_MS = 12 * 3_600_000;
const RETENTION_RETRY_DELAY_MS = 10 * 60_000;
const SETTLEMENT_FIRST_DELAY_MAX_MS = 5 * 60_000;
const SETTLEMENT_INTERVAL_MAX_MS = 60_000;
const HOUSEKEEPING_INTERVAL_MS = 60_000;
/** What is worked up from what was stored, so that later reads are fast. */
const INDEX_INTERVAL_MS = 2_000;
const INDEX_RETRY_DELAY_MS = 30_000;
/** After a step, in times of the step itself: the machine has something else to do, too. */
const INDEX_REST_SHARE = 1;

export function startJobs(deps: JobDeps): Schedule {
  const { store } = deps;
  const jobs = [
    scheduleRetention(deps),
    scheduleSettlement(deps),
    scheduleHousekeeping(deps),
    scheduleSteps(deps, () => sweepRuns(store.experiments), {
      failed: 'removing deleted runs failed',
      intervalMs: HOUSEKEEPING_INTERVAL_MS,
    }),
    scheduleSteps(deps, store.searchIndex.step, { failed: 'indexing traces failed' }),
    scheduleSteps(deps, store.spendBlocks.step, { failed: 'putting the log into blocks failed' }),
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

/** Every process looks for requests to settle; each settles once all the same. */
function scheduleSettlement({ store, clock, config, log, wait }: JobDeps): Schedule {
  const graceMs = config.settlementGraceMs;
  const settling = createSettling({ store: store.requests, clock, graceMs });
  const intervalMs = Math.min(SETTLEMENT_INTERVAL_MAX_MS, graceMs);
  return startSchedule({
    firstDelayMs: Math.min(SETTLEMENT_FIRST_DELAY_MAX_MS, graceMs),
    intervalMs,
    retryDelayMs: intervalMs,
    wait,
    async run(signal) {
      const settled = await settling.run(signal);
      if (settled > 0) log.info({ settled }, 'requests without an outcome settled');
    },
    onError: (error) => log.warn({ err: error }, 'settlement failed'),
  });
}

function scheduleHousekeeping({ store, deliveryNowMs, onDisabled, log, wait }: JobDeps): Schedule {
  const housekeeping = createHousekeeping({ store: store.deliveries, nowMs: deliveryNowMs, onDisabled, pause: wait });
  return startSchedule({
    firstDelayMs: HOUSEKEEPING_INTERVAL_MS,
    intervalMs: HOUSEKEEPING_INTERVAL_MS,
    retryDelayMs: HOUSEKEEPING_INTERVAL_MS,
    wait,
    run: (signal) => housekeeping.run(signal),
    onError: (error) => log.warn({ err: error }, 'keeping house among deliveries failed'),
  });
}

/** Every process does its part: they take turns, project by project. */
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
