/** A pooler in transaction mode over one connection: clients get it in turn, for a transaction each. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';

export type TransactionPooler = { readonly url: string; close(): Promise<void> };

type Client = { readonly socket: Socket; isStarted: boolean; waiting: Buffer[] };

const AUTHENTICATED = Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1');
/** An id of the pooler's own, as poolers give to their clients. */
const BACKEND_KEY = Buffer.from('K\0\0\0\x0c\x7f\0\0\x01\0\0\0\x01', 'latin1');
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const HEAD_BYTES = 5;

export async function startTransactionPooler(databaseUrl: string): Promise<TransactionPooler> {
  const database = new pg.Client({ connectionString: databaseUrl });
  database.on('error', () => undefined);
  await database.connect();
  const { stream } = (database as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  stream.removeAllListeners('data');
  const clients = new Set<Client>();
  let owner: Client | null = null;
  let received = Buffer.alloc(0);

  function serveNext(): void {
    if (owner !== null && owner.waiting.length === 0) return;
    owner ??= [...clients].find(({ waiting }) => waiting.length > 0) ?? null;
    for (const bytes of owner?.waiting.splice(0) ?? []) stream.write(bytes);
  }

  stream.on('data', (chunk: Buffer) => {
    owner?.socket.write(chunk);
    received = Buffer.concat([received, chunk]);
    while (received.length >= HEAD_BYTES) {
      const end = 1 + received.readUInt32BE(1);
      if (received.length < end) break;
      const isDone =
        received.subarray(0, 1).toString() === 'Z' && received.subarray(HEAD_BYTES, end).toString() === 'I';
      received = received.subarray(end);
      if (isDone) owner = null;
    }
    serveNext();
  });
  const server = createServer((socket) => {
    const client: Client = { socket, isStarted: false, waiting: [] };
    clients.add(client);
    socket.on('error', () => undefined).on('close', () => clients.delete(client));
    socket.on('data', (chunk: Buffer) => {
      if (client.isStarted) client.waiting.push(chunk);
      else socket.write(Buffer.concat([AUTHENTICATED, BACKEND_KEY, READY]));
      client.isStarted = true;
      serveNext();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const { socket } of clients) socket.destroy();
      stream.destroy();
      await closed;
    },
  };
}
