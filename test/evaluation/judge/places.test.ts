import { describe, expect, it } from 'vitest';
import { createPlaces } from '../../../src/evaluation/judge/places.ts';

const never = new AbortController().signal;

function start(placesMax: number) {
  const places = createPlaces({ placesMax, waitingMax: 100 });
  const taken: string[] = [];
  return {
    taken,
    leave: places.leave,
    async take(owner: string): Promise<void> {
      if ((await places.take(owner, never)) === 'taken') taken.push(owner);
    },
    /** What could be begun has begun by then. */
    settle: async () => {
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    },
  };
}

describe('places', () => {
  it('leave one to others, however much one owner wants', async () => {
    const { take, taken, settle } = start(4);
    for (let index = 0; index < 10; index += 1) void take('many');
    await settle();
    expect(taken).toEqual(['many', 'many', 'many']);
    void take('few');
    await settle();
    expect(taken.at(-1)).toBe('few');
  });

  it('that get free go to whoever may have one more, in turns', async () => {
    const { take, taken, leave, settle } = start(3);
    for (const owner of ['many', 'many', 'many', 'few', 'third', 'few']) void take(owner);
    await settle();
    expect(taken).toEqual(['many', 'many', 'few']);
    leave('few');
    await settle();
    // The one who waited first has its share already.
    expect(taken.slice(3)).toEqual(['third']);
    leave('third');
    await settle();
    expect(taken.slice(4)).toEqual(['few']);
    leave('many');
    await settle();
    expect(taken.slice(5)).toEqual(['many']);
  });

  it('are one to everybody where there is only one', async () => {
    const { take, taken, leave, settle } = start(1);
    for (const owner of ['one', 'one', 'other']) void take(owner);
    await settle();
    expect(taken).toEqual(['one']);
    leave('one');
    leave(taken.at(-1) ?? '');
    await settle();
    expect(taken.toSorted()).toEqual(['one', 'one', 'other']);
  });

  it('stay free for a later one when nobody who waits may have them', async () => {
    const { take, taken, leave, settle } = start(2);
    void take('many');
    void take('many');
    await settle();
    expect(taken).toEqual(['many']);
    void take('few');
    await settle();
    leave('few');
    await settle();
    expect(taken).toEqual(['many', 'few']);
    void take('few');
    await settle();
    expect(taken).toEqual(['many', 'few', 'few']);
  });
});
