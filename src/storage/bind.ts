/**
 * Statements of the object mapper with their values beside them. By itself the mapper writes values into the text of a
 * statement; bound, no value of a tenant is ever parsed as SQL, and a value may hold any character.
 */

import { isRaw } from '@mikro-orm/core';
import { NativeQueryBuilder } from '@mikro-orm/sql';
import { CompiledQuery, type Kysely } from 'kysely';

/** What differs between the databases. */
export type Binding = {
  /** The text that stands for the value with this number, counted from 1. */
  readonly placeholder: (number: number) => string;
  /** The form in which the driver takes a value. */
  readonly toCell: (value: unknown) => unknown;
};

type Values = readonly unknown[] | { readonly [name: string]: unknown };

type Statement = {
  /** These are arguments of `execute` of the mapper's connections. */
  readonly query: unknown;
  readonly values: Values | undefined;
  /** The connection of the unit of work. */
  readonly connection: Kysely<unknown> | undefined;
};

export async function executeBound({ query, values = [], connection }: Statement, binding: Binding) {
  if (connection === undefined) throw new Error('a unit of work has no connection');
  return await connection.executeQuery(bindStatement(query, values, binding));
}

export function bindStatement(query: unknown, values: Values, binding: Binding): CompiledQuery {
  const said = query instanceof NativeQueryBuilder ? query.toRaw() : query;
  const [text, given] = isRaw(said) ? [said.sql, said.params] : [String(said), values];
  if (!Array.isArray(given)) throw new Error('statements have their values in order, not by name');
  const cells: unknown[] = [];
  const sql = bindText({
    text,
    values: given,
    bind: (value) => binding.placeholder(cells.push(binding.toCell(value))),
  });
  return CompiledQuery.raw(sql, cells);
}

type Bound = {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Returns the placeholder. */
  readonly bind: (value: unknown) => string;
};

function bindText({ text, values, bind }: Bound): string {
  let at = 0;
  // `\?` is a question mark of the text itself.
  return text.replaceAll(/\\\?|\?/g, (mark) => {
    if (mark !== '?') return '?';
    const value: unknown = values[at++];
    // The mapper passes a list of values as one, and an expression as its text with values of its own.
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list
      .map((each) => (isRaw(each) ? bindText({ text: each.sql, values: each.params, bind }) : bind(each)))
      .join(', ');
  });
}
