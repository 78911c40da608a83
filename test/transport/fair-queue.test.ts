import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../src/transport/fair-queue.ts';
import { createYieldToEventLoop } from '../../src/transport/yield-to-event-loop.ts';

describe('requests that arrive together', () => {
  it('are started in turn, even when one caller sent more', async () => {
    const queue = createFairQueue(() => 0);
    const begun: string[] = [];
    const add = (caller: string, name: string) => queue.add(caller, () => begun.push(name));
    for (const name of ['a1', 'a2', 'a3', 'a4']) add('a', name);
    add('b', 'b1');
    await turn();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it('begin when the effects of the previous one have ended', async () => {
    const queue = createFairQueue(() => 0);
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      queue.add('caller', async () => {
        seen.push(`${name} begins`);
        await null;
        await null;
        seen.push(`${name} goes on`);
      });
    }
    await turn();
    await turn();
    expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} goes on`]));
  });

  it('yield the event loop after their time slice', async () => {
    let nowMs = 0;
    const queue = createFairQueue(() => nowMs);
    let begun = 0;
    for (let count = 0; count < 10; count += 1) {
      queue.add('caller', () => {
        begun += 1;
        nowMs += 4;
      });
    }
    const seen: number[] = [];
    while (begun < 10 && seen.length < 100) {
      seen.push(begun);
      await turn();
    }
    // Two per turn, because a third would begin too late; a sample may span two turns.
    expect(seen.slice(1).every((count, index) => count - (seen[index] ?? 0) <= 3)).toBe(true);
    expect(begun).toBe(10);
  });
});

it('turns of the loop are given to one at a time, in order', async () => {
  const yieldToEventLoop = createYieldToEventLoop();
  const seen: string[] = [];
  const waiting = ['a', 'b', 'c'].map((name) => yieldToEventLoop().then(() => seen.push(name)));
  let turns = 0;
  while (seen.length < 3 && turns < 10) {
    await turn();
    turns += 1;
    expect(seen.length).toBeLessThanOrEqual(turns);
  }
  await Promise.all(waiting);
  expect(seen).toEqual(['a', 'b', 'c']);
});
