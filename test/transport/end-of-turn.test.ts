import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { collectUntilEndOfTurn } from '../../src/transport/end-of-turn.ts';

it('what is collected in one turn of the loop runs together at its end, in order', async () => {
  const seen: string[] = [];
  const collect = collectUntilEndOfTurn((item: string) => seen.push(item));
  collect('a');
  process.nextTick(() => collect('b'));
  Promise.resolve().then(() => collect('c'));
  await null;
  expect(seen).toEqual([]);
  await turn();
  expect(seen.toSorted()).toEqual(['a', 'b', 'c']);
  expect(seen[0]).toBe('a');
});

it('what is collected meanwhile waits for the next turn', async () => {
  const seen: number[] = [];
  const collect = collectUntilEndOfTurn((item: number) => {
    seen.push(item);
    if (item < 3) collect(item + 1);
  });
  for (let expected = 1; expected <= 3; expected += 1) {
    if (expected === 1) collect(1);
    await turn();
    expect(seen).toHaveLength(expected);
  }
});
