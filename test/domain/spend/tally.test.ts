import { expect, it } from 'vitest';
import { type GroupHash, keyedGroupHash } from '../../../src/domain/group-parts.ts';
import { AT, addValue } from '../../../src/domain/spend/exact-sums.ts';
import type { SpendOrder } from '../../../src/domain/spend/spend-store.ts';
import { createSpendTally } from '../../../src/domain/spend/tally.ts';
import { runWithoutPauses } from '../../../src/domain/steps.ts';

const QUERY = { after: null, limit: 10, order: 'cost' as SpendOrder };
const PASSES_MAX = 200;

/** User n has a request that costs n. */
function sumUp({ groupsMax, hashOf = keyedGroupHash('key') }: { groupsMax?: number; hashOf?: GroupHash }) {
  const tally = createSpendTally(QUERY, hashOf, groupsMax);
  let passes = 0;
  while (tally.beginPass()) {
    passes += 1;
    if (passes > PASSES_MAX) throw new Error('it has no end');
    for (let user = 1; user <= 40; user += 1) {
      for (const sums of [tally.total(), tally.sumsOf(`user ${user}`)]) {
        if (sums === null) continue;
        addValue(sums, AT.requests, 1);
        addValue(sums, AT.costNanoUsd, user);
      }
    }
    runWithoutPauses(tally.endPass());
  }
  return { passes, answer: tally.answer() };
}

it('sums up the same whether there is room for all groups or for a few at a time', () => {
  const whole = sumUp({});
  expect(whole.passes).toBe(1);
  expect(whole.answer).toMatchObject({ kind: 'groups', total: { requests: 40n, costNanoUsd: 820n } });
  if (whole.answer.kind !== 'groups') throw new Error('there was room');
  expect(whole.answer.groups.map(({ group }) => group)).toEqual(
    Array.from({ length: 10 }, (_, index) => `user ${40 - index}`),
  );
  const few = sumUp({ groupsMax: 5 });
  expect(few.passes).toBeGreaterThan(1);
  expect(few.answer).toEqual(whole.answer);
});

it('comes to an end with groups that stay together however they are parted', () => {
  expect(sumUp({ groupsMax: 5, hashOf: () => 7 }).answer).toEqual({ kind: 'too_long' });
});

it('parts groups by a key that names cannot be chosen for', () => {
  const names = Array.from({ length: 100 }, (_, index) => `user ${index}`);
  const parted = (key: string) => names.map((name) => keyedGroupHash(key)(name) % 2);
  expect(parted('one')).not.toEqual(parted('other'));
});
