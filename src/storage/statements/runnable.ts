/**
 * Makes statements runnable. What puts values in and takes rows out is compiled to JavaScript, as the object mapper does it:
 * a loop over columns would take ten times as long, and some reads return very many rows.
 */

import type { Form } from '../rows/forms.ts';
import type { Binding, Forms, Parameter, Query, RowsInsert, Selected, Statement, StatementRooms } from './statement.ts';

type Runnable = Partial<Query<unknown, unknown>> & { nameOf?: (key: never) => string } & Partial<RowsInsert<unknown>>;

/** Makes each statement what `Compiled` says. */
export function bindRooms<Rooms>(rooms: StatementRooms, binding: Binding): Rooms {
  const bound = Object.entries(rooms).map(([room, statements]) => [
    room,
    Object.fromEntries(Object.entries(statements).map(([name, statement]) => [name, bind(statement, binding)])),
  ]);
  return Object.fromEntries(bound);
}

function bind({ name, text, parameters, row, key, target, isPerRow }: Statement, binding: Binding): Runnable {
  const cellsOf = bindParameters(parameters, binding);
  return {
    name,
    text,
    cells: isPerRow ? (rows) => (rows as readonly unknown[]).map(cellsOf) : cellsOf,
    ...(row === null ? {} : { row: bindRow(row, binding) }),
    ...(key === null ? {} : { nameOf: (found: never) => key.map((member) => `${found[member]}`).join(' ') }),
    ...target,
  };
}

function bindParameters(parameters: readonly Parameter[], binding: Binding): (given: unknown) => unknown[] {
  const each = parameters.map((parameter, index) => {
    if ('constant' in parameter) return { code: `use[${index}]`, use: parameter.constant };
    const { member, form, as } = parameter;
    const value = `given[${JSON.stringify(member)}]`;
    const store = unlessNull(formOf(binding.forms, form).store, null);
    if (as === 'value')
      return form === 'plain' ? { code: `${value} ?? null` } : { code: `use[${index}](${value})`, use: store };
    if (as === 'list') return { code: `...use[${index}](${value})`, use: store };
    return { code: `use[${index}](given)`, use: bindArray(as.slice(0, -2), member, store, binding) };
  });
  return compile(`[${each.map(({ code }) => code).join(', ')}]`, 'given', each);
}

type Convert = (value: unknown) => unknown;

function bindArray(
  type: string,
  member: string,
  store: Convert,
  { toArray }: Binding,
): (rows: readonly object[]) => unknown {
  if (toArray === null) throw new Error('the store has no arrays');
  return (rows) => toArray(type, rows, (row) => store(row[member as never]));
}

function bindRow(selected: readonly Selected[], { forms, hasListRows }: Binding): (raw: never) => unknown {
  // Rows that need no conversion are used as they come.
  if (!hasListRows && selected.every(({ form }) => form === 'plain')) return (raw) => raw;
  const each = selected.map(({ name, form }, index) => {
    const member = JSON.stringify(name);
    const raw = hasListRows ? `raw[${index}]` : `raw[${member}]`;
    if (form === 'plain') return { code: `${member}: ${raw}` };
    const { read, ofNull = null } = formOf(forms, form);
    return { code: `${member}: use[${index}](${raw})`, use: unlessNull(read, ofNull) };
  });
  return compile(`({ ${each.map(({ code }) => code).join(', ')} })`, 'raw', each);
}

function unlessNull(convert: Form['store'], ofNull: unknown): Convert {
  return (value) => (value === null || value === undefined ? ofNull : convert(value as never));
}

/** A function of one argument; its code is made of names that this project has written, and of nothing that comes from outside. */
function compile<Run>(code: string, argument: string, uses: readonly { readonly use?: unknown }[]): Run {
  return new Function('use', `return (${argument}) => ${code};`)(uses.map(({ use }) => use));
}

function formOf(forms: Forms, name: string): Form {
  const form = forms[name];
  if (form === undefined) throw new Error(`the store has no form ${name}`);
  return form;
}
