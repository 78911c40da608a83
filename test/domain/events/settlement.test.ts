import { expect, it } from 'vitest';
import type { Settled, Settlement } from '../../../src/domain/events/request-report.ts';
import { createSettlement } from '../../../src/domain/events/settlement.ts';

function createFixture(answers: readonly Settled[]) {
  const settlements: Settlement[] = [];
  const left = [...answers];
  const settlement = createSettlement({
    clock: () => 1_000_000,
    graceMs: 1000,
    store: {
      async settle(settlement) {
        settlements.push(settlement);
        return left.shift() ?? { count: 0, hasMore: false };
      },
    },
  });
  return { settlement, settlements };
}

it('settles in commits of 500 until nothing is overdue', async () => {
  const { settlement, settlements } = createFixture([
    { count: 500, hasMore: true },
    { count: 499, hasMore: true },
    { count: 3, hasMore: false },
  ]);
  expect(await settlement.run(new AbortController().signal)).toBe(1002);
  const question = { kind: 'settlement', admittedByMs: 999_000, countMax: 500 };
  expect(settlements).toEqual([question, question, question]);
});

it('leaves to others what they have settled meanwhile', async () => {
  const { settlement, settlements } = createFixture([{ count: 0, hasMore: true }]);
  expect(await settlement.run(new AbortController().signal)).toBe(0);
  expect(settlements).toHaveLength(1);
});

it('stops between two commits when its signal aborts', async () => {
  const { settlement, settlements } = createFixture([{ count: 500, hasMore: true }]);
  expect(await settlement.run(AbortSignal.abort())).toBe(0);
  expect(settlements).toEqual([]);
});
