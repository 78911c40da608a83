import { expect, it } from 'vitest';
import { createInTurn } from '../../src/domain/in-turn.ts';

it('work of one name never overlaps, and goes on after a failure', async () => {
  const inTurn = createInTurn();
  const told: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      told.push(`${name} begins`);
      await Promise.resolve();
      told.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const answers = await Promise.allSettled([
    inTurn('a', work('one')),
    inTurn('a', work('two', true)),
    inTurn('a', work('three')),
  ]);
  expect(told).toEqual(['one begins', 'one ends', 'two begins', 'two ends', 'three begins', 'three ends']);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('work of another name does not wait', async () => {
  const inTurn = createInTurn();
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = inTurn('a', () => promise);
  expect(await inTurn('b', async () => 'done')).toBe('done');
  resolve();
  await slow;
});
