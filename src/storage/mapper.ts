/** The object mapper. Each engine opens it in its own way; see mapper.ts of its folder. */

import type { AbstractSqlDriver, MikroORM, SqlEntityManager } from '@mikro-orm/sql';
import type { Kysely } from 'kysely';

/** A unit of work of its own: entities that it has read are written by its flush. */
export type EntityManager = SqlEntityManager<AbstractSqlDriver>;

export type Mapper = MikroORM<AbstractSqlDriver>;

/**
 * Lets a transaction that its engine has begun have a unit of work. `settle` MUST be called before the commit: it writes
 * what the unit has changed.
 */
export function createUnit(mapper: Mapper, connection: () => Kysely<unknown>) {
  let unit: EntityManager | null = null;
  return {
    use(): EntityManager {
      if (unit === null) {
        unit = mapper.em.fork();
        unit.setTransactionContext(connection());
      }
      return unit;
    },
    settle: async () => await unit?.flush(),
  };
}
