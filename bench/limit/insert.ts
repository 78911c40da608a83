/**
 * The limit program of pg-ingest: node:http, JSON.parse, and one durable indexed row per trace by a bare multi-row
 * insert into PostgreSQL. Usage: node insert.ts <database url>
 */

import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';
import { endWithParent, sayReady } from './ready.ts';

type Waiting = { readonly id: string; readonly body: string; readonly response: ServerResponse };

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error('Usage: node insert.ts <database url>');
const rowsMax = 128;
// One commits while the other gets rows; measured, a third one is slower.
const connections = 2;
const answer = Buffer.from('{"message":"Trace received successfully."}');
const answerHeaders = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length };

const idle = await Promise.all(Array.from({ length: connections }, () => open()));
await idle[0]?.query('CREATE TABLE item (id text COLLATE "C" PRIMARY KEY, body text NOT NULL)');
const insertTexts = new Map<number, string>();
let waiting: Waiting[] = [];
let scheduled = false;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const first = chunks[0];
    const body = (chunks.length === 1 && first ? first : Buffer.concat(chunks)).toString('utf8');
    const trace: { trace_id: string } = JSON.parse(body);
    waiting.push({ id: trace.trace_id, body, response });
    schedule();
  });
});

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  // setImmediate runs after all readable sockets were read; their rows form the group.
  setImmediate(() => {
    scheduled = false;
    flush();
  });
}

/** One statement is one transaction; rows that arrive while all connections are busy form the next group. */
function flush(): void {
  while (waiting.length > 0) {
    const client = idle.pop();
    if (client === undefined) return;
    const group = waiting.slice(0, rowsMax);
    waiting = waiting.slice(rowsMax);
    void insert(client, group).then(() => {
      for (const { response } of group) {
        response.writeHead(200, answerHeaders);
        response.end(answer);
      }
      idle.push(client);
      if (waiting.length > 0) schedule();
    });
  }
}

function insert(client: pg.Client, group: readonly Waiting[]): Promise<unknown> {
  return client.query({
    name: `insert ${group.length}`,
    text: insertText(group.length),
    values: group.flatMap(({ id, body }) => [id, body]),
  });
}

/** In measurements value lists were faster than arrays, though each length is its own prepared statement. */
function insertText(rows: number): string {
  const known = insertTexts.get(rows);
  if (known !== undefined) return known;
  const placeholders = Array.from({ length: rows }, (_, row) => `($${2 * row + 1}, $${2 * row + 2})`);
  const text = `INSERT INTO item (id, body) VALUES ${placeholders.join(', ')}`;
  insertTexts.set(rows, text);
  return text;
}

/** Checks durability: a reference that loses rows in a power cut is not comparable. */
async function open(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const setting of ['fsync', 'synchronous_commit']) {
    const { rows } = await client.query(`SHOW ${setting}`);
    if (rows[0]?.[setting] !== 'on') throw new Error(`Not durable: ${setting} is ${rows[0]?.[setting]}.`);
  }
  return client;
}

server.listen(0, '127.0.0.1', () => sayReady(server.address()));
endWithParent();
