import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasLongKey,
  isArray,
  isObject,
  makeWellFormed,
  nestsDeeperThan,
  numberOf,
  parseFreeJson,
  scalarText,
  truncateStrings,
} from '../../src/json/free-json.ts';
import type { LosslessObject } from '../../src/json/lossless-json.ts';
import { nest } from '../domain/traces/collector/collecting.ts';

function objectOf(text: string): LosslessObject {
  const value = parseFreeJson(text);
  if (!isObject(value)) throw new Error('The test wants an object.');
  return value;
}

describe('free JSON', () => {
  it('reads back as the same text, with any member names and numbers of any length', () => {
    const anyJson = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });
    fc.assert(
      fc.property(anyJson, fc.boolean(), (value, addLongNumber) => {
        const text = addLongNumber ? `[12345678901234567890,${JSON.stringify(value)}]` : JSON.stringify(value);
        expect(JSON.stringify(parseFreeJson(text))).toBe(text);
      }),
    );
  });

  it('keeps __proto__, constructor and toString as plain members', () => {
    const text = '{"__proto__":{"polluted":1},"constructor":2,"toString":"x","\ud83d\ude42":12345678901234567890}';
    expect(JSON.stringify(parseFreeJson(text))).toBe(text);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('distinguishes a number that kept its digits from a similar object', () => {
    const kept = objectOf('{"n":12345678901234567890,"o":{"rawJSON":"1"},"f":0.5}');
    expect(isObject(kept.n)).toBe(false);
    expect(isObject(kept.o)).toBe(true);
    expect([numberOf(kept.n), numberOf(kept.o), numberOf(kept.f)]).toEqual([Number('12345678901234567890'), null, 0.5]);
    expect([scalarText(kept.n), scalarText(kept.o), scalarText(true)]).toEqual(['12345678901234567890', null, 'true']);
    expect([isArray([]), isArray(undefined), isObject(null), numberOf(Number.POSITIVE_INFINITY)]).toEqual([
      true,
      false,
      false,
      null,
    ]);
  });
});

describe('nesting', () => {
  it('counts the value itself as level 1, and a scalar not at all', () => {
    expect(nestsDeeperThan(nest(64), 64)).toBe(false);
    expect(nestsDeeperThan(nest(65), 64)).toBe(true);
    expect(nestsDeeperThan({ a: { b: {} } }, 3)).toBe(false);
    expect(nestsDeeperThan({ a: { b: {} } }, 2)).toBe(true);
    expect(nestsDeeperThan('text', 0)).toBe(false);
  });
});

describe('unpaired surrogates', () => {
  it('become U+FFFD in values and member names, and everything else stays', () => {
    const body = JSON.parse('{"\\ud800k":["a\\udc00",{"x":"\\ud83d\\ude42"}],"__proto__":"\\ud800","n":1}');
    const clean = makeWellFormed(body);
    expect(JSON.stringify(clean)).toBe('{"\ufffdk":["a\ufffd",{"x":"\ud83d\ude42"}],"__proto__":"\ufffd","n":1}');
    expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
  });

  it('are the only reason for a copy', () => {
    const body = { a: ['x', { b: null }], c: 1 };
    expect(makeWellFormed(body)).toBe(body);
    expect(makeWellFormed({ a: ['\ud800'], c: body })).toEqual({ a: ['\ufffd'], c: body });
  });
});

describe('limits inside free JSON', () => {
  it('finds a member name over 4,096 bytes at any depth', () => {
    expect(hasLongKey([{ a: { ['é'.repeat(2048)]: 1 } }])).toBe(false);
    expect(hasLongKey([{ a: { [`é${'é'.repeat(2048)}`]: 1 } }])).toBe(true);
  });

  it('cuts every long string, counts them, and leaves the names alone', () => {
    const value = { longName: ['abcdef', { deep: 'abcdef' }], short: 'abc' };
    const { value: cut, cuts } = truncateStrings(value, 3);
    const mark = 'abc…[truncated: 6 bytes]';
    expect(cut).toEqual({ longName: [mark, { deep: mark }], short: 'abc' });
    expect(cuts).toBe(2);
    expect(truncateStrings(value, 6).value).toBe(value);
  });
});
