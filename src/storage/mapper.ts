/**
 * The object mapper: what it knows of the tables, without a connection. Each unit of work is given the one to run on; see
 * mapper.ts of the engines.
 */

import type { Configuration, DriverException } from '@mikro-orm/core';
import { type AbstractSqlConnection, AbstractSqlDriver, MikroORM, type SqlEntityManager } from '@mikro-orm/sql';
import type { Kysely } from 'kysely';
import { POSTGRES_TABLES, SQLITE_TABLES } from './entities/entities.ts';
import { fitTo, type StoreKind } from './entities/kinds.ts';

/** A unit of work of its own: entities that it has read are written by its flush. */
export type EntityManager = SqlEntityManager<AbstractSqlDriver>;

export type Mapper = MikroORM<AbstractSqlDriver>;

/** A driver whose units of work are given their connections. */
export abstract class UnconnectedDriver<
  Connection extends AbstractSqlConnection,
> extends AbstractSqlDriver<Connection> {
  /** The error of the database as it is: failures.ts tells them apart, and a Fault stays one. */
  override convertException(exception: Error): DriverException {
    return exception;
  }
}

type DriverOf = new (config: Configuration) => UnconnectedDriver<AbstractSqlConnection>;

/** Describes the tables, which takes longer than opening a database: call it once per process. */
export function createMapper(driver: DriverOf, store: StoreKind): Mapper {
  return new MikroORM({
    driver,
    // Only a name: nothing is connected.
    dbName: 'spandrel',
    ensureDatabase: false,
    entities: [...(store === 'sqlite' ? SQLITE_TABLES : POSTGRES_TABLES)],
    discovery: { onMetadata: fitTo(store) },
  });
}

/** A unit of work on a connection, perhaps in a transaction that somebody else begins and ends. */
export function unitOn(mapper: Mapper, connection: Kysely<unknown>): EntityManager {
  const unit = mapper.em.fork();
  unit.setTransactionContext(connection);
  return unit;
}

/**
 * Lets a transaction that its engine has begun have a unit of work. `settle` MUST be called before the commit: it writes
 * what the unit has changed.
 */
export function createUnit(mapper: Mapper, connection: () => Kysely<unknown>) {
  let unit: EntityManager | null = null;
  return {
    use(): EntityManager {
      unit ??= unitOn(mapper, connection());
      return unit;
    },
    settle: async () => await unit?.flush(),
  };
}
