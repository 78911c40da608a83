/** Values of rows as the text that PostgreSQL reads and prints: what is written is compared in the very same form. */

import { INT8_MAX } from '../postgres/binary-rows.ts';

export type ColumnType = 'int4' | 'int8' | 'float8' | 'bool' | 'text' | 'bytea';

/** A column of the target. */
export type Column = { readonly name: string; readonly type: ColumnType };

/** What SQLite answers. */
export type SourceValue = number | string | Buffer | null;

export type Cell = string | null;

const TYPES: ReadonlySet<string> = new Set<ColumnType>(['int4', 'int8', 'float8', 'bool', 'text', 'bytea']);

export function isColumnType(name: string): name is ColumnType {
  return TYPES.has(name);
}

export function toCell({ name, type }: Column, value: SourceValue): Cell {
  if (value === null) return null;
  if (Buffer.isBuffer(value) !== (type === 'bytea')) throw new Error(`a value of the column ${name} is no ${type}`);
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (type === 'bool') return value === 0 ? 'f' : 't';
  if (type === 'int8') return String(Math.min(Number(value), INT8_MAX));
  return String(value);
}

/** PostgreSQL prints some numbers with another exponent than this side does. */
export function normaliseCell({ type }: Column, cell: Cell): Cell {
  return type === 'float8' && cell !== null ? String(Number(cell)) : cell;
}
