/**
 * The limit program of events-page: node:http and one prepared range select of 200 envelopes, on the server's rows. It
 * unpacks them, as the server has to.
 * Usage: node page.ts <database url>, then GET /page?seq=<sequence number of the newest>&to=<its instant>
 */

import { createServer, type ServerResponse } from 'node:http';
import Database from 'better-sqlite3';
import pg from 'pg';
import { unpackEnvelope } from '../../src/storage/engine/sqlite/compact-envelopes.ts';
import { endWithParent, sayReady } from './ready.ts';

type PageStart = { readonly seq: number; readonly toMs: number };
type ReadPage = (start: PageStart) => Promise<readonly string[]>;

const pageEvents = 200;
const placePattern = /^\/page\?seq=(\d+)&to=(\d+)$/;

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error('Usage: node page.ts <database url>');
const readPage = await (url.startsWith('sqlite:') ? openFile(url) : connect(url));

/** Selects by sequence number, which has no gaps and needs no join. */
async function openFile(address: string): Promise<ReadPage> {
  const db = new Database(address.slice('sqlite:'.length), { readonly: true });
  const statement = db
    .prepare<[number, number], string>(
      'SELECT envelope FROM envelopes WHERE organization_number = 1 AND seq <= ? ORDER BY seq DESC LIMIT ?',
    )
    .pluck();
  return async ({ seq }) => statement.all(seq, pageEvents).map(unpackEnvelope);
}

/** Selects by instant, which determines the order and partitions of the table. */
async function connect(address: string): Promise<ReadPage> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const text = `SELECT envelope FROM events WHERE organization_number = 1 AND created_at <= $1
    ORDER BY created_at DESC, id DESC LIMIT $2`;
  return async ({ toMs }) => {
    const values = [toMs, pageEvents];
    const { rows } = await client.query<[string]>({ name: 'page', text, values, rowMode: 'array' });
    return rows.map(([envelope]) => envelope);
  };
}

const server = createServer((request, response) => {
  const [, seq, toMs] = placePattern.exec(request.url ?? '') ?? [];
  readPage({ seq: Number(seq), toMs: Number(toMs) }).then(
    (envelopes) => answer(envelopes, response),
    (error) => response.writeHead(500).end(String(error)),
  );
});

function answer(envelopes: readonly string[], response: ServerResponse): void {
  const body = Buffer.from(`{"data":[${envelopes.join(',')}]}`);
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

server.listen(0, '127.0.0.1', () => sayReady(server.address()));
endWithParent();
