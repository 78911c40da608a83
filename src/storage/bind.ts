/**
 * Statements of the object mapper with their values beside them. By itself the mapper writes values into the text of a
 * statement; bound, no value of a tenant is ever parsed as SQL, and a value may hold any character.
 */

import { isRaw } from '@mikro-orm/core';
import { NativeQueryBuilder } from '@mikro-orm/sql';
import { CompiledQuery } from 'kysely';

/** What differs between the databases. */
export type Binding = {
  /** The text that stands for the value with this number, counted from 1. */
  readonly placeholder: (number: number) => string;
  /** The form in which the driver takes a value. */
  readonly toCell: (value: unknown) => unknown;
};

type Values = readonly unknown[] | { readonly [name: string]: unknown };

/** The arguments are those of `execute` of the mapper's connections. */
export function bindStatement(query: unknown, values: Values, binding: Binding): CompiledQuery {
  const said = query instanceof NativeQueryBuilder ? query.toRaw() : query;
  const [text, given] = isRaw(said) ? [said.sql, said.params] : [String(said), values];
  if (!Array.isArray(given)) throw new Error('statements have their values in order, not by name');
  const cells: unknown[] = [];
  return CompiledQuery.raw(bind(text, given), cells);

  function bind(part: string, ofPart: readonly unknown[]): string {
    let at = 0;
    // `\?` is a question mark of the text itself.
    return part.replaceAll(/\\\?|\?/g, (mark) => (mark === '?' ? place(ofPart[at++]) : '?'));
  }

  function place(value: unknown): string {
    // An expression stands where a value would.
    if (isRaw(value)) return bind(value.sql, value.params);
    // The mapper passes a list of values as one.
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.map((each) => binding.placeholder(cells.push(binding.toCell(each)))).join(', ');
  }
}
