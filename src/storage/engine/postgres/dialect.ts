/** The SQL in which PostgreSQL differs; see `Dialect`. */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Dialect, PostgresDb } from '../../queries.ts';
import { MOVED_COLUMNS, MOVED_MIN_BYTES, MOVED_PATTERN } from '../../rows/moved-text.ts';
import { arrayOf } from '../../statements/arrays.ts';
import { type Column, columnNamed, quote, type Schema, typeOf } from '../../statements/columns.ts';
import { sumOf } from '../../statements/lengths.ts';
import { memberOf, Placeholder } from '../../statements/placeholder.ts';
import { createRowDialect } from '../../statements/rows.ts';

export function createDialect(schema: Schema, formOf: (column: Column) => string): Dialect {
  /** Joins the keys, so that every plan starts from them. Locks rows in one order, to avoid deadlocks. */
  const keyed: Dialect['keyed'] = (query, name, columns, lock) => {
    const table = schema.tableOf(name);
    const keys = Object.entries(columns).map(([property, value]) => {
      const column = columnNamed(table, property);
      return { column, given: new Placeholder({ member: memberOf(value), form: formOf(column), as: 'value' }) };
    });
    const names = keys.map((_, index) => `key_${index}`);
    const arrays = keys.map(({ column, given }) => arrayOf(given, typeOf(column)));
    const given = sql`unnest(${sql.join(arrays)})`.as(sql.raw(`"given" (${names.join(', ')})`) as never);
    const stored = keys.map(({ column }) => `${quote(table.tableName)}.${quote(column.fieldNames[0])}`);
    const isKey = sql<SqlBool>`${sql.raw(stored.map((column, index) => `${column} = "given".${names[index]}`).join(' and '))}`;
    const found = (query as AnySelect).innerJoin(given as never, (join) => join.on(isKey as never)) as AnySelect;
    if (lock === undefined) return found as never;
    const ordered = stored.reduce((rows, column) => rows.orderBy(sql.raw(column)), found);
    return ordered.forUpdate(table.name) as never;
  };
  return {
    ...createRowDialect(schema),
    storedId: (params) => params,
    idText: (column) => sql`${sql.ref(column)}`,
    isOneOf: isAny,
    isPoint: isAny,
    listOf: jsonArrayFrom as unknown as Dialect['listOf'],
    withEnvelope: (events) => events as never,
    envelopesOf: (db) => (db as unknown as PostgresDb).selectFrom('Event as log') as never,
    keyed,
    requestsOf(db, key) {
      // Joins the keys first: otherwise PostgreSQL would scan all requests.
      const known = keyed((db as unknown as PostgresDb).selectFrom('RequestKey'), 'RequestKey', key);
      return known.innerJoin('Request', (join) =>
        join
          .onRef('Request.organizationNumber', '=', 'RequestKey.organizationNumber')
          .onRef('Request.changedAtMs', '=', 'RequestKey.changedAtMs')
          .onRef('Request.key', '=', 'RequestKey.key'),
      ) as never;
    },
    textOf: (column) => sql`${sql.ref(column)}`,
    bytesOf,
    textBytes: (columns) => sumOf(columns.map(bytesOf)),
    // Keeps null, which greatest() ignores.
    atLeast: (column, least) =>
      sql`case when ${sql.ref(column)} < ${sql.lit(least)} then ${sql.lit(least)} else ${sql.ref(column)} end`,
    holds: (text, params) => sql`(${params}::text is null or strpos(${text}, ${params}::text) > 0)`,
    lock: (query) => query.forUpdate(),
    keep: (query) => query.forKeyShare(),
    lockAvailable: (query) => query.forUpdate().skipLocked(),
    lockName: (params) => sql`pg_advisory_xact_lock(hashtextextended(${params}::text, 0))::text`,
    isAmong: isAny,
    // Redundant, but lets PostgreSQL skip months.
    within(log, firstMs, lastMs) {
      const since = (log as AnyLog).where('createdAtMs', '>=', firstMs);
      return (lastMs === undefined ? since : since.where('createdAtMs', '<=', lastMs)) as never;
    },
    ownRows: () => sql`pg_backend_pid()`,
    drawNumbers: (db, count) =>
      db
        .selectFrom(sql`generate_series(1, ${count}::integer)`.as('drawn'))
        .select([sql`nextval('webhook_deliveries_number_seq')`.as('first'), sql.lit(1).as('count')]) as never,
    // The log drops whole months, oldest first: if the oldest event remains, all do. Where the clock was set back, it is not
    // the first.
    eventsKept: () => sql`(select ${sql.ref('delivery.eventCount')} from events
      where events.organization_number = ${sql.ref('endpoint.organizationNumber')}
        and events.created_at = ${sql.ref('delivery.eventsFromMs')}
        and events.seq in (select value::bigint from jsonb_array_elements_text(${sql.ref('delivery.seqs')}::jsonb))
      limit 1)`,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the dialect serves any table.
type AnySelect = SelectQueryBuilder<any, any, any>;

type AnyLog = SelectQueryBuilder<{ log: { createdAtMs: number } }, 'log', unknown>;

/** The size of a large text is known without it; only what is small is looked at. */
function bytesOf(column: string) {
  const [text, bytes] = [sql.ref(column), sql<number | null>`octet_length(${sql.ref(column)})`];
  // Of other columns anybody may send a text that looks like a reference.
  if (!MOVED_COLUMNS.has(column)) return bytes;
  const isMoved = sql`${bytes} < ${sql.lit(MOVED_MIN_BYTES)} and ${text} like ${sql.lit(MOVED_PATTERN)}`;
  const moved = sql`substring(${text} from 2 for position(' ' in ${text}) - 2)::integer`;
  return sql<number | null>`case when ${isMoved} then ${moved} else ${bytes} end`;
}

function isAny(column: string, params: unknown) {
  return sql<SqlBool>`${sql.ref(column)} = any(${params})`;
}
