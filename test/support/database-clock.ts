import type { Store } from '../../src/domain/store.ts';

/** A store whose work goes by the clock of the app: PostgreSQL has a clock of its own, which a test cannot set. */
export function ignoreDatabaseClock(store: Store): Store {
  return {
    ...store,
    deliveries: { ...store.deliveries, nowMs: async () => null },
    evaluationJobs: { ...store.evaluationJobs, nowMs: async () => null },
    clock: { ...store.clock, nowMs: async () => null },
  };
}
