/**
 * The limit program of deliver-single and deliver-batch: in a loop, reads the next events, signs them twice, posts them
 * over a persistent connection, and updates one row durably. Results of one turn of the event loop share a commit.
 * Usage: node deliver.ts <database file> <port> <connections> <events per request>
 */

import { createHmac, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createResponseReader } from '../load/http-response.ts';
import { openDurable } from './committer.ts';
import { endWithParent, sayReady } from './ready.ts';

const [path, ...numbers] = process.argv.slice(2);
const [port, connections, eventsPerRequest] = numbers.map(Number);
if (path === undefined || !port || !connections || !eventsPerRequest) {
  throw new Error('Usage: node deliver.ts <database file> <port> <connections> <events per request>');
}
const rows = 100_000;
const envelopeBytes = 1_034;
const envelopes = Array.from({ length: 1_000 }, (_, index) => createEnvelope(index));
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const key = Buffer.from(secret.slice('whsec_'.length), 'base64');

const db = openDurable(path);
db.exec('CREATE TABLE item (number INTEGER PRIMARY KEY, status INTEGER NOT NULL, sent_at INTEGER)');
db.exec(
  `WITH RECURSIVE counter (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counter WHERE number < ${rows})
   INSERT INTO item SELECT number, 0, NULL FROM counter`,
);
const begin = db.prepare('BEGIN IMMEDIATE');
const update = db.prepare<[number, number]>('UPDATE item SET status = status + 1, sent_at = ? WHERE number = ?');
const commit = db.prepare('COMMIT');

let finished: number[] = [];
let lastNumber = 0;

function flush(): void {
  const group = finished;
  finished = [];
  begin.run();
  for (const number of group) update.run(Date.now(), number);
  commit.run();
}

function openLine(to: number): void {
  const socket = connect({ port: to, host: '127.0.0.1', noDelay: true });
  let number = 0;
  const sendNext = (): void => {
    lastNumber = (lastNumber % rows) + 1;
    number = lastNumber;
    socket.write(createRequest(number));
  };
  const read = createResponseReader((status) => {
    if (status !== 200) throw new Error(`The receiver answered ${status}.`);
    // setImmediate runs after all readable sockets were read; their results form the group.
    if (finished.push(number) === 1) setImmediate(flush);
    // Sends the next request while the commit runs.
    sendNext();
  });
  socket.on('connect', sendNext);
  socket.on('data', read);
  socket.on('error', () => process.exit(1));
}

function createRequest(number: number): Buffer {
  const texts = Array.from({ length: eventsPerRequest ?? 1 }, (_, index) => {
    return envelopes[(number * (eventsPerRequest ?? 1) + index) % envelopes.length];
  });
  const body = Buffer.from(`{"batch":[${texts.join(',')}]}`);
  const id = `webhookendpoint_0005p2syRelBzOqqEi3ft3bFhpiQC:${String(number).padStart(16, '0')}`;
  const t = Math.floor(Date.now() / 1000);
  const standard = createHmac('sha256', key).update(`${id}.${t}.`).update(body).digest('base64');
  const langwatch = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  const head =
    `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
    `webhook-id: ${id}\r\nwebhook-timestamp: ${t}\r\nwebhook-signature: v1,${standard}\r\n` +
    `X-LangWatch-Signature: t=${t},v1=${langwatch}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  body.copy(bytes, head.length);
  return bytes;
}

/** As long as the product's for a record of this bench. */
function createEnvelope(number: number): string {
  const id = `gw-0123456789ab-${String(number).padStart(10, '0')}`;
  const data = { gateway_request_id: id, filler: '' };
  const envelope = { id: `${id}:completed`, type: 'gateway.request.completed', created: '2026-07-27T14:03:11.482Z' };
  const bare = JSON.stringify({ ...envelope, schema_version: '1', data });
  data.filler = 'x'.repeat(Math.max(0, envelopeBytes - bare.length));
  return JSON.stringify({ ...envelope, schema_version: '1', data });
}

for (let line = 0; line < connections; line += 1) openLine(port);
sayReady(port);
endWithParent();
