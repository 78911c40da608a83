/** How much of budgets is spent, roughly and in memory, for the warning that callers get. */

import type { BudgetLedger, BudgetPeriod } from '../domain/budgets/budget-store.ts';
import type { BudgetBucket } from '../domain/gateway/budget-demands.ts';

type LevelsDeps = {
  readonly ledger: BudgetLedger;
  readonly nowMs: () => number;
};

type Level = { readonly spentNanoUsd: bigint; readonly readAtMs: number };

const WARNING_PERCENT = 80;
/** An older level is read anew, but still told. */
const FRESH_MS = 2_000;
/** An older level is told no more. */
const TOLD_MS = 10_000;
const LEVELS_MAX = 10_000;
const WAIT_MAX_MS = 250;

export function createBudgetLevels({ ledger, nowMs }: LevelsDeps) {
  const levels = new Map<string, Level>();
  /** The reads under way, by bucket. */
  const reading = new Map<string, Promise<void>>();

  async function read(organizationNumber: number, buckets: readonly BudgetBucket[]): Promise<void> {
    const periods: BudgetPeriod[] = buckets.map(({ budgetId, periodStartedAtMs }) => ({ budgetId, periodStartedAtMs }));
    const sums = await ledger.sums(organizationNumber, periods);
    if (levels.size + buckets.length > LEVELS_MAX) levels.clear();
    for (const [index, { spentNanoUsd }] of sums.entries()) {
      const bucket = buckets[index];
      if (bucket !== undefined) levels.set(nameOf(bucket), { spentNanoUsd, readAtMs: nowMs() });
    }
  }

  /** Never rejects: a level that cannot be read now is read with a later request. */
  function beginToRead(organizationNumber: number, buckets: readonly BudgetBucket[]): void {
    const ends = read(organizationNumber, buckets)
      .catch(() => undefined)
      .finally(() => {
        for (const bucket of buckets) reading.delete(nameOf(bucket));
      });
    for (const bucket of buckets) reading.set(nameOf(bucket), ends);
  }

  function levelOf(bucket: BudgetBucket, maxAgeMs: number): Level | undefined {
    const level = levels.get(nameOf(bucket));
    return level !== undefined && nowMs() - level.readAtMs <= maxAgeMs ? level : undefined;
  }

  function warningsOf(bucket: BudgetBucket): readonly string[] {
    const { scope, limitNanoUsd } = bucket.budget;
    const spentNanoUsd = Number(levelOf(bucket, TOLD_MS)?.spentNanoUsd ?? 0n);
    const percent = Math.floor((100 * spentNanoUsd) / limitNanoUsd);
    return percent >= WARNING_PERCENT ? [`${scope.kind}:${percent}`] : [];
  }

  return {
    /**
     * "<scope>:<percent>" of each budget of which 80 % or more are spent, as of the last ten seconds and of its present limit;
     * '' without any. Waits for levels that are unknown or older; those of two seconds are read anew meanwhile. Budgets for
     * each end user are left out: only their sum is known.
     */
    async warningOf(organizationNumber: number, all: readonly BudgetBucket[]): Promise<string> {
      const buckets = all.filter(({ subject }) => subject === '');
      const old = buckets.filter((bucket) => levelOf(bucket, FRESH_MS) === undefined && !reading.has(nameOf(bucket)));
      if (old.length > 0) beginToRead(organizationNumber, old);
      const unknown = buckets.filter((bucket) => levelOf(bucket, TOLD_MS) === undefined);
      const reads = unknown.map((bucket) => reading.get(nameOf(bucket)));
      // An answer never waits long for its warning.
      if (reads.length > 0) await Promise.race([Promise.all(reads), passed(WAIT_MAX_MS)]);
      return buckets.flatMap(warningsOf).join(', ');
    },
  };
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

function nameOf({ organizationNumber, budgetId, periodStartedAtMs }: BudgetBucket): string {
  return `${organizationNumber} ${budgetId} ${periodStartedAtMs}`;
}
