import { describe, expect, it } from 'vitest';
import { createBreakers } from '../../../src/domain/gateway/breaker.ts';

function start({ providersMax = 100 } = {}) {
  let nowMs = 1_000_000;
  const breakers = createBreakers({ nowMs: () => nowMs, providersMax });
  return {
    ...breakers,
    pass: (ms: number) => {
      nowMs += ms;
    },
    fail(times: number, providerId = 'a') {
      for (let count = 0; count < times; count += 1) breakers.noteFailure(providerId);
    },
  };
}

describe('a circuit breaker', () => {
  it('opens for a minute with the tenth failure in thirty seconds, for its provider alone', () => {
    const { mayTry, waitMsOf, pass, fail } = start();
    fail(9);
    expect([mayTry('a'), waitMsOf('a')]).toEqual([true, 0]);
    fail(1);
    expect([mayTry('a'), waitMsOf('a'), mayTry('b')]).toEqual([false, 60_000, true]);
    pass(59_999);
    expect([mayTry('a'), waitMsOf('a')]).toEqual([false, 1]);
    pass(1);
    expect(mayTry('a')).toBe(true);
  });

  it('forgets failures after thirty seconds, and no success before', () => {
    const { mayTry, noteSuccess, pass, fail } = start();
    fail(5);
    pass(15_000);
    fail(4);
    noteSuccess('a');
    pass(15_000);
    fail(5);
    expect(mayTry('a')).toBe(true);
    fail(1);
    expect(mayTry('a')).toBe(false);
  });

  it('lets one request try when it is half open, and closes with its success', () => {
    const { mayTry, noteSuccess, pass, fail } = start();
    fail(10);
    pass(60_000);
    expect([mayTry('a'), mayTry('a'), mayTry('a')]).toEqual([true, false, false]);
    noteSuccess('a');
    expect([mayTry('a'), mayTry('a')]).toEqual([true, true]);
    fail(9);
    expect(mayTry('a')).toBe(true);
  });

  it('opens for another minute when the probe fails', () => {
    const { mayTry, pass, fail } = start();
    fail(10);
    pass(60_000);
    expect(mayTry('a')).toBe(true);
    pass(5_000);
    fail(1);
    pass(59_999);
    expect(mayTry('a')).toBe(false);
    pass(1);
    expect([mayTry('a'), mayTry('a')]).toEqual([true, false]);
  });

  it('gives the place of a probe whose caller left to the next one at once', () => {
    const { mayTry, noteCancelled, noteSuccess, pass, fail } = start();
    fail(10);
    noteCancelled('a');
    expect(mayTry('a')).toBe(false);
    pass(60_000);
    expect(mayTry('a')).toBe(true);
    noteCancelled('a');
    expect([mayTry('a'), mayTry('a')]).toEqual([true, false]);
    noteSuccess('a');
    noteCancelled('a');
    expect(mayTry('a')).toBe(true);
  });

  it('gives the place of a probe that never ends to another one', () => {
    const { mayTry, noteSuccess, pass, fail } = start();
    fail(10);
    pass(60_000);
    expect(mayTry('a')).toBe(true);
    pass(59_999);
    expect(mayTry('a')).toBe(false);
    pass(1);
    expect([mayTry('a'), mayTry('a')]).toEqual([true, false]);
    noteSuccess('a');
    expect(mayTry('a')).toBe(true);
  });

  it('is not changed by requests that were sent before it opened', () => {
    const { mayTry, noteSuccess, waitMsOf, pass, fail } = start();
    fail(10);
    pass(10_000);
    fail(20);
    noteSuccess('a');
    expect([mayTry('a'), waitMsOf('a')]).toEqual([false, 50_000]);
  });

  it('is kept for so many providers, those that failed last', () => {
    const { mayTry, fail } = start({ providersMax: 3 });
    for (const provider of ['a', 'b', 'c']) fail(10, provider);
    expect(['a', 'b', 'c'].map(mayTry)).toEqual([false, false, false]);
    fail(1, 'd');
    expect(['a', 'b', 'c'].map(mayTry)).toEqual([true, false, false]);
  });
});
