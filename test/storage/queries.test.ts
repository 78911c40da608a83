import { describe, expect, it } from 'vitest';
import { searchableCells } from '../../src/storage/engine/postgres/run-query.ts';
import { openQueries as openPostgresQueries } from '../../src/storage/engine/postgres/statements.ts';
import { fillParameters, packIds } from '../../src/storage/engine/sqlite/compact-ids.ts';
import { openDatabase } from '../../src/storage/engine/sqlite/schema.ts';
import { openQueries as openSqliteQueries } from '../../src/storage/engine/sqlite/statements.ts';
import { IDS_PER_QUERY_MAX } from '../../src/storage/queries.ts';
import type { Query } from '../../src/storage/statements/statement.ts';
import { queryInBatches } from '../../src/storage/transaction.ts';

type AnyQuery = Query<unknown, unknown>;

function byName(rooms: object): ReadonlyMap<string, AnyQuery> {
  const queries = Object.values(rooms).flatMap((room) => Object.values<AnyQuery>(room));
  return new Map(queries.map((query) => [query.name, query]));
}

describe('compiled queries', () => {
  it('are the same for every store but where they are called after one', () => {
    const [sqlite, postgres] = [byName(openSqliteQueries()), byName(openPostgresQueries())];
    expect(sqlite.size).toBeGreaterThan(0);
    const common = (names: Iterable<string>) =>
      [...names].filter((name) => !/^(append|search)(Sqlite|Postgres)\./.test(name));
    expect(common(sqlite.keys())).toEqual(common(postgres.keys()));
    for (const { text } of postgres.values()) expect(text).not.toContain('?');
  });

  it('never read a whole table on SQLite, but for those that ask for it', () => {
    const db = openDatabase(':memory:');
    const partial = db.prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% where %'`,
    );
    // Allowed scans: partial indexes, inner queries, lists of parameters, and the last number.
    const few = new RegExp(
      `^SCAN (agg$|part$|json_each |some$|queue$|sqlite_sequence$|.* INDEX (${partial.pluck().all().join('|')})$|CONSTANT ROW)`,
    );
    const whole: string[] = [];
    for (const { name, text } of byName(openSqliteQueries()).values()) {
      const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`);
      const placeholders = text.split('?').length - 1;
      const details = plan.all(...Array.from({ length: placeholders }, () => 1)).map(({ detail }) => detail);
      if (details.some((detail) => detail.startsWith('SCAN') && !few.test(detail))) whole.push(name);
      // The second one drops all pages at once, which is not a plan.
      else if (!/^insert|^delete from "write_probe"$/.test(text)) {
        expect(
          details.some((detail) => detail.startsWith('SEARCH') || few.test(detail)),
          name,
        ).toBe(true);
      }
    }
    // There are few hours; these queries need all keys and retention terms; any organization will do; price changes affect all
    // projects; waiting jobs are counted; leases are few and short-lived; an index
    // has one step.
    expect(whole).toEqual([
      'budgets.listOldLeases',
      'endpointsDue.dropHours',
      'evaluations.countJobs',
      'keys.listKeyIds',
      'organization.findAnyOrganization',
      'pricing.listRepricedProjects',
      'retention.listTraceTerms',
      'searchIndex.countPending',
      'searchIndex.findStep',
    ]);
    db.close();
  });
});

describe('what a query is given', () => {
  it('fills all parameters of a list on SQLite, and refuses none and too many', () => {
    expect(fillParameters(['a', 'b'])).toEqual(['a', ...Array.from({ length: IDS_PER_QUERY_MAX - 1 }, () => 'b')]);
    const ids = Array.from({ length: IDS_PER_QUERY_MAX }, (_, index) => `${index}`);
    expect(fillParameters(ids)).toEqual(ids);
    expect(packIds(['0123456789abcdef'])[0]).toEqual(Buffer.from('0123456789abcdef', 'hex'));
    for (const wrong of [[], [...ids, 'one more']]) expect(() => fillParameters(wrong)).toThrow('room for 1 to 50 ids');
  });

  it('is split into several queries when it is long, and makes none when it is empty', async () => {
    const queries: (readonly string[])[] = [];
    const ask = async (some: readonly string[]) => {
      queries.push(some);
      return some;
    };
    expect(await queryInBatches(['a', 'b', 'c'], 2, ask)).toEqual(['a', 'b', 'c']);
    expect(await queryInBatches([], 2, ask)).toEqual([]);
    expect(queries).toEqual([['a', 'b'], ['c']]);
  });

  it('is not searched for on PostgreSQL when no row can hold it', () => {
    expect(searchableCells([1, 'a\u0000'])).toBeNull();
    expect(searchableCells([1, 'a', ['b', 'c\u0000', 'd'], null])).toEqual([1, 'a', ['b', 'd'], null]);
  });
});
