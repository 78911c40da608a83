/** What rooms of management run on. */

import { type RawQueryFragment, raw } from '@mikro-orm/core';
import type { EntityManager } from '../mapper.ts';
import type { Db, Tables } from '../queries.ts';
import type { Transact, Transaction } from '../transaction.ts';

/** Bodies MUST await nothing but the database: others wait for them. */
export type Units = {
  /** Reads without a transaction. */
  readonly read: <T>(body: (em: EntityManager) => Promise<T>) => Promise<T>;
  /** Everything the body changes is stored, or nothing; it may run more than once. */
  readonly transact: Transact<Pick<Transaction, 'em'>>;
  readonly log: LogEnd;
};

/** How a store keeps the log, for the transactions that append to it here. */
export type LogEnd = {
  /** The time by the clock that dates events. */
  readonly nowMs: (em: EntityManager) => Promise<number>;
  /** Makes room for events of an instant. */
  readonly prepare: (em: EntityManager, createdAtMs: number) => Promise<void>;
  /** Whether envelopes have a table of their own. */
  readonly isEnvelopeApart: boolean;
};

/**
 * The query builder, in the transaction of a unit of work, for queries that say more than the mapper's own. Tables and
 * columns have the names that they have in code, and values their forms there. Queries MUST select columns under these
 * names (`columns`), for else the mapper converts them twice, and MUST NOT join tables whose columns of the same name
 * are of different kinds.
 */
export function kyselyOf(em: EntityManager): Db {
  return em.getKysely<Tables>({ tableNamingStrategy: 'entity', columnNamingStrategy: 'property', convertValues: true });
}

/** The columns of a row as a plain object, which may pass between threads; without some. */
export function plain<Row extends object, const Without extends keyof Row & string = never>(
  row: Row,
  ...without: readonly Without[]
): Plain<Row, Without> {
  const names = Object.keys(row).filter((name) => !without.some((each) => each === name));
  return Object.fromEntries(names.map((name) => [name, row[name as keyof Row]])) as Plain<Row, Without>;
}

export type Plain<Row, Without = never> = { -readonly [Name in Exclude<keyof Row & string, Without>]: Row[Name] };

/** One more than a column has when the statement runs. */
export function increased(column: string): RawQueryFragment {
  return raw(`${column} + 1`);
}
