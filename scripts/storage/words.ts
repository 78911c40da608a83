/** How each store says what it says in its own way. */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom as postgresList } from 'kysely/helpers/postgres';
import { jsonArrayFrom as sqliteList } from 'kysely/helpers/sqlite';
import { IDS_AT_ONCE, type PostgresDb, type Words } from '../../src/storage/questions.ts';
import type { StoreKind } from '../../src/storage/tables/kinds.ts';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../../src/storage/tables/tables.ts';
import { asValue, cellOf } from './given.ts';
import { createRowWords } from './rows.ts';

const sqlite: Words = {
  ...createRowWords(SQLITE_TABLES),
  storedId: (given) => asValue(`packId(${cellOf(given)})`),
  idText: (column) => {
    const id = sql.ref(column);
    return sql`iif(typeof(${id}) = 'blob', lower(hex(${id})), ${id})`;
  },
  isOneOf: (column, given) => {
    const list = `...${isPacked(column) ? 'packIds' : 'fillPlaces'}(${cellOf(given)})`;
    // The list fills all of the places.
    const places = Array.from({ length: IDS_AT_ONCE }, (_, index) => sql`${asValue(index === 0 ? list : '')}`);
    return sql`${sql.ref(column)} in (${sql.join(places)})`;
  },
  isAsked: (column, given) => sql`${sql.ref(column)} = ${asValue(`...${cellOf(given)}`)}`,
  listOf: sqliteList as unknown as Words['listOf'],
  logOf: (db) =>
    db
      .selectFrom('EventByTime as log')
      .innerJoin('Event', (join) =>
        join.onRef('Event.organizationNumber', '=', 'log.organizationNumber').onRef('Event.seq', '=', 'log.seq'),
      ) as never,
  textBytes,
  atLeast: (column, least) => sql`max(${sql.lit(least)}, ${sql.ref(column)})`,
  // Whoever changes something changes it alone.
  hold: (query) => query,
  holdFree: (query) => query,
  storableText: (given) => given,
  isAmong: (column, given) =>
    sql`${sql.ref(column)} in (select value from json_each(${asValue(`JSON.stringify(${cellOf(given)})`)}))`,
  within: (log) => log,
  drawNumbers: (db, count) =>
    db.selectNoFrom([
      sql`ifnull((select seq from sqlite_sequence where name = 'webhook_deliveries'), 0) + 1`.as('first'),
      sql`${count}`.as('count'),
    ]) as never,
  eventsKept: () => sql`(select count(*) from events
    where events.organization_number = ${sql.ref('endpoint.organizationNumber')}
      and events.seq in (select value from json_each(${sql.ref('delivery.seqsJson')})))`,
};

const postgres: Words = {
  ...createRowWords(POSTGRES_TABLES),
  storedId: (given) => given,
  idText: (column) => sql`${sql.ref(column)}`,
  isOneOf: isAny,
  isAsked: isAny,
  listOf: postgresList as unknown as Words['listOf'],
  // The bound is what months are left out by.
  logOf: (db, toMs) =>
    (db as unknown as PostgresDb).selectFrom('Event as log').where('log.createdAtMs', '<=', toMs) as never,
  textBytes,
  // Unlike greatest(), which leaves out what is null.
  atLeast: (column, least) =>
    sql`case when ${sql.ref(column)} < ${sql.lit(least)} then ${sql.lit(least)} else ${sql.ref(column)} end`,
  hold: (query) => query.forUpdate(),
  holdFree: (query) => query.forUpdate().skipLocked(),
  storableText: (given) => asValue(`dropNul(${cellOf(given)})`),
  isAmong: isAny,
  // It says nothing new, but is what months are left out by.
  within(log, firstMs, lastMs) {
    const since = (log as AnyLog).where('createdAtMs', '>=', firstMs);
    return (lastMs === undefined ? since : since.where('createdAtMs', '<=', lastMs)) as never;
  },
  drawNumbers: (db, count) =>
    db
      .selectFrom(sql`generate_series(1, ${count}::integer)`.as('drawn'))
      .select([sql`nextval('webhook_deliveries_number_seq')`.as('first'), sql.lit(1).as('count')]) as never,
  // The log loses whole months, oldest first: while the first of some events is there, so are the others.
  eventsKept: () => sql`(select ${sql.ref('delivery.eventCount')} from events
    where events.organization_number = ${sql.ref('endpoint.organizationNumber')}
      and events.created_at = ${sql.ref('delivery.eventsFromMs')}
      and events.seq = (${sql.ref('delivery.seqsJson')}::jsonb ->> 0)::bigint)`,
};

export const WORDS: Readonly<Record<StoreKind, Words>> = { sqlite, postgres };

type AnyLog = SelectQueryBuilder<{ log: { createdAtMs: number } }, 'log', unknown>;

function isAny(column: string, given: unknown) {
  return sql<SqlBool>`${sql.ref(column)} = any(${given})`;
}

function textBytes(columns: readonly string[]) {
  const parts = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(parts, sql` + `)}`;
}

/** Whether a column keeps ids as packedId() of kinds.ts says. */
function isPacked(column: string): boolean {
  return /(^|\.)(spanId|traceId)$/.test(column);
}
