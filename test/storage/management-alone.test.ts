/** A driver of management alone, on the SQLite that Node brings: all that "Add a driver" asks for it. */

import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';
import { describe } from 'vitest';
import type { Management, ManagementCuts } from '../../src/domain/management/management-port.ts';
import type { RetentionTask } from '../../src/domain/retention-walk.ts';
import { openMapper } from '../../src/storage/engine/sqlite/mapper.ts';
import { openQueries } from '../../src/storage/engine/sqlite/statements.ts';
import { cacheKeyReads } from '../../src/storage/keys/key-cache.ts';
import { createManagement, watchRooms } from '../../src/storage/management/management-store.ts';
import { createRooms } from '../../src/storage/management/rooms.ts';
import { createUnit, unitOn } from '../../src/storage/mapper.ts';
import { SQLITE_SCHEMAS } from '../../src/storage/migrations/sqlite.ts';
import { MANAGEMENT_PARTS } from '../../src/storage/retention/management-parts.ts';
import type { RunQuery, Transaction } from '../../src/storage/transaction.ts';
import { managementPortConformance } from './conformance/store.ts';
import type { Row, Subject } from './conformance/subject.ts';

async function openManagement(): Promise<Subject<Management>> {
  const db = new DatabaseSync(':memory:');
  for (const { script } of SQLITE_SCHEMAS.migrations) db.exec(script);
  const [mapper, connection] = [openMapper(), connectTo(db)];
  let generation = 0;
  const count = () => {
    generation += 1;
  };
  let last: Promise<unknown> = Promise.resolve();

  /** On one connection a transaction waits for the one before. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  async function commit<T>(work: () => Promise<T>): Promise<T> {
    db.exec('BEGIN');
    try {
      const result = await work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  }

  const rooms = createRooms({
    log: { nowMs: async () => Date.now(), prepare: async () => undefined, isEnvelopeApart: true },
    read: (body) => inTurn(() => body(unitOn(mapper, connection))),
    transact: (body) =>
      inTurn(() =>
        commit(async () => {
          const unit = createUnit(mapper, () => connection);
          const result = await body({ em: unit.use() });
          await unit.settle();
          return result;
        }),
      ),
  });
  const queryNow: RunQuery = async ({ text, cells, row }, params) => {
    const statement = db.prepare(text);
    statement.setReturnArrays(true);
    const found = statement.all(...(cells(params) as never[])) as readonly unknown[];
    return found.map((raw) => row((raw as unknown[]).map(asBuffer) as never));
  };
  const change: Transaction['change'] = async ({ text, cells }, params) =>
    Number(db.prepare(text).run(...(cells(params) as never[])).changes);
  const runQuery: RunQuery = (query, params) => inTurn(() => queryNow(query, params));
  const { retention } = openQueries();

  function auditTask(cuts: ManagementCuts, after: number): RetentionTask {
    return async (rowsMax) => {
      const limits = { rowsMax, rowsAtOnce: rowsMax, heavyRowsAtOnce: rowsMax, isOver: () => false, sequenceAt: null };
      const step = { runQuery: queryNow, change, ...limits, cuts, after };
      const { next, ...removed } = await inTurn(() => commit(() => MANAGEMENT_PARTS.audit(retention, step)));
      const end = { ...removed, next: next === null ? [] : [auditTask(cuts, next)] };
      return { heldMs: 0, removingMs: 0, end };
    };
  }

  const control = { queries: openQueries(), runQuery, idsPerQuery: 100, pointsPerQuery: 1 };
  return {
    store: createManagement({
      ...{ control, reads: control, notify: () => undefined },
      rooms: watchRooms(rooms, count),
      managementRetention: {
        begin: (cuts) => [auditTask(cuts, 0)],
        traceTerms: async () => (await runQuery(retention.listTraceTerms, {})).map(({ storedDays }) => storedDays),
      },
      cacheKeys: (reader) => cacheKeyReads({ reader, generation: () => generation }),
    }),
    execute(sql) {
      db.exec(sql);
      count();
    },
    read: async (sql) => db.prepare(sql).all() as Row[],
    bytes: (hex) => `X'${hex}'`,
    dispose: async () => db.close(),
  };
}

/** Node's handle as the query builder expects one. */
function connectTo(db: DatabaseSync): Kysely<unknown> {
  const prepare = (sql: string) => {
    const statement = db.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (cells: readonly unknown[]) => statement.all(...(cells as never[])).map(withBuffers),
      run: (cells: readonly unknown[]) => statement.run(...(cells as never[])),
      iterate: (cells: readonly unknown[]) => statement.iterate(...(cells as never[])),
    };
  };
  return new Kysely({ dialect: new SqliteDialect({ database: { prepare, close: () => undefined } }) });
}

function withBuffers(row: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asBuffer(value)]));
}

function asBuffer(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

describe('management alone, on the SQLite of Node', () => {
  managementPortConformance(openManagement);
});
