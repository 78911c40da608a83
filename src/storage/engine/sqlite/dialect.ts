/** The SQL in which SQLite differs; see `Dialect`. */

import { type SelectQueryBuilder, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/sqlite';
import { type Dialect, IDS_PER_QUERY_MAX } from '../../queries.ts';
import { type Column, columnNamed, type Schema } from '../../statements/columns.ts';
import { sumOf } from '../../statements/lengths.ts';
import { memberOf, Placeholder, placeholder } from '../../statements/placeholder.ts';
import { createRowDialect } from '../../statements/rows.ts';

export function createDialect(schema: Schema, formOf: (column: Column) => string): Dialect {
  const keyed: Dialect['keyed'] = (query, name, columns) => {
    const table = schema.tableOf(name);
    return Object.entries(columns).reduce((found, [property, value]) => {
      const form = formOf(columnNamed(table, property));
      return found.where(`${name}.${property}`, '=', placeholder(memberOf(value), form));
    }, query as AnySelect) as never;
  };
  return {
    ...createRowDialect(schema),
    storedId: (params) => placeholder(memberOf(params), 'id'),
    idText(column) {
      const id = sql.ref(column);
      return sql`iif(typeof(${id}) = 'blob', lower(hex(${id})), ${id})`;
    },
    isOneOf(column, params) {
      const list = placeholder(memberOf(params), isPacked(column) ? 'ids' : 'filled', 'list');
      // The list gives the values of all of them.
      const others = Array.from({ length: IDS_PER_QUERY_MAX - 1 }, () => new Placeholder(null) as never);
      return sql`${sql.ref(column)} in (${sql.join([list, ...others])})`;
    },
    isPoint: (column, params) => sql`${sql.ref(column)} = ${placeholder(memberOf(params), 'plain', 'list')}`,
    listOf: jsonArrayFrom as unknown as Dialect['listOf'],
    withEnvelope: (events) =>
      events.innerJoin('Envelope', (join) =>
        join
          .onRef('Envelope.organizationNumber', '=', 'Event.organizationNumber')
          .onRef('Envelope.seq', '=', 'Event.seq'),
      ) as never,
    envelopesOf: (db) => db.selectFrom('Envelope as log') as never,
    keyed,
    requestsOf(db, key) {
      const indexed = keyed(db.selectFrom('RequestKey'), 'RequestKey', key);
      return indexed.innerJoin('Request', 'Request.sequence', 'RequestKey.sequence') as never;
    },
    textOf: (column) =>
      sql`case typeof(${sql.ref(column)}) when 'blob' then ${largeText('text', column)} else ${sql.ref(column)} end`,
    bytesOf,
    textBytes: (columns) => sumOf(columns.map(bytesOf)),
    atLeast: (column, least) => sql`max(${sql.lit(least)}, ${sql.ref(column)})`,
    holds: (text, params) => sql`(${params} is null or instr(${text}, ${params}) > 0)`,
    // SQLite has only one writer, so rows need no locks.
    lock: (query) => query,
    keep: (query) => query,
    lockAvailable: (query) => query,
    lockName: (params) => sql`${params}`,
    isAmong: (column, params) =>
      sql`${sql.ref(column)} in (select value from json_each(${placeholder(memberOf(params), 'json')}))`,
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
}

// biome-ignore lint/suspicious/noExplicitAny: the dialect serves any table.
type AnySelect = SelectQueryBuilder<any, any, any>;

/** Where a number stands for a large text (large-texts.ts), the bytes of that. */
function bytesOf(column: string) {
  const bytes = sql`case typeof(${sql.ref(column)}) when 'blob' then ${largeText('octet_length(text)', column)}`;
  return sql<number | null>`${bytes} else octet_length(${sql.ref(column)}) end`;
}

function largeText(selected: string, column: string) {
  return sql`(select ${sql.raw(selected)} from large_texts where number = cast(${sql.ref(column)} as integer))`;
}

/** Whether a column is a packedId() of kinds.ts. */
function isPacked(column: string): boolean {
  return /(^|\.)(spanId|traceId)$/.test(column);
}
