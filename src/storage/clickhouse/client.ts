/** Statements to ClickHouse over its HTTP interface. */

import { ClickHouseError, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client';
import { Fault, unavailableFault } from '../../domain/fault.ts';

export type ClickHouse = {
  /** Reads rows. A member per column; numbers of 64 bits are read as doubles. */
  rows<Row>(sql: string): Promise<readonly Row[]>;
  /** Changes the schema, or deletes. */
  command(sql: string): Promise<void>;
  /** Inserts rows; resolves once they are on the disk. */
  insert(table: string, rows: readonly object[]): Promise<void>;
  close(): Promise<void>;
};

/** Codes of a server that does not let this user in, or not do what is needed. */
const REFUSING: ReadonlySet<string> = new Set(['164', '192', '193', '194', '497', '516']);
/** Codes of failures that pass by themselves, or by what an operator does: limits, disks, replicas, a server that shuts down. */
const PASSING: ReadonlySet<string> = new Set([
  ...REFUSING,
  ...['159', '160', '201', '202', '203', '209', '210', '225', '236', '241', '242', '243', '252', '319', '394'],
  ...['439', '745', '999'],
  // Away or empty: the tables are made again.
  ...['60', '81'],
]);
const RETRY_AFTER_SECONDS = 5;
/** Whoever reads waits for half a minute. */
const READ_MAX_SECONDS = 25;
const REQUEST_MAX_MS = 60_000;
const CONNECTIONS_MAX = 10;
const MEMORY_MAX_BYTES = 2 * 1024 ** 3;
/** Lists of traces that changed stand in the text of a statement. */
const STATEMENT_MAX_BYTES = 16 * 1024 ** 2;
const ELEMENTS_MAX = 500_000;
/** The log of the server would keep what people search for. */
const UNLOGGED = { log_queries: 0 } as const;
/** A profile of the server might answer inserts before it has written them. */
const INSERT = { ...UNLOGGED, async_insert: 0 } as const;
/** The tables can be filled anew, so no size protects them. */
const COMMAND = { ...UNLOGGED, max_table_size_to_drop: '0', max_partition_size_to_drop: '0' } as const;

/** `clickhouse:` or, over TLS, `clickhouses:`, then `//user:password@host:port/database`. */
export function openClickHouse(address: string): ClickHouse {
  const url = new URL(address.replace(/^clickhouse/, 'http'));
  const client = createClient({
    url: `${url.protocol}//${url.host}`,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || 'default',
    application: 'spandrel',
    request_timeout: REQUEST_MAX_MS,
    max_open_connections: CONNECTIONS_MAX,
    // Failures are told by whoever asked.
    log: { level: ClickHouseLogLevel.OFF },
  });
  const settings: ClickHouseSettings = {
    ...UNLOGGED,
    output_format_json_quote_64bit_integers: 0,
    max_query_size: String(STATEMENT_MAX_BYTES),
    max_ast_elements: String(ELEMENTS_MAX),
    max_expanded_ast_elements: String(ELEMENTS_MAX),
    max_memory_usage: String(MEMORY_MAX_BYTES),
    max_execution_time: READ_MAX_SECONDS,
    enable_extended_results_for_datetime_functions: 1,
  };
  return {
    rows: <Row>(sql: string) =>
      translating(async () => {
        const read = {
          query: sql,
          format: 'JSONEachRow',
          clickhouse_settings: settings,
          abort_signal: AbortSignal.timeout(READ_MAX_SECONDS * 1_000),
        } as const;
        return await (await client.query(read)).json<Row>();
      }),
    command: (sql) =>
      translating(async () => void (await client.command({ query: sql, clickhouse_settings: COMMAND }))),
    insert: (table, rows) =>
      translating(async () => {
        if (rows.length > 0)
          await client.insert({ table, values: rows, format: 'JSONEachRow', clickhouse_settings: INSERT });
      }),
    close: () => client.close(),
  };
}

async function translating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFault(error);
  }
}

/** Everything but an error of a statement is a failure of the network or of the server. Why is for the log alone. */
export function toFault(error: unknown): unknown {
  if (error instanceof Fault || (error instanceof ClickHouseError && !PASSING.has(error.code))) return error;
  return unavailableFault('Traces cannot be searched or summed up right now. Try again.', RETRY_AFTER_SECONDS, error);
}

/** Whether the server refuses this user, so that waiting does not help. */
export function isRefusal({ cause }: { readonly cause?: unknown }): boolean {
  return cause instanceof ClickHouseError && REFUSING.has(cause.code);
}

/** A text in a statement. */
export function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;
}

/** An array of numbers in a statement. */
export function listOf(numbers: Iterable<number | null>): string {
  return `[${[...numbers].map(String).join(',')}]`;
}
