import { expect, it } from 'vitest';
import { Role } from '../../gen/spandrel/v1/keys_pb.js';
import { SpendGrouping } from '../../gen/spandrel/v1/spend_pb.js';
import { nameOf, numbersOf, wordOf } from '../../src/rpc/enums.ts';

it('names the values of an enum', () => {
  expect(nameOf(Role, Role.ADMIN)).toBe('ADMIN');
  expect(wordOf(SpendGrouping, SpendGrouping.VIRTUAL_KEY)).toBe('virtual_key');
  expect(numbersOf(SpendGrouping).virtual_key).toBe(SpendGrouping.VIRTUAL_KEY);
});

it('has no name for a value that is not set or not known', () => {
  expect([0, 99, -1].map((number) => nameOf(Role, number))).toEqual([null, null, null]);
  expect([0, 99, -1].map((number) => wordOf(Role, number))).toEqual([null, null, null]);
});
