/**
 * ClickHouse behind HTTP: the engine that npm's chdb embeds, with the part of ClickHouse's HTTP interface that its client uses.
 * A process of its own, because it holds one data folder and some hundred megabytes: `node server.ts FOLDER [PORT]` prints its port.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

type Result = { bytes(): Uint8Array; readonly rowsRead: number };
type Session = {
  readonly connection: unknown;
  queryAsync(query: string, options: { readonly format: string }): Promise<Result>;
  queryBindAsync(query: string, params: object, options: { readonly format: string }): Promise<Result>;
  close(): void;
};
type Chdb = { readonly Session: new (path: string) => Session };
type Addon = {
  InsertRawAsyncConnection(connection: unknown, prefix: string, data: Buffer, countLines: boolean): Promise<unknown>;
};

const load = createRequire(import.meta.url);
const { Session }: Chdb = load('chdb');
const addon: Addon = load(`@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`);

const [folder, port = '0'] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node server.ts FOLDER [PORT]');
const session = new Session(folder);

/** URL parameters of the interface; every other one is a setting of the query. */
const NOT_SETTINGS = new Set(['query', 'database', 'query_id', 'session_id', 'default_format', 'role']);
const FORMAT = /\s+FORMAT\s+(\w+)\s*;?\s*$/i;
const ERROR = /Code: (\d+)\. DB::Exception/;
const FAILED = 1_000;

const server = createServer((request, response) => {
  void answer(request, response).catch((error: unknown) => fail(response, error));
});
server.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  session.close();
  process.exit(0);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  const body = await readBody(request);
  const inUrl = searchParams.get('query');
  const asked = { ...toStatement(inUrl ?? body.toString(), searchParams), params: paramsOf(searchParams) };
  const isInsert = inUrl !== null && /^\s*INSERT\s/i.test(inUrl);
  const result = await inTurn(() =>
    run({ ...asked, database: searchParams.get('database'), data: isInsert ? body : null }),
  );
  response.setHeader('X-ClickHouse-Summary', JSON.stringify({ read_rows: String(result?.rowsRead ?? 0) }));
  response.setHeader('X-ClickHouse-Format', asked.format);
  response.end(Buffer.from(result?.bytes() ?? []));
}

type Asked = {
  readonly sql: string;
  readonly format: string;
  readonly params: Readonly<Record<string, string>>;
  readonly database: string | null;
  readonly data: Buffer | null;
};

let used = 'default';
let last: Promise<unknown> = Promise.resolve();

/** The session has one current database. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
}

async function run({ sql, format, params, database, data }: Asked): Promise<Result | null> {
  if (database !== null && database !== used) {
    await session.queryAsync(`USE ${database}`, { format: 'Null' });
    used = database;
  }
  if (data !== null) {
    await addon.InsertRawAsyncConnection(session.connection, `${sql} FORMAT ${format}`, data, false);
    return null;
  }
  if (Object.keys(params).length > 0) return await session.queryBindAsync(sql, params, { format });
  return await session.queryAsync(sql, { format });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}

/** The settings of the URL as SQL, and the format apart, as the embedded engine takes them. */
function toStatement(text: string, parameters: URLSearchParams): { readonly sql: string; readonly format: string } {
  const format = FORMAT.exec(text)?.[1] ?? 'TabSeparated';
  const sql = text.replace(FORMAT, '').replace(/\s*;\s*$/, '');
  const settings = [...parameters].filter(([name]) => !NOT_SETTINGS.has(name) && !name.startsWith('param_'));
  if (settings.length === 0) return { sql, format };
  const said = settings
    .map(([name, value]) => `${name} = ${/^-?\d+(\.\d+)?$/.test(value) ? value : `'${value}'`}`)
    .join(', ');
  return { sql: /^\s*(SELECT|WITH|INSERT)\s/i.test(sql) ? `${sql} SETTINGS ${said}` : sql, format };
}

/** The client sends values as they stand in tab-separated files. */
function paramsOf(parameters: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...parameters].flatMap(([name, value]) =>
      name.startsWith('param_') ? [[name.slice(6), unescapeText(value)]] : [],
    ),
  );
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', '0': '\0' };

function unescapeText(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}

function fail(response: ServerResponse, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  const said = ERROR.test(text) ? text : `Code: ${FAILED}. DB::Exception: ${text}`;
  if (!response.headersSent) {
    response.statusCode = 500;
    response.setHeader('X-ClickHouse-Exception-Code', ERROR.exec(said)?.[1] ?? String(FAILED));
  }
  response.end(said);
}
