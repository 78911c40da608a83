import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ENGINES = new URL('../../src/storage/engine/', import.meta.url);
const TEXT = /`([^`]*)`|'((?:[^'\\\n]|\\.)*)'/g;
const STATEMENT =
  /^\s*(ALTER|BEGIN|COMMIT|CREATE|DELETE|DO|DROP|INSERT|LOCK|REPLACE|ROLLBACK|SELECT|SET|UPDATE|WITH)\b/i;

function statementsOf(engine: 'sqlite' | 'postgres'): ReadonlySet<string> {
  const files = globSync(`${engine}/*.ts`, { cwd: ENGINES });
  const texts = files.flatMap((file) => [...readFileSync(new URL(file, ENGINES), 'utf8').matchAll(TEXT)]);
  const statements = texts
    .map(([, template, quoted]) => template ?? quoted ?? '')
    .filter((text) => STATEMENT.test(text));
  return new Set(statements.map((text) => text.trim().replace(/\s+/g, ' ')));
}

it('no statement stands in both engines: what both run is a query', () => {
  const [sqlite, postgres] = [statementsOf('sqlite'), statementsOf('postgres')];
  expect(sqlite.size).toBeGreaterThan(10);
  expect(postgres.size).toBeGreaterThan(10);
  // The ends of transactions, each on a connection of its engine.
  expect([...sqlite].filter((text) => postgres.has(text)).sort()).toEqual(['COMMIT', 'ROLLBACK']);
});
