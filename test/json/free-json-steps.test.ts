import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { writeJsonInSteps } from '../../src/json/free-json-steps.ts';
import type { LosslessJson } from '../../src/json/lossless-json.ts';

const CHUNK_CHARACTERS = 65_536;

const written = (value: LosslessJson) => runWithoutPauses(writeJsonInSteps(value));

function countSteps(value: LosslessJson): number {
  const steps = writeJsonInSteps(value);
  let count = 0;
  while (steps.next().done !== true) count += 1;
  return count;
}

it('JSON that is written in steps is the text of JSON.stringify', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => written(value as LosslessJson) === JSON.stringify(value)));
});

it.each([
  ['a list of many words', Array.from({ length: 100_000 }, (_, index) => `w${index}`)],
  ['a list of many lists', Array.from({ length: 20_000 }, (_, index) => [index, [`${index}`]])],
  ['a list of numbers that keep their text', Array.from({ length: 200_000 }, () => JSON.rawJSON('1.0'))],
  ['a long text', '"\n\\'.repeat(CHUNK_CHARACTERS)],
  ['an object with a long text in a list', { a: ['b', 'é"'.repeat(CHUNK_CHARACTERS), 'c'], d: {}, e: [] }],
])('%s is written in several steps', (_, value) => {
  expect(written(value)).toBe(JSON.stringify(value));
  expect(countSteps(value)).toBeGreaterThan(2);
});

it.each([0, 1, 2])('a pair of surrogates at the end of a step stays one character (%d before the end)', (before) => {
  const text = `${'a'.repeat(CHUNK_CHARACTERS - before)}😀${'b'.repeat(CHUNK_CHARACTERS)}`;
  expect(written(text)).toBe(JSON.stringify(text));
});

it('numbers keep their text, and unset members are left out', () => {
  const value = { long: JSON.rawJSON('12345678901234567890'), list: [JSON.rawJSON('1.10')], unset: undefined };
  expect(written(value as unknown as LosslessJson)).toBe('{"long":12345678901234567890,"list":[1.10]}');
});
