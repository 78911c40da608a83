/** A server that speaks TLS for a PostgreSQL without it, and may refuse clients that do not encrypt. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { TLS } from './port.ts';

export type TlsGateway = {
  readonly port: number;
  /** Connections of clients so far, by whether they were encrypted. */
  readonly seen: { readonly encrypted: number; readonly open: number };
  close(): Promise<void>;
};

const REQUEST_BYTES = 8;
const SSL_REQUEST = 80_877_103;

/** Listens on all addresses of this machine. `open` says what happens to a client that does not encrypt. */
export async function startTlsGateway(databaseUrl: string, open: 'served' | 'refused'): Promise<TlsGateway> {
  const target = new URL(databaseUrl);
  const seen = { encrypted: 0, open: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('data', (first: Buffer) => {
      if (first.length === REQUEST_BYTES && first.readUInt32BE(4) === SSL_REQUEST) {
        seen.encrypted += 1;
        socket.write('S');
        join(new TLSSocket(socket, { isServer: true, ...TLS }), EMPTY);
      } else {
        seen.open += 1;
        if (open === 'served') join(socket, first);
        else socket.end(refusal());
      }
    });
  });

  function join(client: Socket, first: Buffer): void {
    const database = connect(Number(target.port), target.hostname);
    sockets.add(database);
    for (const each of [client, database]) each.on('error', () => database.destroy());
    client.on('close', () => database.destroy());
    database.on('close', () => client.destroy());
    database.write(first);
    client.pipe(database).pipe(client);
  }

  await once(server.listen(0), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const EMPTY = Buffer.alloc(0);

/** What PostgreSQL says where its rules admit only encrypted connections. */
function refusal(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C28000\0Mno pg_hba.conf entry, no encryption\0\0');
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
