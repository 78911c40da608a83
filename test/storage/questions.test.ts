import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SQLITE_MIGRATIONS } from '../../src/storage/migrations/sqlite.ts';
import { knowableCells } from '../../src/storage/postgres/ask.ts';
import { IDS_AT_ONCE, type Question } from '../../src/storage/questions.ts';
import { openWriteHandle } from '../../src/storage/sqlite/connection.ts';
import { fillPlaces, packIds } from '../../src/storage/sqlite/id-lists.ts';

type AnyQuestion = Question<unknown, unknown>;

async function questionsOf(store: 'sqlite' | 'postgres'): Promise<ReadonlyMap<string, AnyQuestion>> {
  const folder = new URL(`../../gen/storage/${store}/`, import.meta.url);
  const modules = readdirSync(folder).map((file) => import(new URL(file, folder).href));
  const all = (await Promise.all(modules)).flatMap((module: Record<string, AnyQuestion>) => Object.values(module));
  return new Map(all.map((question) => [question.name, question]));
}

describe('compiled questions', () => {
  it('are the same for every store, each with the columns and under the names that it selects', async () => {
    const [sqlite, postgres] = [await questionsOf('sqlite'), await questionsOf('postgres')];
    expect(sqlite.size).toBeGreaterThan(0);
    expect([...sqlite.keys()]).toEqual([...postgres.keys()]);
    for (const { text } of postgres.values()) expect(text).not.toContain('?');
  });

  it('never read a whole table on SQLite', async () => {
    const db = openWriteHandle(':memory:', () => undefined);
    for (const { statements } of SQLITE_MIGRATIONS) for (const statement of statements) db.exec(statement);
    for (const { name, text } of (await questionsOf('sqlite')).values()) {
      const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`);
      const places = text.split('?').length - 1;
      const details = plan.all(...Array.from({ length: places }, () => 1)).map(({ detail }) => detail);
      expect(
        details.filter((detail) => detail.startsWith('SCAN')),
        name,
      ).toEqual([]);
      const isSought = details.some((detail) => detail.startsWith('SEARCH'));
      if (!text.startsWith('insert')) expect(isSought, name).toBe(true);
    }
    db.close();
  });
});

describe('what a question is given', () => {
  it('fills all places of a list on SQLite, and is neither nothing nor too much', () => {
    expect(fillPlaces(['a', 'b'])).toEqual(['a', ...Array.from({ length: IDS_AT_ONCE - 1 }, () => 'b')]);
    const ids = Array.from({ length: IDS_AT_ONCE }, (_, index) => `${index}`);
    expect(fillPlaces(ids)).toEqual(ids);
    expect(packIds(['0123456789abcdef'])[0]).toEqual(Buffer.from('0123456789abcdef', 'hex'));
    for (const wrong of [[], [...ids, 'one more']]) expect(() => fillPlaces(wrong)).toThrow('room for 1 to 50 ids');
  });

  it('is not looked for on PostgreSQL where no row can hold it', () => {
    expect(knowableCells([1, 'a\u0000'])).toBeNull();
    expect(knowableCells([1, 'a', ['b', 'c\u0000', 'd'], null])).toEqual([1, 'a', ['b', 'd'], null]);
  });
});
