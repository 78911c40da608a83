import { expect, it } from 'vitest';
import { createKeyedMutex } from '../../src/scheduling/keyed-mutex.ts';

it('work under one key never overlaps, and continues after a failure', async () => {
  const mutex = createKeyedMutex();
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const answers = await Promise.allSettled([
    mutex.run('a', work('one')),
    mutex.run('a', work('two', true)),
    mutex.run('a', work('three')),
  ]);
  expect(log).toEqual(['one begins', 'one ends', 'two begins', 'two ends', 'three begins', 'three ends']);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('work of another name does not wait', async () => {
  const mutex = createKeyedMutex();
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = mutex.run('a', () => promise);
  expect(await mutex.run('b', async () => 'done')).toBe('done');
  resolve();
  await slow;
});
