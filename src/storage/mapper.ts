/**
 * The object mapper: what it knows of the tables, without a connection. Each unit of work is given the one to run on; see
 * mapper.ts of the engines.
 */

import type { AbstractSqlDriver, MikroORM, SqlEntityManager } from '@mikro-orm/sql';
import type { Kysely } from 'kysely';

/** A unit of work of its own: entities that it has read are written by its flush. */
export type EntityManager = SqlEntityManager<AbstractSqlDriver>;

export type Mapper = MikroORM<AbstractSqlDriver>;

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
