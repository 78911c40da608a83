import { expect, it } from 'vitest';
import type { BudgetBucket } from '../../src/domain/gateway/budget-demands.ts';
import { createBudgetLevels } from '../../src/gateway/budget-levels.ts';
import { bucketOf } from '../domain/gateway/lease-model.ts';

function open(spentNanoUsd: number) {
  let now = 0;
  let reads = 0;
  let answer: () => Promise<number> = async () => spentNanoUsd;
  const ledger = {
    async sums(_: number, periods: readonly unknown[]) {
      reads += 1;
      const spent = await answer();
      return periods.map(() => ({ spentNanoUsd: BigInt(spent), leasedNanoUsd: 0n }));
    },
  };
  const levels = createBudgetLevels({ ledger, nowMs: () => now });
  return {
    warningOf: (...buckets: readonly BudgetBucket[]) => levels.warningOf(1, buckets),
    reads: () => reads,
    pass: (ms: number) => {
      now += ms;
    },
    answerWith: (next: () => Promise<number>) => {
      answer = next;
    },
  };
}

const BUCKET = bucketOf('budget_1', { limitNanoUsd: 1000 });

it('the first request is warned of a budget that was spent before, and concurrent ones share a read', async () => {
  const { warningOf, reads } = open(905);
  const warnings = await Promise.all([warningOf(BUCKET), warningOf(BUCKET)]);
  expect([warnings, reads()]).toEqual([['virtual_key:90', 'virtual_key:90'], 1]);
});

it('the warning is of the present limit', async () => {
  const { warningOf } = open(900);
  expect(await warningOf(BUCKET)).toBe('virtual_key:90');
  expect(await warningOf(bucketOf('budget_1', { limitNanoUsd: 2000 }))).toBe('');
  expect(await warningOf(bucketOf('budget_1', { limitNanoUsd: 500 }))).toBe('virtual_key:180');
});

it('a level of some seconds is told while it is read anew, and an older one is waited for', async () => {
  const { warningOf, reads, pass, answerWith } = open(800);
  expect(await warningOf(BUCKET)).toBe('virtual_key:80');
  pass(2_001);
  const { promise, resolve } = Promise.withResolvers<number>();
  answerWith(() => promise);
  expect([await warningOf(BUCKET), reads()]).toEqual(['virtual_key:80', 2]);
  pass(8_000);
  const waiting = warningOf(BUCKET);
  resolve(850);
  expect([await waiting, reads()]).toEqual(['virtual_key:85', 2]);
});

it('nothing is told of what cannot be read, nor of budgets for each end user', async () => {
  const { warningOf, reads, pass, answerWith } = open(900);
  expect([await warningOf({ ...BUCKET, subject: 'tom' }), reads()]).toEqual(['', 0]);
  expect(await warningOf(BUCKET)).toBe('virtual_key:90');
  pass(10_001);
  answerWith(async () => {
    throw new Error('away');
  });
  expect(await warningOf(BUCKET)).toBe('');
});
