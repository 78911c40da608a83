/** Transactions on the handle that writes. */

import * as queries from '../../../../gen/storage/sqlite/all.ts';
import type { OfNumbers, Query, Transact } from '../../queries.ts';
import type { Database } from './connection.ts';
import { createPrepareOnce, type PreparedQuery, prepareChange, prepareQuery, prepareRows } from './run-query.ts';

/** The caller lets each transaction end before the next begins. */
export function createTransact(db: Database): Transact {
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const prepareOnce = createPrepareOnce(db);

  async function runQuery<Params, Row>(query: Query<Params, Row>, params: Params): Promise<readonly Row[]> {
    return prepareOnce(prepareQuery<Params, Row>, query).all(params);
  }

  return async (body) => {
    begin.run();
    try {
      const result = await body({
        queries,
        isExclusive: true,
        runQuery,
        async queryByNumbers(query, numbers) {
          const asked = prepareOnce(prepareQuery, query) as PreparedQuery<OfNumbers, never>;
          return numbers.flatMap((number) => asked.all({ numbers: [number] }));
        },
        change: async (said, params) => prepareOnce(prepareChange, said)(params),
        changeRows(said, rows) {
          if (rows.length > 0) prepareOnce(prepareRows, said)(rows);
        },
      });
      commit.run();
      return result;
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}
