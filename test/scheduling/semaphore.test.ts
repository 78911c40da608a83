import { describe, expect, it } from 'vitest';
import { allButOne, createSemaphore } from '../../src/scheduling/semaphore.ts';

const never = new AbortController().signal;

function start(permitsMax: number) {
  const semaphore = createSemaphore<string>({ permitsMax, ofOwnerMax: allButOne(permitsMax), waitingMax: 100 });
  const acquired: string[] = [];
  return {
    acquired,
    release: semaphore.release,
    async acquire(owner: string): Promise<void> {
      if ((await semaphore.acquire(owner, never)) === 'acquired') acquired.push(owner);
    },
    /** Lets everything start that can. */
    settle: async () => {
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    },
  };
}

describe('a semaphore', () => {
  it('leaves one permit to others, however much one owner wants', async () => {
    const { acquire, acquired, settle } = start(4);
    for (let index = 0; index < 10; index += 1) void acquire('many');
    await settle();
    expect(acquired).toEqual(['many', 'many', 'many']);
    void acquire('few');
    await settle();
    expect(acquired.at(-1)).toBe('few');
  });

  it('gives freed permits in turns to owners that may have one more', async () => {
    const { acquire, acquired, release, settle } = start(3);
    for (const owner of ['many', 'many', 'many', 'few', 'third', 'few']) void acquire(owner);
    await settle();
    expect(acquired).toEqual(['many', 'many', 'few']);
    release('few');
    await settle();
    // The one who waited first has its share already.
    expect(acquired.slice(3)).toEqual(['third']);
    release('third');
    await settle();
    expect(acquired.slice(4)).toEqual(['few']);
    release('many');
    await settle();
    expect(acquired.slice(5)).toEqual(['many']);
  });

  it('gives its only permit to any owner', async () => {
    const { acquire, acquired, release, settle } = start(1);
    for (const owner of ['one', 'one', 'other']) void acquire(owner);
    await settle();
    expect(acquired).toEqual(['one']);
    release('one');
    release(acquired.at(-1) ?? '');
    await settle();
    expect(acquired.toSorted()).toEqual(['one', 'one', 'other']);
  });

  it('keeps permits free when no waiting owner may have one', async () => {
    const { acquire, acquired, release, settle } = start(2);
    void acquire('many');
    void acquire('many');
    await settle();
    expect(acquired).toEqual(['many']);
    void acquire('few');
    await settle();
    release('few');
    await settle();
    expect(acquired).toEqual(['many', 'few']);
    void acquire('few');
    await settle();
    expect(acquired).toEqual(['many', 'few', 'few']);
  });
});
