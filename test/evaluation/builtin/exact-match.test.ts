import { describe, expect, it } from 'vitest';
import { evaluate, type RunInput } from './running.ts';

type Pair = readonly [output: string, expected: string];

const EQUAL: readonly Pair[] = [
  ['1.50', '1.5'],
  ['1e3', '1000'],
  ['true', '1'],
  ['false', '0'],
  ['007', '7'],
  ['-0', '0.000'],
  [' .5 ', '5e-1'],
  ['10', '1E+1'],
  ['Hello, World!', 'hello world'],
  ['1,000', '1000'],
  ['True', 'true'],
  ['', ''],
  ['café', 'cafe\u0301'],
];

const UNEQUAL: readonly Pair[] = [
  ['-1', '1'],
  ['2', 'true'],
  ['9007199254740993', '9007199254740992'],
  ['0x10', '16'],
  ['hello', 'true'],
  ['True', '1'],
  ['a - b', 'a b'],
  ['!!!', '???'],
  ['1e1000', '10e999'],
];

const SETTINGS: readonly (readonly [pair: Pair, setting: string, passes: readonly [on: boolean, off: boolean]])[] = [
  [['  Hello World  ', 'Hello World'], 'trim_whitespace', [true, false]],
  [['Hello, World!', 'Hello World'], 'remove_punctuation', [true, false]],
  [['HELLO', 'hello'], 'case_sensitive', [false, true]],
];

const match = (input: RunInput) => evaluate('langevals/exact_match', input);

describe('exact_match', () => {
  it.each(EQUAL)('takes %j for %j', async (output, expected_output) => {
    const details = `${output} == ${expected_output}`;
    expect(await match({ data: { output, expected_output } })).toMatchObject({ score: 1, passed: true, details });
  });

  it.each(UNEQUAL)('does not take %j for %j', async (output, expected_output) => {
    expect(await match({ data: { output, expected_output } })).toMatchObject({ score: 0, passed: false });
  });

  it.each(SETTINGS)('of %j lets %s decide', async ([output, expected_output], setting, [on, off]) => {
    const data = { output, expected_output };
    expect(await match({ data, settings: { [setting]: true } })).toMatchObject({ passed: on });
    expect(await match({ data, settings: { [setting]: false } })).toMatchObject({ passed: off });
  });

  it('takes a missing text for an empty one', async () => {
    expect(await match({ data: { expected_output: '' } })).toMatchObject({ passed: true });
    expect(await match({ data: { output: 'x' } })).toMatchObject({ passed: false });
  });

  it('says what was expected of numbers and of texts', async () => {
    const numbers = await match({ data: { output: '2', expected_output: '3' } });
    expect(numbers).toMatchObject({ details: 'Expected 2 to be equal to 3' });
    const texts = await match({ data: { output: 'a', expected_output: 'b' } });
    expect(texts).toMatchObject({ details: 'Expected:\na\nTo be exactly equal to:\nb' });
  });

  it('says no more than 2,000 characters, and no half ones', async () => {
    const outcome = await match({ data: { output: '😀'.repeat(3000) } });
    const details = outcome.status === 'processed' ? (outcome.details ?? '') : '';
    expect([...details]).toHaveLength(2000);
    expect(details.isWellFormed()).toBe(true);
  });
});
