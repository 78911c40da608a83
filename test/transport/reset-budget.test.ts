import { describe, expect, it } from 'vitest';
import { createResetBudget } from '../../src/transport/reset-budget.ts';

const AT_ONCE = 2_000;
const PER_SECOND = 100;
const ADDRESSES_MAX = 10_000;

function createFixture() {
  let nowMs = 0;
  const { spend } = createResetBudget(() => nowMs);
  return {
    spend,
    /** How many resets of an address pass, one after the other. */
    drain(address: string): number {
      let passed = 0;
      while (spend(address)) passed += 1;
      return passed;
    },
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('the budget of an address for resets', () => {
  it('is spent once, grows again by the second, and never above its start', () => {
    const { drain, wait } = createFixture();
    expect(drain('a')).toBe(AT_ONCE);
    expect(drain('a')).toBe(0);
    wait(3_000);
    expect(drain('a')).toBe(3 * PER_SECOND);
    wait(3_600_000);
    expect(drain('a')).toBe(AT_ONCE);
  });

  it('is its own', () => {
    const { drain } = createFixture();
    expect(drain('a')).toBe(AT_ONCE);
    expect(drain('b')).toBe(AT_ONCE);
  });

  it('is remembered for a bounded number of addresses, those with the latest resets', () => {
    const { drain, spend } = createFixture();
    drain('first');
    drain('second');
    for (let index = 2; index < ADDRESSES_MAX; index += 1) spend(`address ${index}`);
    expect(spend('second')).toBe(false);
    spend('one more');
    expect(spend('second')).toBe(false);
    expect(drain('first')).toBe(AT_ONCE);
  });
});
