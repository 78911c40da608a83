/** The tables after the first migration, for databases that were written before a database recorded its own schema. */

import { readFileSync } from 'node:fs';

export function readBaseline(store: 'sqlite' | 'postgres'): readonly string[] {
  const text = readFileSync(new URL(`./${store}-0001-initial.tables.txt`, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '');
}
