/** Runs compiled queries as prepared statements. */

import { IDS_PER_QUERY_MAX } from '../../queries.ts';
import type { Change, Query, RowsChange } from '../../statements/statement.ts';
import type { QueryRunner, RunQuery } from '../../transaction.ts';
import type { Database, RunRead } from './connection.ts';

export type PreparedQuery<Params, Row> = {
  get(params: Params): Row | undefined;
  all(params: Params): Row[];
  iterate(params: Params): Iterable<Row>;
};

export function prepareQuery<Params, Row>(db: Database, query: Query<Params, Row>): PreparedQuery<Params, Row> {
  const { text, cells, row } = query;
  const statement = db.prepare<unknown[], never>(text).raw();
  return {
    get(params) {
      const found = statement.get(...cells(params));
      return found === undefined ? undefined : row(found);
    },
    all: (params) => statement.all(...cells(params)).map(row),
    *iterate(params) {
      for (const found of statement.iterate(...cells(params))) yield row(found);
    },
  };
}

/** Returns the number of changed rows. */
export function prepareChange<Params>(db: Database, { text, cells }: Change<Params>): (params: Params) => number {
  const statement = db.prepare<unknown[]>(text);
  return (params) => statement.run(...cells(params)).changes;
}

export function prepareRows<Row>(db: Database, { text, cells }: RowsChange<Row>): (rows: readonly Row[]) => void {
  const statement = db.prepare<unknown[]>(text);
  return (rows) => {
    for (const row of cells(rows)) statement.run(...row);
  };
}

/** Prepares each statement at its first use. */
export function createPrepareOnce(db: Database) {
  const known = new Map<unknown, unknown>();
  return <Source, Run>(prepare: (db: Database, source: Source) => Run, source: Source): Run => {
    const run = known.get(source) ?? prepare(db, source);
    known.set(source, run);
    return run as Run;
  };
}

export function createRunQuery(db: Database, runRead: RunRead): RunQuery {
  const prepareOnce = createPrepareOnce(db);
  return <Params, Row>(query: Query<Params, Row>, params: Params) =>
    runRead(() => prepareOnce(prepareQuery<Params, Row>, query).all(params));
}

export function createQueryRunner<Queries>(db: Database, runRead: RunRead, queries: Queries): QueryRunner<Queries> {
  return {
    queries,
    runQuery: createRunQuery(db, runRead),
    idsPerQuery: IDS_PER_QUERY_MAX,
    pointsPerQuery: 1,
  };
}
