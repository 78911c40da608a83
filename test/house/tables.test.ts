import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../../src/storage/entities/entities.ts';

it('every description of a table belongs to a store', async () => {
  const folder = new URL('../../src/storage/entities/', import.meta.url);
  const listed = new Set<unknown>([...SQLITE_TABLES, ...POSTGRES_TABLES]);
  const forgotten: string[] = [];
  for (const file of readdirSync(folder)) {
    const described: Record<string, unknown> = await import(new URL(file, folder).pathname);
    for (const [name, value] of Object.entries(described)) {
      if (isDescription(value) && !listed.delete(value)) forgotten.push(`${name} of ${file}`);
    }
  }
  expect(forgotten).toEqual([]);
  expect([...listed]).toEqual([]);
});

function isDescription(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'tableName' in value;
}
