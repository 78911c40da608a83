/** The SQL in which the stores differ. */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom as postgresList } from 'kysely/helpers/postgres';
import { jsonArrayFrom as sqliteList } from 'kysely/helpers/sqlite';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../../src/storage/entities/entities.ts';
import type { StoreKind } from '../../src/storage/entities/kinds.ts';
import { type Dialect, IDS_PER_QUERY_MAX, type PostgresDb } from '../../src/storage/queries.ts';
import { type Column, encodeCode, type Mapper, packCode, quote, type Table, typeOf } from './mapper.ts';
import { asValue, cellOf } from './param.ts';
import { createRowDialect } from './rows.ts';

type StoreDialect = Omit<Dialect, 'allOf' | 'keyed' | 'requestsOf'>;

const sqlite: StoreDialect = {
  ...createRowDialect(SQLITE_TABLES),
  storedId: (params) => asValue(`packId(${cellOf(params)})`),
  idText: (column) => {
    const id = sql.ref(column);
    return sql`iif(typeof(${id}) = 'blob', lower(hex(${id})), ${id})`;
  },
  isOneOf: (column, params) => {
    const list = `...${isPacked(column) ? 'packIds' : 'fillParameters'}(${cellOf(params)})`;
    // The list fills all placeholders.
    const names = Array.from({ length: IDS_PER_QUERY_MAX }, (_, index) => sql`${asValue(index === 0 ? list : '')}`);
    return sql`${sql.ref(column)} in (${sql.join(names)})`;
  },
  isPoint: (column, params) => sql`${sql.ref(column)} = ${asValue(`...${cellOf(params)}`)}`,
  listOf: sqliteList as unknown as Dialect['listOf'],
  withEnvelope: (events) =>
    events.innerJoin('Envelope', (join) =>
      join
        .onRef('Envelope.organizationNumber', '=', 'Event.organizationNumber')
        .onRef('Envelope.seq', '=', 'Event.seq'),
    ) as never,
  envelopesOf: (db) => db.selectFrom('Envelope as log') as never,
  textBytes,
  atLeast: (column, least) => sql`max(${sql.lit(least)}, ${sql.ref(column)})`,
  holds: (text, params) => sql`(${params} is null or instr(${text}, ${params}) > 0)`,
  // SQLite has only one writer, so rows need no locks.
  lock: (query) => query,
  lockAvailable: (query) => query,
  isAmong: (column, params) =>
    sql`${sql.ref(column)} in (select value from json_each(${asValue(`JSON.stringify(${cellOf(params)})`)}))`,
  within: (log) => log,
  ownRows: () => sql.lit(0),
  drawNumbers: (db, count) =>
    db.selectNoFrom([
      sql`ifnull((select seq from sqlite_sequence where name = 'webhook_deliveries'), 0) + 1`.as('first'),
      sql`${count}`.as('count'),
    ]) as never,
  eventsKept: () => sql`(select count(*) from envelopes
    where envelopes.organization_number = ${sql.ref('endpoint.organizationNumber')}
      and envelopes.seq in (select value from json_each(${sql.ref('delivery.seqs')})))`,
};

const postgres: StoreDialect = {
  ...createRowDialect(POSTGRES_TABLES),
  storedId: (params) => params,
  idText: (column) => sql`${sql.ref(column)}`,
  isOneOf: isAny,
  isPoint: isAny,
  listOf: postgresList as unknown as Dialect['listOf'],
  withEnvelope: (events) => events as never,
  envelopesOf: (db) => (db as unknown as PostgresDb).selectFrom('Event as log') as never,
  textBytes,
  // Keeps null, which greatest() ignores.
  atLeast: (column, least) =>
    sql`case when ${sql.ref(column)} < ${sql.lit(least)} then ${sql.lit(least)} else ${sql.ref(column)} end`,
  holds: (text, params) => sql`(${params}::text is null or strpos(${text}, ${params}::text) > 0)`,
  lock: (query) => query.forUpdate(),
  lockAvailable: (query) => query.forUpdate().skipLocked(),
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
  // The log drops whole months, oldest first: if the first event remains, all do.
  eventsKept: () => sql`(select ${sql.ref('delivery.eventCount')} from events
    where events.organization_number = ${sql.ref('endpoint.organizationNumber')}
      and events.created_at = ${sql.ref('delivery.eventsFromMs')}
      and events.seq = (${sql.ref('delivery.seqs')}::jsonb ->> 0)::bigint)`,
};

/** Creates the dialect of a store. */
export function createDialect(store: StoreKind, { tableOf }: Mapper): Dialect {
  const keyed: Dialect['keyed'] = (query, name, columns, lock) => {
    const table = tableOf(name);
    const keys = Object.entries(columns).map(([property, params]) => ({
      column: columnNamed(table, property),
      cell: cellOf(params),
    }));
    return (store === 'sqlite' ? withKey : withKeys)(query as AnySelect, { table, keys, lock }) as never;
  };
  return {
    ...{ sqlite, postgres }[store],
    allOf: (name, ...without) =>
      tableOf(name)
        .columns.filter((column) => !without.some((each) => each === column.name))
        .map((column) => `${name}.${column.name} as ${column.name}`) as never,
    keyed,
    requestsOf(db, key) {
      if (store === 'sqlite') {
        const indexed = keyed(db.selectFrom('RequestKey'), 'RequestKey', key);
        return indexed.innerJoin('Request', 'Request.sequence', 'RequestKey.sequence') as never;
      }
      // Joins the keys first: otherwise PostgreSQL would scan all requests.
      const known = keyed((db as unknown as PostgresDb).selectFrom('RequestKey'), 'RequestKey', key);
      return known.innerJoin('Request', (join) =>
        join
          .onRef('Request.organizationNumber', '=', 'RequestKey.organizationNumber')
          .onRef('Request.changedAtMs', '=', 'RequestKey.changedAtMs')
          .onRef('Request.key', '=', 'RequestKey.key'),
      ) as never;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the dialect serves any table.
type AnySelect = SelectQueryBuilder<any, any, any>;
type KeyLookup = {
  readonly table: Table;
  readonly keys: readonly { readonly column: Column; readonly cell: string }[];
  readonly lock: 'lock' | undefined;
};

function withKey(query: AnySelect, { table, keys }: KeyLookup): AnySelect {
  return keys.reduce(
    (found, { column, cell }) =>
      found.where(`${table.name}.${column.name}`, '=', asValue(packCode('sqlite', column, cell))),
    query,
  );
}

/** Joins the keys, so that every plan starts from them. Locks rows in one order, to avoid deadlocks. */
function withKeys(query: AnySelect, { table, keys, lock }: KeyLookup): AnySelect {
  const arrays = keys.map(({ column, cell }) => {
    const type = typeOf(column);
    return sql`${asValue(encodeCode(type, packCode('postgres', column, cell)))}::${sql.raw(type)}[]`;
  });
  const names = keys.map((_, index) => `key_${index}`);
  const given = sql`unnest(${sql.join(arrays)})`.as(sql.raw(`"given" (${names.join(', ')})`) as never);
  const stored = keys.map(({ column }) => `${quote(table.tableName)}.${quote(column.fieldNames[0])}`);
  const isKey = sql<SqlBool>`${sql.raw(stored.map((column, index) => `${column} = "given".${names[index]}`).join(' and '))}`;
  const found = query.innerJoin(given as never, (join) => join.on(isKey as never)) as AnySelect;
  if (lock === undefined) return found;
  return stored.reduce((ordered, column) => ordered.orderBy(sql.raw(column)), found).forUpdate(table.name);
}

function columnNamed({ name, columns }: Table, property: string): Column {
  const column = columns.find((each) => each.name === property);
  if (column === undefined) throw new Error(`${name} has no ${property}`);
  return column;
}

type AnyLog = SelectQueryBuilder<{ log: { createdAtMs: number } }, 'log', unknown>;

function isAny(column: string, params: unknown) {
  return sql<SqlBool>`${sql.ref(column)} = any(${params})`;
}

function textBytes(columns: readonly string[]) {
  const parts = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(parts, sql` + `)}`;
}

/** Whether a column is a packedId() of kinds.ts. */
function isPacked(column: string): boolean {
  return /(^|\.)(spanId|traceId)$/.test(column);
}
