import { raw } from '@mikro-orm/core';
import { expect, it } from 'vitest';
import { type Binding, bindStatement } from '../../src/storage/bind.ts';

const NUMBERED: Binding = { placeholder: (number) => `$${number}`, toCell: (value) => value };

it('values are bound in order: those of lists one by one, and those of expressions where the expression stands', () => {
  const text = String.raw`update t set a = ?, b = ? where c in (?) and d \? 'e'`;
  const { sql, parameters } = bindStatement(text, ["it's ?", raw('b + ?', [2]), [3, 4]], NUMBERED);
  expect(sql).toBe(`update t set a = $1, b = b + $2 where c in ($3, $4) and d ? 'e'`);
  expect(parameters).toEqual(["it's ?", 2, 3, 4]);
});
